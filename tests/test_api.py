"""The front door: graphs and seeds in every form, clear errors for every other, and files that stay true."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea import Alignment, Config, Execution, KnowledgeGraph, Links, align, align_files, read, write
from largeea.api import AlignedFiles
from largeea.config import load
from largeea.errors import InputError, LargeEAWarning, UsageError
from largeea.formats import ReadOptions
from largeea.formats.links import FORMATS, read_links
from largeea.graph import Attributes, Pair, Task, strings
from largeea.similarity import Similarity

TOWNS = ["Berlin", "Paris", "Tokyo", "Lima", "Cairo", "Oslo", "Quito", "Hanoi"]
SEEDS = [("urn:a:Berlin", "urn:b:Berlin"), ("urn:a:Paris", "urn:b:Paris")]


def ring(side: str, towns: list[str]) -> str:
    pairs = zip(towns, towns[1:] + towns[:1], strict=True)
    return "".join(f"<urn:{side}:{one}> <urn:{side}:next> <urn:{side}:{two}> .\n" for one, two in pairs)


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the working directory: `a.nt`, `b.nt`, and `seeds.tsv`."""
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        Path(f"{side}.nt").write_text(ring(side, TOWNS))
    Path("seeds.tsv").write_text("".join(f"{one}\t{two}\n" for one, two in SEEDS))


def graph(path: str) -> KnowledgeGraph:
    found = read(Path(path))
    assert isinstance(found, KnowledgeGraph)
    return found


def same(one: Alignment, other: Alignment) -> bool:
    return bool(one.to_table().equals(other.to_table()))


def pairs_in(path: str) -> set[tuple[str, str]]:
    table = read_links(Path(path))
    return set(zip(table.source.to_pylist(), table.target.to_pylist(), strict=True))


# Graphs


def test_graphs_in_every_form() -> None:
    expected = align(graph("a.nt"), graph("b.nt"))
    assert expected.summary["accepted"] == len(TOWNS)
    for source, target in (
        ("a.nt", "b.nt"),
        (Path("a.nt"), Path("b.nt").absolute()),
        (graph("a.nt"), "b.nt"),
        ("a*.nt", "b.nt"),
    ):
        assert same(align(source, target), expected)


@pytest.mark.parametrize(
    ("given", "named"),
    [(3, "int"), (None, "NoneType"), (["a.nt"], "list"), ({"a": 1}, "dict"), (b"a.nt", "bytes")],
)
def test_what_is_no_graph_is_a_type_error(given: Any, named: str) -> None:
    with pytest.raises(TypeError, match=f"^source must be a KnowledgeGraph, a path or a table, not {named}$"):
        align(given, "b.nt")
    with pytest.raises(TypeError, match=f"^target must be a KnowledgeGraph, a path or a table, not {named}$"):
        align("a.nt", given)


def test_a_missing_file_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"none\.nt: no such file or folder"):
        align("none.nt", "b.nt")


# Seeds


def test_seeds_in_every_form() -> None:
    source, target = graph("a.nt"), graph("b.nt")
    ids = [source.find(strings(one for one, _ in SEEDS)), target.find(strings(two for _, two in SEEDS))]
    expected = align(source, target, seeds=Links(np.column_stack(ids)))
    assert expected.confidence[:2].tolist() == [1, 1]
    for seeds in (
        "seeds.tsv",
        Path("seeds.tsv"),
        SEEDS,
        tuple(SEEDS),
        (list(pair) for pair in SEEDS),
        dict(SEEDS).items(),
    ):
        assert same(align(source, target, seeds=seeds), expected)


def test_seeds_are_believed() -> None:
    wrong = align("a.nt", "b.nt", seeds=[("urn:a:Berlin", "urn:b:Paris")])
    found = wrong.to_table().to_pydict()
    assert dict(zip(found["source"], found["target"], strict=True))["urn:a:Berlin"] == "urn:b:Paris"


