"""Known links, wrong links and reviews: what people say about pairs counts, and only that is done again."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea import Alignment, Links, align, align_files
from largeea.api import carry_out
from largeea.cli import run
from largeea.errors import InputError, LargeEAWarning
from largeea.execution import Execution
from largeea.finished import FinishedRun
from largeea.formats.links import read_links
from largeea.reviews import Decision, ReviewLog
from largeea.runs.folder import read_manifest
from largeea.runs.request import read_request

TOWNS = ["Berlin", "Paris", "Tokyo", "Lima", "Cairo", "Oslo", "Quito", "Hanoi", "Dakar", "Sofia", "Riga"]
SSSOM = "subject_id\tpredicate_id\tpredicate_modifier\tobject_id\n"
LARGEEA = {"preset": {"without": ("evidence",)}, "evidence": {}}


def label(side: str, entity: str, name: str) -> str:
    return f'<http://{side}/{entity}> <http://www.w3.org/2000/01/rdf-schema#label> "{name}" .\n'


def ring(side: str, towns: list[str]) -> str:
    pairs = zip(towns, towns[1:] + towns[:1], strict=True)
    triples = "".join(
        f"<http://{side}/{one}> <http://{side}/next> <http://{side}/{two}> .\n" for one, two in pairs
    )
    return triples + "".join(label(side, town, town) for town in towns)


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the working directory: two rings of towns, and two villages that have each other's name.

    The villages have the names of wrong counterparts: `X` is called Springfield in `a.nt` and Shelbyville in
    `b.nt`, `Y` the other way round. `X` is next to Berlin and Paris, `Y` next to Quito and Hanoi.
    """
    monkeypatch.chdir(tmp_path)
    for side, names in (("a", ("Springfield", "Shelbyville")), ("b", ("Shelbyville", "Springfield"))):
        text = ring(side, TOWNS)
        for village, name, near in zip("XY", names, (("Berlin", "Paris"), ("Quito", "Hanoi")), strict=True):
            text += label(side, village, name)
            text += "".join(
                f"<http://{side}/{village}> <http://{side}/near> <http://{side}/{t}> .\n" for t in near
            )
        Path(f"{side}.nt").write_text(text)


def pair(source: str, target: str | None = None) -> tuple[str, str]:
    return f"http://a/{source}", f"http://b/{target or source}"


def links(path: str, *pairs: tuple[str, str]) -> str:
    Path(path).write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    return path


def judged(path: str, right: list[tuple[str, str]], wrong: list[tuple[str, str]]) -> str:
    rows = [(one, "", other) for one, other in right] + [(one, "Not", other) for one, other in wrong]
    text = "".join(f"{one}\towl:sameAs\t{modifier}\t{other}\n" for one, modifier, other in rows)
    Path(path).write_text(SSSOM + text)
    return path


def found(answer: Alignment, accepted_only: bool = False) -> dict[str, str]:
    table = answer.to_table().to_pydict()
    rows = zip(table["source"], table["target"], table["status"], strict=True)
    return {one: other for one, other, status in rows if status == "accepted" or not accepted_only}


WRONG = [pair("X", "Y"), pair("Y", "X")]


@pytest.mark.parametrize("config", LARGEEA.values(), ids=LARGEEA)
def test_ends_of_a_forbidden_pair_get_their_right_counterparts(config: dict[str, Any]) -> None:
    before = found(align("a.nt", "b.nt", config=config))
    assert before["http://a/X"] == "http://b/Y", "names mislead"
    after = found(align("a.nt", "b.nt", forbidden=WRONG, config=config))
    assert all(after.get(one) != other for one, other in WRONG)
    if not config:
        assert after["http://a/X"] == "http://b/X"
        assert after["http://a/Y"] == "http://b/Y"
    assert {one: other for one, other in after.items() if one[-1] not in "XY"} == {
        one: other for one, other in before.items() if one[-1] not in "XY"
    }


def test_forbidden_pairs_are_no_anchors(tmp_path: Path) -> None:
    align_files("a.nt", "b.nt", "run", forbidden=links("wrong.tsv", *WRONG))
    finished = FinishedRun(tmp_path / "run")
    wrong = [
        [finished.source.entities.index(one).as_py(), finished.target.entities.index(other).as_py()]
        for one, other in WRONG
    ]
    anchors = finished.anchors
    assert anchors is not None
    assert len(anchors) > len(TOWNS) - 1
    assert not any(row in wrong for row in anchors.pairs.tolist())
    assert not finished.fused.score_of(Links(np.array(wrong))).any()


