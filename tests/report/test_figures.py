"""Numbers of a report, on runs whose answer is known."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea.formats.links import UNMATCHED_FILE_NAME
from largeea.graph import Links
from largeea.matching.alignment import Alignment
from largeea.report import figures
from largeea.report.stored import StoredRun, rows_of
from largeea.similarity import Similarity

from .conftest import graph

SOURCE = graph("s", ["Anna", "Bert", "Carl", None, "Dora"], [(0, 0, 1), (0, 0, 2), (0, 0, 4), (4, 0, 4)])
TARGET = graph("t", ["Anna", "Bert", "Carla", None], [(0, 0, 1)])
NAME = Similarity.from_entries([0, 0, 1, 1, 2], [0, 1, 0, 1, 2], [1, 0.5, 0.5, 0.5, 0.9], (5, 4))
NEIGHBOURS = Similarity.from_entries([0, 1, 2, 2], [0, 1, 1, 2], [0.2, 0.9, 0.8, 0.1], (5, 4))
ALIGNMENT = Alignment(
    SOURCE,
    TARGET,
    [[0, 0], [1, 1], [2, 2]],
    [1.0, 0.95, 0.3],
    [True, True, False],
    {"name": [1, 0.5, 0.9], "neighbours": [0.2, 0.9, 0.1], "semantic": [1, 1, 1]},
)


@pytest.fixture
def run(store: Any) -> StoredRun:
    fused = Similarity.from_entries([3, 4], [3, 1], [0.1, 0.4], (5, 4))
    return StoredRun(store(ALIGNMENT, names=NAME, neighbours=NEIGHBOURS, fused=fused))


def test_overview(run: StoredRun) -> None:
    found = figures.Overview.of(run)
    assert (found.entities, found.linkable) == ((5, 4), (5, 4))
    assert (found.accepted, found.given, found.doubtful, found.unmatched) == (2, 0, 1, (2, 1))
    assert found.mean_confidence == pytest.approx(0.975)


def test_given_pairs_are_not_found_ones(store: Any) -> None:
    run = StoredRun(store(ALIGNMENT, seeds=Links(np.array([[0, 0], [4, 3]]))))
    found = figures.Overview.of(run)
    assert run.is_given.tolist() == [True, False, False]
    assert (found.given, found.mean_confidence) == (1, pytest.approx(0.95))
    assert figures.accept_threshold(run) == pytest.approx(0.95)


def test_confidence_bins() -> None:
    confidence = np.array([0, 0.05, 0.1, 0.95, 1, 0.5], np.float32)
    assert figures.confidence_bins(confidence, np.ones(6, bool)).tolist() == [2, 1, 0, 0, 0, 1, 0, 0, 0, 2]
    assert figures.confidence_bins(confidence, np.zeros(6, bool)).tolist() == [0] * 10


def test_degree_shares() -> None:
    counts = [round(share * SOURCE.size) for share in figures.degree_shares(SOURCE)]
    by_label = {label: count for label, count in zip(figures.DEGREES, counts, strict=True) if count}
    assert by_label == {"0": 1, "1": 2, "\u22644": 2}, "degrees 3, 1, 1, 0, 3"


def test_degrees_of_a_hub() -> None:
    hub = graph("s", ["x"] * 2000, [(0, 0, place) for place in range(1, 2000)])
    shares = figures.degree_shares(hub)
    assert shares[-1] == pytest.approx(1 / 2000)
    assert shares[1] == pytest.approx(1999 / 2000)
    assert sum(shares) == pytest.approx(1)


def test_which_evidence_decides(run: StoredRun) -> None:
    found, sample = figures.deciding_evidence(run)
    assert sample == 2
    by_kind = {one.kind: one for one in found}
    assert set(by_kind) == {"name", "neighbours"}, "features of names are part of the name channel"
    assert (by_kind["name"].decided, by_kind["neighbours"].decided) == (1, 1)
    assert by_kind["name"].alone == 0.5, "of Bert, names have two best candidates"
    assert by_kind["neighbours"].alone == 1.0
    assert by_kind["name"].weight == 1.0
    assert by_kind["name"].worth is None


def test_unmatched_reasons(run: StoredRun) -> None:
    assert figures.unmatched_reasons(run.alignment) == {
        "no name": (1, 1),
        figures.SAME_NAME: (0, 0),
        "no likely candidate, or all are in other pairs": (1, 0),
    }


def test_reasons_are_those_of_the_file(demo_run: Path) -> None:
    with (demo_run / UNMATCHED_FILE_NAME).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    reasons = figures.unmatched_reasons(StoredRun(demo_run).alignment)
    for place, side in enumerate(("source", "target")):
        written = Counter(
            figures.SAME_NAME if row["reason"].startswith("same name") else row["reason"]
            for row in rows
            if row["side"] == side
        )
        assert {reason: counts[place] for reason, counts in reasons.items() if counts[place]} == written


def test_weights_and_rounds_come_from_the_manifest(demo_run: Path) -> None:
    run = StoredRun(demo_run)
    assert set(run.weights) == {"name", "neighbours", "surroundings", "literals"}
    assert max(run.weights.values()) == 1.0
    assert set(run.worth) == set(run.weights)
    rounds = figures.anchors_by_round(run)
    assert len(rounds) > 1
    assert rounds[0][1] == 1.0, "in the first round, all are new"
    assert rounds[-1][1] < 0.1
    assert len(run.load(f"anchors-{len(rounds)}")) == rounds[-1][0]


def test_evidence_is_what_the_decision_was_made_of(demo_run: Path) -> None:
    run = StoredRun(demo_run)
    links = Links(run.alignment.pairs)
    for kind, matrix in run.evidence.items():
        np.testing.assert_allclose(np.clip(matrix.score_of(links), 0, 1), run.alignment.evidence[kind])


def test_stage_costs() -> None:
    call = {"seconds": 1.5, "memory_mb": {"host": 10.0, "gpu": 0.0}}
    timings = {"a": {"k": call}, "b": {"k": call, "l": call | {"memory_mb": {"host": 20.0, "gpu": 0}}}}
    assert figures.stage_costs({"timings": timings}) == [("b", 3.0, 20.0), ("a", 1.5, 10.0)]


@pytest.mark.parametrize(("length", "most"), [(0, 5), (3, 5), (5, 5), (1000, 7)])
def test_spread(length: int, most: int) -> None:
    found = figures.spread(length, most)
    assert len(found) == min(length, most)
    assert len(np.unique(found)) == len(found)
    assert found.max(initial=-1) < length


def test_rows_of_a_matrix() -> None:
    some = rows_of(NAME, np.array([2, 0, 3], np.int32))
    np.testing.assert_array_equal(some.to_dense(), NAME.to_dense()[[2, 0, 3]])
    assert len(rows_of(NAME, np.empty(0, np.int32))) == 0