@pytest.mark.parametrize(
    "seeds",
    [
        3,
        ["urn:a:Berlin"],
        [("urn:a:Berlin",)],
        [(1, 2)],
        [("a", "b", "c")],
        object(),
        [3],
        ["ab"],
        dict(SEEDS),
    ],
)
def test_what_are_no_seeds_is_a_type_error(seeds: Any) -> None:
    with pytest.raises(TypeError, match=r"^seeds must be Links, the path of a link file, or pairs of IRIs$"):
        align("a.nt", "b.nt", seeds=seeds)


def test_seeds_that_name_unknown_entities() -> None:
    unknown = "1 of 3 pairs in seeds are not used, .*the target of urn:a:Lima - urn:b:Rome"
    with pytest.warns(LargeEAWarning, match=unknown):
        answer = align("a.nt", "b.nt", seeds=[*SEEDS, ("urn:a:Lima", "urn:b:Rome")])
    assert same(answer, align("a.nt", "b.nt", seeds=SEEDS))
    with pytest.raises(InputError, match="1 of 1 links name entities that are not there") as error:
        align("a.nt", "b.nt", seeds=[("urn:a:Rome", "urn:b:Lima")])
    assert "seeds, row 1: source urn:a:Rome" in str(error.value)
    with pytest.raises(InputError, match=r"none\.tsv: no such file"):
        align("a.nt", "b.nt", seeds="none.tsv")


@pytest.mark.parametrize("pair", [[0, 8], [8, 0], [-1, 0], [0, -1]])
def test_links_with_foreign_ids_are_refused(pair: list[int]) -> None:
    with pytest.raises(ValueError, match=r"seeds' (source|target) ids run from"):
        align("a.nt", "b.nt", seeds=Links(np.array([pair])))


# Settings


def test_settings_in_every_form() -> None:
    expected = align("a.nt", "b.nt", config=load(settings=("names.top_k=3", "seed=4")))
    assert same(align("a.nt", "b.nt", config={"names": {"top_k": 3}, "seed": 4}), expected)
    assert same(align("a.nt", "b.nt", config="default"), align("a.nt", "b.nt", config=Config()))
    for execution in (Execution(threads=1, device="cpu"), {"threads": 1, "memory": "9GB"}, None):
        assert same(align("a.nt", "b.nt", execution=execution), align("a.nt", "b.nt"))


def test_wrong_settings() -> None:
    with pytest.raises(UsageError, match=r"unknown setting 'names.topk'"):
        align("a.nt", "b.nt", config={"names": {"topk": 3}})
    with pytest.raises(UsageError, match="unknown preset 'best'"):
        align("a.nt", "b.nt", config="best")
    with pytest.raises(TypeError, match="config must be a Config, a dict or the name of a preset, not int"):
        align("a.nt", "b.nt", config=3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="unknown execution setting 'cores'"):
        align("a.nt", "b.nt", execution={"cores": 3})
    with pytest.raises(TypeError, match="execution must be an Execution or a dict, not str"):
        align("a.nt", "b.nt", execution="fast")  # type: ignore[arg-type]


# What comes back


def test_everything_public_is_short_when_printed() -> None:
    source, target = graph("a.nt"), graph("b.nt")
    alignment = align(source, target)
    links = alignment.links
    matrix = Similarity.from_entries([0], [1], [0.5], (8, 8))
    done = align_files("a.nt", "b.nt", "run")
    pair, task = Pair(source, target, links), Task(source, target, links)
    for shown in (source, source.attributes, links, alignment, matrix, done, pair, task, Attributes.none()):
        assert len(repr(shown)) < 500, repr(shown)
        assert "\n" not in repr(shown)
        assert type(shown).__name__ in repr(shown)
    assert repr(source) == "KnowledgeGraph(8 entities, 1 relations, 8 triples, 0 literals)"
    assert repr(links) == "Links(8 pairs)"
    assert repr(matrix) == "Similarity(8 x 8, 1 scores)"