def test_forbidden_pairs_in_every_form() -> None:
    expected = align("a.nt", "b.nt", forbidden=WRONG).to_table()
    for forbidden in (
        links("wrong.tsv", *WRONG),
        judged("wrong.sssom.tsv", [], WRONG),
        (list(p) for p in WRONG),
    ):
        assert align("a.nt", "b.nt", forbidden=forbidden).to_table().equals(expected)
    assert align("a.nt", "b.nt", seeds="wrong.sssom.tsv").to_table().equals(expected)


def test_a_known_pair_is_in_the_answer_and_marked() -> None:
    answer = align_files("a.nt", "b.nt", "run", seeds=links("known.tsv", pair("X"), pair("Y")))
    assert found(answer.alignment)["http://a/X"] == "http://b/X"
    assert answer.alignment.given.sum() == 2
    rows = [line.split("\t") for line in Path("run/alignment.sssom.tsv").read_text().splitlines()]
    rows = [row for row in rows if not row[0].startswith("#")]
    place = rows[0].index("mapping_justification")
    by_hand = {row[0].rpartition(":")[2] for row in rows[1:] if row[place] == "semapv:ManualMappingCuration"}
    assert by_hand == {"X", "Y"}
    assert len(rows) - 1 == len(answer.alignment) > 2


def test_several_files_count_together(cli: Any) -> None:
    links("one.tsv", pair("X"))
    links("two.tsv", pair("Y"))
    links("wrong.tsv", pair("Berlin"))
    cli(
        "align",
        "a.nt",
        "b.nt",
        "-o",
        "run",
        "--seeds",
        "one.tsv",
        "--links",
        "two.tsv",
        "--not-links",
        "wrong.tsv",
    )
    table = read_links(Path("run/alignment.sssom.tsv"))
    accepted = dict(zip(table.source.to_pylist(), table.target.to_pylist(), strict=True))
    assert accepted["http://a/X"] == "http://b/X"
    assert accepted["http://a/Y"] == "http://b/Y"
    assert accepted.get("http://a/Berlin") != "http://b/Berlin"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str) -> tuple[str, str]:
        code = run([*words])
        told = capsys.readouterr()
        assert not code, told.err
        return told.out, told.err

    return call


# Equal IRIs


def test_equal_iris_that_are_forbidden_are_matched_with_others() -> None:
    shared = '<http://c/Z> <http://www.w3.org/2000/01/rdf-schema#label> "Zagreb" .\n'
    for side in "ab":
        with Path(f"{side}.nt").open("a") as file:
            file.write(shared)
    assert len(align("a.nt", "b.nt").same) == 1
    answer = align("a.nt", "b.nt", forbidden=[("http://c/Z", "http://c/Z")])
    assert len(answer.same) == 0
    assert found(answer).get("http://c/Z") != "http://c/Z"


# Contradictions


def test_a_pair_that_is_both_known_and_forbidden_is_forbidden() -> None:
    with pytest.warns(LargeEAWarning, match="1 links are forbidden as well; .*: http://a/X - http://b/Y"):
        answer = align("a.nt", "b.nt", seeds=[pair("X", "Y"), pair("Lima")], forbidden=[pair("X", "Y")])
    assert found(answer).get("http://a/X") != "http://b/Y"
    assert answer.given.sum() == 1


def test_a_file_that_contradicts_itself_is_an_error() -> None:
    path = judged("both.sssom.tsv", [pair("X"), pair("Lima")], [pair("X")])
    with pytest.raises(
        InputError, match=r"both\.sssom\.tsv: calls 1 pairs both right and wrong; .*http://a/X"
    ):
        align("a.nt", "b.nt", seeds=path)


def test_a_file_of_wrong_links_must_not_hold_right_ones() -> None:
    path = judged("both.sssom.tsv", [pair("Lima")], [pair("X")])
    with pytest.raises(
        InputError, match="holds 1 links and 1 negated ones; give it as a file of known links"
    ):
        align("a.nt", "b.nt", forbidden=path)


def test_of_two_counterparts_the_more_confident_counts() -> None:
    Path("known.tsv").write_text("http://a/X\thttp://b/Lima\t0.5\nhttp://a/X\thttp://b/X\t0.9\n")
    with pytest.warns(
        LargeEAWarning, match="1 seeds are left out: they contradict other .*: http://a/X - http://b/Lima"
    ):
        answer = align("a.nt", "b.nt", seeds="known.tsv")
    assert found(answer)["http://a/X"] == "http://b/X"


# Entities that are not there


