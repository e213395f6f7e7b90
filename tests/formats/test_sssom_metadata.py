"""What an SSSOM file says besides the pairs: sources, versions, dates, licence, reviewers, justifications."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sssom_pydantic

from largeea import align_files, read_links, write
from largeea.api import carry_out
from largeea.errors import InputError, UsageError
from largeea.execution import Execution
from largeea.formats import read_graph
from largeea.formats.links import About, day_of, license_iri, write_alignment
from largeea.formats.links.about import Origin, origin_of
from largeea.graph import KnowledgeGraph, strings
from largeea.matching.alignment import Alignment
from largeea.reviews import Decision, ReviewLog
from largeea.runs.request import read_request

CC_BY = "https://creativecommons.org/licenses/by/4.0/"
ONTOLOGY = """@prefix {side}: <http://{side}.org/onto#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://{side}.org/onto> a owl:Ontology {version}.
"""


def alignment(
    evidence: dict[str, list[float]], given: list[bool] | None = None, doubtful: int = 0
) -> Alignment:
    count = len(next(iter(evidence.values()))) if evidence else 1
    graphs = [
        KnowledgeGraph(
            strings([f"http://{side}/{n}" for n in range(count)]),
            strings(["x"] * count),
            strings(),
            np.empty((0, 3)),
        )
        for side in "ab"
    ]
    return Alignment(
        *graphs,
        np.column_stack([np.arange(count)] * 2),
        np.linspace(1, 0.5, count),
        np.arange(count) < count - doubtful,
        {kind: np.array(column) for kind, column in evidence.items()},
        given=None if given is None else np.array(given),  # type: ignore[arg-type]
    )


def parsed(text: bytes) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The metadata, without the prefixes, and the rows."""
    lines = text.decode().splitlines(keepends=True)
    head = [line[1:].strip() for line in lines if line.startswith("#") and not line.startswith("#  ")]
    metadata = {key: json.loads(value) for key, _, value in (line.partition(": ") for line in head[1:])}
    body = "".join(line for line in lines if not line.startswith("#"))
    return metadata, list(csv.DictReader(io.StringIO(body, newline=""), delimiter="\t"))


def written(found: Alignment, about: About) -> tuple[dict[str, str], list[dict[str, str]]]:
    file = io.BytesIO()
    write_alignment(found, file, "sssom", about=about)
    return parsed(file.getvalue())


def test_the_justification_of_each_pair_says_what_it_was_found_by() -> None:
    found = alignment(
        {
            "name": [0.9, 0.0, 0.5, 0.0, 0.0, 0.9],
            "neighbours": [0.0, 0.4, 0.5, 0.0, 0.0, 0.0],
            "literals": [0.0, 0.0, 0.0, 0.3, 0.0, 0.0],
        },
        given=[False] * 5 + [True],
    )
    reasons = [row["mapping_justification"] for row in written(found, About())[1]]
    assert reasons == [
        *("semapv:LexicalMatching", "semapv:StructuralMatching", "semapv:CompositeMatching"),
        *("semapv:LexicalMatching", "semapv:UnspecifiedMatching", "semapv:ManualMappingCuration"),
    ]


def test_confirmed_pairs_name_their_reviewers(tmp_path: Path) -> None:
    found = alignment({"name": [1.0, 1.0, 1.0]}, given=[True, True, False])
    orcid = "orcid:0000-0002-1825-0097"
    about = About(
        reviewers={("http://a/0", "http://b/0"): ("Ada", orcid, "Emmy"), ("http://a/9", "http://b/9"): ("X",)}
    )
    rows = written(found, about)[1]
    assert [row["mapping_justification"].removeprefix("semapv:") for row in rows] == [
        *("MappingReview", "ManualMappingCuration", "LexicalMatching")
    ]
    assert [row["reviewer_id"] for row in rows] == [orcid, "", ""]
    assert [row["reviewer_label"] for row in rows] == ["Ada|Emmy", "", ""]
    place = tmp_path / "links.sssom.tsv"
    write_alignment(found, place, about=about)
    mappings, _, _, errors = sssom_pydantic.read(place, return_errors=True)
    assert errors == []
    assert [str(one.curie) for one in mappings[0].reviewers or ()] == [orcid]


def test_date_licence_and_version() -> None:
    found = alignment({"name": [1.0, 1.0]})
    metadata, _ = written(found, About(date="2024-02-29", license=CC_BY))
    assert (metadata["mapping_date"], metadata["license"]) == ("2024-02-29", CC_BY)
    plain, _ = written(found, About())
    assert "mapping_date" not in plain
    assert plain["license"].endswith("unspecified")
    assert plain["mapping_set_version"] == metadata["mapping_set_version"]
    other, _ = written(replace(found, confidence=np.array([1.0, 0.25])), About())
    assert other["mapping_set_id"] == plain["mapping_set_id"]
    assert other["mapping_set_version"] != plain["mapping_set_version"]


