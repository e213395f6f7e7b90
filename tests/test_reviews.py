"""The log of decisions: what counts, what survives, and that nobody overwrites anybody."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from largeea.errors import InputError, LargeEAWarning, ResourceError, UsageError
from largeea.formats.links import sssom
from largeea.reviews import FILE, Conflict, Decision, ReviewLog, read_reviews

A, B, C = ("http://s/1", "http://t/1"), ("http://s/2", "http://t/2"), ("http://s/1", "http://t/9")
NAMESPACES = ["http://s/", "http://t/"]


def decision(pair, kind, author="ada", **more) -> Decision:
    return Decision(*pair, kind, author, **more)


@pytest.fixture
def log(tmp_path: Path) -> ReviewLog:
    return ReviewLog(tmp_path, lambda: NAMESPACES)


def test_nobody_has_reviewed_yet(tmp_path: Path) -> None:
    reviews = read_reviews(tmp_path)
    assert (reviews.confirmed, reviews.rejected, reviews.conflicts, reviews.decisions) == ([], [], [], [])
    assert not (tmp_path / FILE).exists()


def test_decisions_are_found_again(log: ReviewLog, tmp_path: Path) -> None:
    log.append([decision(A, "same", source_label="Köln", target_label="Cologne", comment="sure")])
    log.append([decision(B, "different")])
    log.append([decision(C, "unsure")])
    reviews = read_reviews(tmp_path)
    assert (reviews.confirmed, reviews.rejected) == ([A], [B])
    assert reviews.pairs == [A, B, C]
    assert [reviews.verdict(pair) for pair in (A, B, C)] == ["same", "different", "unsure"]
    first = reviews.decisions[0]
    assert (first.source_label, first.target_label, first.comment) == ("Köln", "Cologne", "sure")
    assert first.time.endswith("+00:00")
    assert reviews.decisions == log.reviews.decisions


def test_the_latest_decision_of_an_author_counts(log: ReviewLog) -> None:
    log.append([decision(A, "same")])
    assert log.append([decision(A, "different")]).rejected == [A]
    assert log.reviews.confirmed == []


def test_authors_may_disagree(log: ReviewLog) -> None:
    log.append([decision(A, "same", "ada")])
    log.append([decision(A, "different", "bob")])
    log.append([decision(B, "same", "ada")])
    reviews = log.append([decision(B, "unsure", "bob")])
    assert reviews.conflicts == [Conflict(*A, ("ada",), ("bob",))]
    assert (reviews.confirmed, reviews.rejected) == ([B], [])
    assert log.append([decision(A, "same", "bob")]).conflicts == []


def test_undo_goes_back_step_by_step(log: ReviewLog, tmp_path: Path) -> None:
    log.append([decision(A, "unsure")])
    log.append([decision(A, "same")])
    log.append([decision(C, "same"), decision(A, "different")])
    log.append([decision(B, "same", "bob")])
    assert [one.pair for one in log.undo("ada")] == [C, A]
    assert (log.reviews.verdict(C), log.reviews.verdict(A)) == ("none", "same")
    other = ReviewLog(tmp_path)
    assert [(one.pair, one.kind) for one in other.undo("ada")] == [(A, "unsure")]
    assert [(one.pair, one.kind) for one in other.undo("ada")] == [(A, "none")]
    assert other.undo("ada") == []
    assert read_reviews(tmp_path).confirmed == [B]
    assert log.refresh().pairs == [B]


def test_undo_after_a_new_decision_undoes_that_one(log: ReviewLog) -> None:
    log.append([decision(A, "same")])
    log.undo("ada")
    log.append([decision(B, "same")])
    assert [one.pair for one in log.undo("ada")] == [B]
    assert log.undo("ada") == []


def test_the_state_after_the_first_decisions(log: ReviewLog) -> None:
    log.append([decision(A, "same")])
    log.append([decision(B, "same")])
    log.undo("ada")
    assert [log.reviews.first(number).pairs for number in range(4)] == [[], [A], [A, B], [A]]


@pytest.mark.parametrize("cut", [1, 5, 16, 17, 40, 90])
def test_a_torn_last_line_is_ignored(log: ReviewLog, tmp_path: Path, cut: int) -> None:
    log.append([decision(A, "same")])
    whole = (tmp_path / FILE).stat().st_size
    log.append([decision(B, "same", target_label='a "quoted" label')])
    text = (tmp_path / FILE).read_bytes()
    assert whole < len(text) - cut
    (tmp_path / FILE).write_bytes(text[:-cut])
    assert read_reviews(tmp_path).confirmed == [A]
    ReviewLog(tmp_path).append([decision(C, "same")])
    if cut == 1:  # only the line break was missing
        assert read_reviews(tmp_path).confirmed == [A, B, C]
    else:
        with pytest.warns(LargeEAWarning, match="1 lines are not complete"):
            assert read_reviews(tmp_path).confirmed == [A, C]


def test_lines_cut_anywhere_never_make_up_a_decision(log: ReviewLog, tmp_path: Path) -> None:
    log.append([decision(A, "same")])
    log.append([decision(B, "different", source_label="x\ty\nz")])
    text = (tmp_path / FILE).read_bytes()
    start = text.rindex(b"\n", 0, -1) + 1
    for end in range(start, len(text) - 1):
        (tmp_path / FILE).write_bytes(text[:end] + b"\n")
        assert ReviewLog(tmp_path).reviews.pairs == [A], text[start:end]


def test_a_file_that_was_replaced_is_read_again(log: ReviewLog, tmp_path: Path) -> None:
    log.append([decision(A, "same")])
    log.append([decision(B, "same")])
    (tmp_path / FILE).unlink()
    ReviewLog(tmp_path).append([decision(C, "different")])
    assert log.refresh().pairs == [C]


def test_a_strange_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("source\ttarget\na\tb\n")
    with pytest.raises(InputError, match="lacks the columns"):
        read_reviews(tmp_path)


@pytest.mark.parametrize("namespace", ["http://s/", pytest.param("[" * 99_999, id="deep")])
def test_a_header_that_cannot_be_read_is_told(log: ReviewLog, tmp_path: Path, namespace: str) -> None:
    log.append([decision(A, "same")])
    text = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(text.replace('"http://s/"', namespace))
    with pytest.raises(InputError, match="write it in double quotes"):
        read_reviews(tmp_path)


def test_a_folder_that_cannot_be_written(log: ReviewLog, tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(ResourceError, match="cannot write"):
        log.append([decision(A, "same")])


def test_what_cannot_be_read_back_is_not_stored(log: ReviewLog, tmp_path: Path) -> None:
    log.append([decision(A, "same")])
    with pytest.raises(UsageError, match="cannot be stored"):
        log.append([decision(("http://s/a\nb", "http://t/1"), "same")])
    assert read_reviews(tmp_path).pairs == [A]


@pytest.mark.parametrize(
    "iri",
    [
        "http://elsewhere/x",
        "urn:x:1",
        "key 7",
        'a"b',
        "owl:Thing",
        "http://s/a\tb",
        "http://www.w3.org/2002/07/owl#Thing",
    ],
)
def test_other_iris_come_back_too(log: ReviewLog, tmp_path: Path, iri: str) -> None:
    pair = iri, "http://t/1"
    if iri == "owl:Thing":  # would be read as a CURIE
        with pytest.raises(UsageError):
            log.append([decision(pair, "same")])
        return
    log.append([decision(pair, "same")])
    assert read_reviews(tmp_path).confirmed == [pair]


def test_it_is_sssom(log: ReviewLog, tmp_path: Path) -> None:
    log.append([decision(A, "same", "orcid:0000-0002-1825-0097", source_label="Köln")])
    log.append([decision(B, "different")])
    log.append([decision(C, "unsure")])
    table = sssom.read(tmp_path / FILE)
    assert (table.source.to_pylist(), table.target.to_pylist(), table.ignored) == ([A[0]], [A[1]], 2)
    text = (tmp_path / FILE).read_text()
    assert "ns1:1\tKöln\tskos:exactMatch\t\tns2:1" in text
    assert "semapv:ManualMappingCuration\torcid:0000-0002-1825-0097\t\t20" in text
    assert "\tskos:exactMatch\tNot\tns2:2" in text


def test_another_program_reads_it_as_sssom(log: ReviewLog, tmp_path: Path) -> None:
    reader = pytest.importorskip("sssom_pydantic", reason="sssom-pydantic is not installed")
    log.append([decision(A, "same", source_label='say "x"')])
    log.append([decision(B, "different")])
    mappings, *_ = reader.read(tmp_path / FILE)
    assert [(one.subject.curie, one.object.curie) for one in mappings] == [
        ("ns1:1", "ns2:1"),
        ("ns1:2", "ns2:2"),
    ]
    assert [one.predicate_modifier for one in mappings] == [None, "Not"]


PROGRAM = """
import sys
from pathlib import Path
from largeea.reviews import Decision, ReviewLog
log = ReviewLog(Path(sys.argv[1]), lambda: ["http://s/", "http://t/"])
for number in range(20):
    log.append([Decision(f"http://s/{sys.argv[2]}-{number}", "http://t/0", "same", sys.argv[2])])
"""


def test_several_processes_append_at_once(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path), author])
        for author in ("ada", "bob", "eve")
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    reviews = read_reviews(tmp_path)
    assert len(reviews.decisions) == len(reviews.confirmed) == 60
    assert (tmp_path / FILE).read_text().count("#curie_map") == 1
    assert [one.source for one in reviews.decisions if one.author == "bob"] == [
        f"http://s/bob-{number}" for number in range(20)
    ]


def test_a_label_cannot_add_a_line(log: ReviewLog, tmp_path: Path) -> None:
    log.append([decision(A, "same", "a\tda\n", source_label="x\nhttp://s/3\ty\x1b[31m\u2028z")])
    (only,) = read_reviews(tmp_path).decisions
    assert (only.author, only.source_label) == ("a da", "x http://s/3 y [31m z")