def test_links_to_unknown_entities_are_listed_and_left_out(cli: Any) -> None:
    links("known.tsv", pair("X"), pair("Atlantis", "X"), pair("Y", "Thule"), pair("A", "B"))
    _, err = cli("align", "a.nt", "b.nt", "-o", "run", "--links", "known.tsv")
    assert "3 of 4 pairs in known.tsv are not used" in " ".join(err.split())
    rows = [line.split("\t") for line in Path("run/unused_links.tsv").read_text().splitlines()]
    assert rows == [
        ["source", "target", "verdict", "place", "missing"],
        ["http://a/Atlantis", "http://b/X", "right", "known.tsv:2", "source"],
        ["http://a/Y", "http://b/Thule", "right", "known.tsv:3", "target"],
        ["http://a/A", "http://b/B", "right", "known.tsv:4", "source and target"],
    ]
    assert json.loads(cli("verify", "run", "--json")[0])
    links("known.tsv", pair("X"))
    cli("align", "a.nt", "b.nt", "-o", "run", "--links", "known.tsv")
    assert not Path("run/unused_links.tsv").exists(), "nothing is unused any more"


@pytest.mark.parametrize("kind", ["seeds", "forbidden"])
def test_it_is_an_error_if_no_link_can_be_used(kind: str) -> None:
    path = links("links.tsv", pair("Atlantis"), ("http://b/X", "http://a/X"))
    with pytest.raises(InputError, match=r"links\.tsv:1: 2 of 2 links name entities that are not there"):
        align("a.nt", "b.nt", **{kind: path})


# What is done again


def computed(folder: str, work: Any) -> set[str]:
    """The stages whose results differ in key after the work."""
    before = {name: record["key"] for name, record in read_manifest(Path(folder))["stages"].items()}
    work()
    after = read_manifest(Path(folder))["stages"]
    return {name for name, record in after.items() if before.get(name) != record["key"]}


def test_names_are_not_compared_again() -> None:
    align_files("a.nt", "b.nt", "run")
    wrong = links("wrong.tsv", *WRONG)
    changed = computed("run", lambda: align_files("a.nt", "b.nt", "run", forbidden=wrong))
    assert {"given-pairs", "given-forbidden", "seeds", "fused", "alignment"} <= changed
    names = {
        "source",
        "target",
        "name-rows",
        "ngrams",
        "semantic",
        "strings",
        "names",
        "equal-names",
        "edges",
    }
    assert not changed & names
    assert not changed & {"given-seeds", "by-values", "attribute-values"}


def test_an_empty_file_of_reviews_changes_nothing() -> None:
    align_files("a.nt", "b.nt", "run", formats=["tsv"])
    before = Path("run/alignment.tsv").read_bytes()
    request, config = read_request(Path("run"))

    def resumed() -> None:
        carry_out(replace(request, with_reviews=True), config, Execution(), Path("run"))

    assert computed("run", resumed) == set(), "there is none"
    review("unsure", pair("X"))
    assert computed("run", resumed) == {"given-pairs"}, "it is empty of decisions that count"
    assert Path("run/alignment.tsv").read_bytes() == before


# Reviews


def review(kind: str, *pairs: tuple[str, str]) -> None:
    log = ReviewLog(Path("run"), lambda: ["http://a/", "http://b/"])
    log.append([Decision(*one, kind, "ada") for one in pairs])


def test_reviews_count_from_then_on(cli: Any) -> None:
    cli("align", "a.nt", "b.nt", "-o", "run", "--write", "tsv")
    names = read_manifest(Path("run"))["stages"]["names"]["key"]
    before = Path("run/alignment.tsv").read_bytes()
    review("different", *WRONG)
    review("same", pair("X"))
    _, err = cli("resume", "run")
    assert "reviews.tsv does not count; to count it: largeea resume run --with-reviews" in " ".join(
        err.split()
    )
    assert Path("run/alignment.tsv").read_bytes() == before
    cli("resume", "run", "--with-reviews")
    assert "likelihood" in FinishedRun(Path("run")).stages
    assert accepted_in("run/alignment.tsv")["http://a/X"] == "http://b/X"
    after = Path("run/alignment.tsv").read_bytes()
    stages = read_manifest(Path("run"))["stages"]
    assert stages["names"]["key"] == names
    cli("resume", "run")
    assert Path("run/alignment.tsv").read_bytes() == after, "the run remembers that reviews count"
    assert read_manifest(Path("run"))["stages"] == stages, "nothing is done again"
    review("different", pair("Berlin"))
    cli("resume", "run")
    assert accepted_in("run/alignment.tsv").get("http://a/Berlin") != "http://b/Berlin"