def test_doubtful_pairs_on_request_are_no_links(tmp_path: Path) -> None:
    found, place = alignment({"name": [1.0, 1.0, 1.0]}, doubtful=2), tmp_path / "links.sssom.tsv"
    write(found, place, with_doubtful=True)
    _, rows = parsed(place.read_bytes())
    assert [row["predicate_id"] for row in rows] == ["owl:sameAs", "rdfs:seeAlso", "rdfs:seeAlso"]
    assert len(read_links(place)) == 1
    assert len(written(found, About())[1]) == 1


def test_dates_and_licences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert day_of(None) is None
    assert day_of(None, "2024-05-06T07:08:09+00:00") == "2024-05-06"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert day_of(None, "2024-05-06T07:08:09+00:00") == "1970-01-02"
    assert day_of("2020-01-01", "2024-05-06T07:08:09+00:00") == "2020-01-01"
    for wrong in ("2020-13-01", "yesterday"):
        with pytest.raises(UsageError, match="is not a day; give it as YYYY-MM-DD"):
            day_of(wrong)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH is 'soon'"):
        day_of(None)
    assert license_iri(CC_BY) == CC_BY
    for wrong in ("CC-BY", "http://a b", "by/4.0"):
        with pytest.raises(UsageError, match="is no IRI; give one such as https://creativecommons"):
            license_iri(wrong)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("", None),
        ("; owl:versionIRI <http://a.org/2.0> ; owl:versionInfo 'two' ", "http://a.org/2.0"),
        ("; owl:versionInfo '2.0' ", "2.0"),
    ],
)
def test_the_ontology_of_a_graph_and_its_version(tmp_path: Path, version: str, expected: str | None) -> None:
    place = tmp_path / "a.ttl"
    place.write_text(ONTOLOGY.format(side="a", version=version) + "a:1 a owl:Class ; rdfs:label 'one' .")
    assert origin_of(read_graph(place)) == Origin("http://a.org/onto", expected)
    place.write_text(place.read_text() + "<http://a.org/more> a owl:Ontology .")
    assert origin_of(read_graph(place)) is None


@pytest.fixture
def ontologies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    for side, version in (("a", "; owl:versionInfo '2.0' "), ("b", "")):
        text = ONTOLOGY.format(side=side, version=version)
        names = ["artery", "vein", "bone", "muscle", "nerve", "skin", "lung", "liver", "kidney", "heart"]
        text += "".join(f"{side}:{n} a owl:Class ; rdfs:label '{name}' .\n" for n, name in enumerate(names))
        Path(f"{side}.ttl").write_text(text)


def metadata_of(folder: str) -> dict[str, str]:
    return parsed(Path(folder, "alignment.sssom.tsv").read_bytes())[0]


def test_a_run_dates_its_links_by_its_manifest(ontologies: None) -> None:
    align_files("a.ttl", "b.ttl", "run", license=CC_BY, formats=["sssom", "tsv"])
    manifest = json.loads(Path("run/manifest.json").read_text())
    metadata = metadata_of("run")
    assert metadata["mapping_date"] == manifest["stages"]["alignment"]["finished"][:10]
    assert metadata["license"] == CC_BY
    assert metadata["object_source"].endswith(":onto")
    assert metadata["subject_source_version"] == "2.0"
    assert "object_source_version" not in metadata
    _, _, mapping_set, errors = sssom_pydantic.read("run/alignment.sssom.tsv", return_errors=True)
    assert errors == []
    assert str(mapping_set.license) == CC_BY


def test_the_same_day_gives_the_same_bytes(ontologies: None, monkeypatch: pytest.MonkeyPatch) -> None:
    align_files("a.ttl", "b.ttl", "one", date="2024-01-01")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1704067200")
    align_files("a.ttl", "b.ttl", "two", execution={"threads": 1})
    first, second = (Path(name, "alignment.sssom.tsv").read_bytes() for name in ("one", "two"))
    assert first == second
    request, config = read_request(Path("one"))
    carry_out(request, config, Execution(), Path("one"))
    assert Path("one/alignment.sssom.tsv").read_bytes() == first


def test_reviews_that_count_are_in_the_file(ontologies: None) -> None:
    answer: Any = align_files("a.ttl", "b.ttl", "run")
    row = answer.alignment.to_table().to_pylist()[0]
    ReviewLog(Path("run")).append([Decision(row["source"], row["target"], "same", "Ada")])
    request, config = read_request(Path("run"))
    carry_out(replace(request, with_reviews=True), config, Execution(), Path("run"))
    _, rows = parsed(Path("run/alignment.sssom.tsv").read_bytes())
    reviewed = [one for one in rows if one["reviewer_label"]]
    assert [(one["reviewer_label"], one["mapping_justification"]) for one in reviewed] == [
        ("Ada", "semapv:MappingReview")
    ]


def test_what_is_refused_before_anything_is_read(ontologies: None) -> None:
    for wrong in ({"license": "CC-BY"}, {"date": "today"}):
        with pytest.raises(UsageError):
            align_files("a.ttl", "missing.ttl", "run", **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        align_files("a.ttl", "missing.ttl", "run")