def test_every_entity_has_an_answer() -> None:
    Path("a.nt").write_text(ring("a", [*TOWNS, "Atlantis"]) + "_:blank <urn:a:next> <urn:a:Lima> .\n")
    alignment = align("a.nt", "b.nt")
    linked = alignment.source.entities.take(alignment.links.source).to_pylist()
    answered = [*linked, *alignment.unmatched_source.to_pylist()]
    assert sorted(answered) == sorted(f"urn:a:{name}" for name in [*TOWNS, "Atlantis"])
    assert len(set(answered)) == len(answered)
    assert alignment.unmatched_source.to_pylist() == ["urn:a:Atlantis"]


def test_warnings_reach_python_users() -> None:
    with pytest.warns(LargeEAWarning, match="1 seeds are left out: they contradict other seeds"):
        align("a.nt", "b.nt", seeds=[*SEEDS, ("urn:a:Berlin", "urn:b:Lima")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        align("a.nt", "b.nt", seeds=SEEDS)


# With a folder


def test_a_folder_keeps_the_stages(tmp_path: Path) -> None:
    first = align("a.nt", "b.nt", folder="run")
    stages = {path: path.stat().st_mtime_ns for path in Path("run/stages").iterdir()}
    assert same(align(graph("a.nt"), graph("b.nt"), folder=Path("run")), first)
    assert {path: path.stat().st_mtime_ns for path in Path("run/stages").iterdir()} == stages
    assert json.loads(Path("run/manifest.json").read_text())["answer"]["stages"][0] == "source"


def test_a_folder_with_a_run_on_other_graphs_is_refused() -> None:
    align("a.nt", "b.nt", folder="run")
    kept = Path("run/manifest.json").read_bytes()
    Path("c.nt").write_text(ring("c", TOWNS))
    with pytest.raises(
        UsageError, match=r"the folder run holds a run on other graphs \(.* and .*\); give another"
    ):
        align("a.nt", "c.nt", folder="run")
    assert Path("run/manifest.json").read_bytes() == kept
    fresh = align("a.nt", "c.nt")
    assert same(align("a.nt", "c.nt", folder="run", overwrite=True), fresh)
    with pytest.raises(UsageError, match="holds a run on other graphs"):
        align("a.nt", "b.nt", folder="run")


def test_files_on_other_graphs_are_refused() -> None:
    align_files("a.nt", "b.nt", "run")
    before = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    Path("c.nt").write_text(ring("c", TOWNS))
    with pytest.raises(UsageError, match=rf"holds a run on other graphs \({Path('a.nt').absolute()} and "):
        align_files("a.nt", "c.nt", "run")
    assert {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()} == before
    align_files("a.nt", "c.nt", "run", overwrite=True)
    assert pairs_in("run/alignment.sssom.tsv") == {(f"urn:a:{town}", f"urn:c:{town}") for town in TOWNS}


def test_the_same_files_under_another_name_of_their_place() -> None:
    align_files("a.nt", "b.nt", "run")
    Path("below").mkdir()
    os.chdir("below")
    align_files("../a.nt", "../b.nt", "../run")
    align_files(Path("../a.nt").absolute(), Path("..") / "below" / ".." / "b.nt", "../run")


# Files


def test_align_files() -> None:
    done = align_files("a.nt", Path("b.nt"), "run", seeds="seeds.tsv", formats=["tsv", "same-as"])
    assert isinstance(done, AlignedFiles)
    assert (done.folder, done.files) == (
        Path("run"),
        ("alignment.tsv", "alignment.nt", "doubtful.tsv", "unmatched.tsv", "report.html"),
    )
    assert done.summary == done.alignment.summary
    assert same(done.alignment, align("a.nt", "b.nt", seeds="seeds.tsv"))
    assert pairs_in("run/alignment.tsv") == pairs_in("run/alignment.nt")
    assert len(pairs_in("run/alignment.tsv")) == done.summary["accepted"] == len(TOWNS)
    assert all(Path("run", name).is_file() for name in done.files)


def test_align_files_of_a_pair_folder() -> None:
    Path("pair").mkdir()
    for number, side in ((1, "a"), (2, "b")):
        rows = ring(side, TOWNS).replace("> <", "\t").replace("<", "").replace("> .", "")
        Path(f"pair/rel_triples_{number}").write_text(rows)
    Path("pair/ent_links").write_text("urn:a:Berlin\turn:b:Oslo\n")
    done = align_files("pair", output="run")
    assert ("urn:a:Berlin", "urn:b:Berlin") in pairs_in("run/alignment.sssom.tsv"), (
        "its links are for evaluation"
    )
    assert done.summary["accepted"] == len(TOWNS)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            ("a.nt", "b.nt"),
            UsageError,
            "align_files needs an output folder; to align without files, use align",
        ),
        (("a.nt", None, "run"), UsageError, "a.nt is one graph; give the other one too"),
        (("none.nt", None, "run"), InputError, r"none\.nt: no such file"),
        (("none.nt", "b.nt", "run"), InputError, r"none\.nt: no such file"),
    ],
)
def test_what_align_files_cannot_do(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        align_files(*arguments)
    assert not Path("run").exists()


def test_wrong_options_of_align_files() -> None:
    with pytest.raises(UsageError, match="unknown format of links 'word'; known are "):
        align_files("a.nt", "b.nt", "run", formats=["word"])
    with pytest.raises(InputError, match=r"none\.tsv: no such file"):
        align_files("a.nt", "b.nt", "run", seeds="none.tsv")
    Path("a.nt").write_text(ring("a", TOWNS) + "rubbish\n")
    with pytest.raises(InputError, match=r"a\.nt:9: "):
        align_files("a.nt", "b.nt", "run", reading=ReadOptions(max_errors=0))
    for max_errors in (1, None):
        with pytest.warns(LargeEAWarning, match=r"1 malformed line.* left out .* listed in run/rejects\.tsv"):
            done = align_files("a.nt", "b.nt", "run", reading=ReadOptions(max_errors=max_errors))
        assert "rejects.tsv" in done.files


def test_formats_written_before_are_rewritten_with_a_new_answer() -> None:
    """Never left with an old answer, never removed."""
    align_files("a.nt", "b.nt", "run", formats=list(FORMATS))
    for town in ("Rome", "Baku"):
        for side in "ab":
            Path(f"{side}.nt").write_text(Path(f"{side}.nt").read_text() + ring(side, [town, "Lima"]))
        done = align_files("a.nt", "b.nt", "run", formats=["tsv"])
        assert set(done.files) == {
            *(format.file_name for format in FORMATS.values()),
            "doubtful.tsv",
            "unmatched.tsv",
            "report.html",
        }
        for format in FORMATS.values():
            assert (f"urn:a:{town}", f"urn:b:{town}") in pairs_in(f"run/{format.file_name}")
        assert done.files[0] == "alignment.tsv", "what was asked for comes first"


def test_one_more_format_of_the_same_answer() -> None:
    align_files("a.nt", "b.nt", "run", formats=["tsv"])
    before = Path("run/alignment.tsv").read_bytes()
    align_files("a.nt", "b.nt", "run", formats=["sssom"])
    assert Path("run/alignment.tsv").read_bytes() == before
    results = json.loads(Path("run/manifest.json").read_text())["results"]
    assert sorted(results) == ["alignment.sssom.tsv", "alignment.tsv", "doubtful.tsv", "unmatched.tsv"]


def test_a_file_of_the_user_stays() -> None:
    align_files("a.nt", "b.nt", "run", formats=["tsv"])
    Path("run/notes.txt").write_text("mine")
    Path("a.nt").write_text(ring("a", [*TOWNS, "Rome"]))
    align_files("a.nt", "b.nt", "run")
    assert Path("run/notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("links.sssom.tsv", b"#"),
        ("links.tsv", b"source\t"),
        ("links.nt", b"<urn"),
        ("links.parquet", b"PAR1"),
    ],
)
def test_an_alignment_is_written_in_the_format_that_its_name_tells(
    tmp_path: Path, name: str, start: bytes
) -> None:
    alignment = align("a.nt", "b.nt")
    write(alignment, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    write(alignment, tmp_path / "no_suffix", format="tsv")
    assert (tmp_path / "no_suffix").read_bytes().startswith(b"source\t")
    with pytest.raises(UsageError, match="has no known ending; use one of"):
        write(alignment, tmp_path / "links.doc")


# What is matched

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
OWL = "http://www.w3.org/2002/07/owl#"


def ontology(side: str, words: list[str]) -> str:
    """Classes in a chain, with a property, in a namespace of each side; `urn:top` is in both."""
    lines = [f"<urn:{side}:part> {TYPE} <{OWL}ObjectProperty> .", f'<urn:{side}:part> {LABEL} "part of" .']
    for above, word in zip(["urn:top", *(f"urn:{side}:{word}" for word in words)], words, strict=False):
        lines.append(f"<urn:{side}:{word}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{above}> .")
        lines.append(f'<urn:{side}:{word}> {LABEL} "{word}" .')
        lines.append(f"<urn:{side}:{word}> <urn:{side}:part> <urn:{side}:{words[0]}> .")
    return "\n".join([*lines, f'<urn:top> {LABEL} "top" .']) + "\n"


@pytest.fixture
def ontologies() -> None:
    words = ["lip", "nose", "ear", "chin", "cheek"]
    Path("a.nt").write_text(ontology("a", words))
    Path("b.nt").write_text(ontology("b", [*words, "forehead"]))


@pytest.mark.usefixtures("ontologies")
def test_vocabulary_is_not_linked_and_equal_iris_are_told_apart() -> None:
    done = align_files("a.nt", "b.nt", "run", formats=["tsv"])
    linked = {word for pair in pairs_in("run/alignment.tsv") for word in pair}
    assert linked
    assert all(iri.startswith(("urn:a:", "urn:b:")) for iri in linked)
    assert "urn:a:part" not in linked
    assert done.summary["same_iri"] == 1
    assert Path("run/same_iri.tsv").read_text() == "entity\tname\nurn:top\ttop\n"
    assert "same_iri.tsv" in done.files
    unmatched = Path("run/unmatched.tsv").read_text()
    assert "urn:top" not in unmatched
    assert "urn:b:part" not in unmatched
    again = align_files("a.nt", "b.nt", "run", reading=ReadOptions(same_iri=False))
    assert again.summary["same_iri"] == 0
    assert not Path("run/same_iri.tsv").exists()


@pytest.mark.usefixtures("ontologies")
def test_what_is_matched_can_be_chosen() -> None:
    properties = align("a.nt", "b.nt", match="properties")
    assert properties.source.entities.filter(properties.source.linkable).to_pylist() == ["urn:a:part"]
    everything = align("a.nt", "b.nt", match="all", same_iri=False)
    names = {"urn:top", "urn:a:part", *(f"urn:a:{word}" for word in ("lip", "nose", "ear", "chin", "cheek"))}
    assert set(everything.source.entities.filter(everything.source.linkable).to_pylist()) == names
    assert not len(everything.same)
    with pytest.raises(UsageError, match="match is 'individuals', but the source graph has none of them"):
        align("a.nt", "b.nt", match="individuals")


@pytest.mark.usefixtures("ontologies")
def test_equal_iris_are_anchors_but_no_seeds() -> None:
    """Without names, the one entity that both graphs share is where evidence begins."""
    alignment = align("a.nt", "b.nt", config={"without": ["names"]})
    assert alignment.same.pairs.tolist() == [
        [alignment.source.find(strings(["urn:top"]))[0], alignment.target.find(strings(["urn:top"]))[0]]
    ]
    assert len(alignment.pairs)