def test_a_review_counts_more_than_a_file(cli: Any) -> None:
    links("known.tsv", pair("X", "Y"), pair("Lima"))
    links("wrong.tsv", pair("X"))
    cli(
        "align",
        "a.nt",
        "b.nt",
        "-o",
        "run",
        "--links",
        "known.tsv",
        "--not-links",
        "wrong.tsv",
        "--write",
        "tsv",
    )
    review("same", pair("X"))
    review("different", pair("X", "Y"), pair("Atlantis"))
    _, err = cli("resume", "run", "--with-reviews")
    told = " ".join(err.split())
    assert "1 forbidden pairs were confirmed by a review, which counts: http://a/X - http://b/X" in told
    assert "1 links were rejected by a review, which counts: http://a/X - http://b/Y" in told
    assert accepted_in("run/alignment.tsv")["http://a/X"] == "http://b/X"
    assert "http://a/Atlantis\thttp://b/Atlantis\twrong" in Path("run/unused_links.tsv").read_text()


def accepted_in(path: str) -> dict[str, str]:
    table = read_links(Path(path))
    return dict(zip(table.source.to_pylist(), table.target.to_pylist(), strict=True))


SAME_AS = "<http://www.w3.org/2002/07/owl#sameAs>"


def state(*pairs: tuple[str, str]) -> None:
    """Let `a.nt` itself say that these are the same."""
    with Path("a.nt").open("a") as file:
        file.writelines(f"<{one}> {SAME_AS} <{other}> .\n" for one, other in pairs)


def test_links_that_a_graph_states_are_given() -> None:
    """Before, what the other graph pointed to was taken for an entity of its own, and had no counterpart."""
    state(pair("X"), pair("Y"), pair("Lima"))
    answer = align("a.nt", "b.nt")
    assert found(answer) == dict(map(pair, [*TOWNS, "X", "Y"]))
    assert answer.summary["same_iri"] == 0


def test_what_people_say_counts_more_than_what_a_graph_states() -> None:
    state(pair("X"), pair("Lima", "Cairo"))
    after = found(align("a.nt", "b.nt", seeds=[pair("Lima")], forbidden=[pair("X")]))
    assert after["http://a/Lima"] == "http://b/Lima"
    assert after.get("http://a/X") != "http://b/X"


def test_what_reviews_teach_decides_about_other_pairs() -> None:
    """Muscles may be named in another language; veins are no arteries.

    Where nothing but reviews was known, confirmed pairs had no names in the trial, and taught nothing.
    """
    syllables = [one + other for one in "bdkt" for other in "aiu"]
    every = ["".join(some) for some in product(syllables, repeat=3)]
    organs = np.random.default_rng(0).permutation(every)[:330].tolist()
    veins, muscles, others = organs[:40], organs[40:80], organs[80:230]
    for side, kinds, lonely in (
        ("a", ("{} vein", "{} muscle"), organs[230:280]),
        ("b", ("{} artery", "musculus {}"), organs[280:]),
    ):
        named = [
            kind.format(organ) for kind, some in zip(kinds, (veins, muscles), strict=True) for organ in some
        ]
        entities = enumerate([*named, *others, *lonely])
        Path(f"{side}.nt").write_text("".join(label(side, str(number), name) for number, name in entities))
    said = ["Not"] * 40 + [""] * 40
    rows = [f"http://a/{n}\towl:sameAs\t{word}\thttp://b/{n}\n" for n, word in enumerate(said)]
    Path("reviews.tsv").write_text(SSSOM + "".join(rows[20:60]))
    before = align_files("a.nt", "b.nt", "before").alignment
    after = align_files("a.nt", "b.nt", "after", seeds="reviews.tsv").alignment
    assert odds(after, range(20)).max() < odds(before, range(20)).min() / 5, "veins"
    assert odds(after, range(60, 80)).min() > 5 * odds(after, range(20)).max(), "muscles"
    run = FinishedRun(Path("after"))
    assert "matched-again" in run.stages
    assert Links(after.pairs[after.accepted & ~after.given]).are_in(run.fused.mutual_best()).all()


def odds(found: Alignment, numbers: range) -> np.ndarray:
    """The odds of the pairs of entities with equal numbers."""
    chance = {iris: float(found.confidence[row]) for row, iris in enumerate(iris_of(found))}
    some = np.array([chance.get(pair(str(number)), 0.0) for number in numbers])
    return some / (1 - some + 1e-9)


def iris_of(found: Alignment) -> list[tuple[str, str]]:
    columns = found.source.entities.take(found.pairs[:, 0]), found.target.entities.take(found.pairs[:, 1])
    return list(zip(*(column.to_pylist() for column in columns), strict=True))
