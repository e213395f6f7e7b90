"""What changed between two runs, on answers that are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea.cli import run as largeea
from largeea.config import load
from largeea.errors import InputError
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.report import write_comparison

from .conftest import graph

NAMES: list[str | None] = ["Anna", "Bert", "Carl", "Dora", "<Ed>", "Finn"]
SOURCE, TARGET = graph("s", NAMES), graph("t", NAMES)
FIRST = Alignment(
    SOURCE, TARGET, [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]], [1, 0.9, 0.8, 0.6, 0.2], [True] * 4 + [False]
)
SECOND = Alignment(
    SOURCE,
    TARGET,
    [[0, 0], [1, 1], [2, 3], [4, 4], [5, 5]],
    [1, 0.3, 0.8, 0.9, 0.7],
    [True, False, True, True, True],
)
CHANGES = {
    "same, accepted": 1,
    "same, doubtful": 0,
    "became accepted": 1,
    "became doubtful": 1,
    "other counterpart": 1,
    "only in first": 1,
    "only in second": 1,
}


def test_changes(store: Any) -> None:
    one, other = store(FIRST), store(SECOND, config=load(settings=("names.top_k=7",)))
    path, figures = write_comparison(one, other)
    assert path == one / "comparison.html"
    assert figures["entities"] == CHANGES
    assert figures["confidence_moved"] == 2
    assert figures["settings"] == {"names.top_k": [50, 7]}
    html = path.read_text("utf-8")
    assert "3 pairs are the same in both runs (50% of those in either)" in html
    assert "&lt;Ed&gt;" in html
    assert "<Ed>" not in html
    for change in CHANGES:
        assert change in html


def test_entities_are_matched_by_iri(store: Any) -> None:
    """The second run has fewer entities, and so other ids."""
    kept = SOURCE.entities.take(np.array([1, 2, 4, 5])), SOURCE.names.take(np.array([1, 2, 4, 5]))
    fewer = graph("s", [None] * 4)
    fewer = type(fewer)(*kept, fewer.relations, fewer.triples)
    second = Alignment(
        fewer, TARGET, [[0, 1], [1, 3], [2, 4], [3, 5]], [0.3, 0.8, 0.9, 0.7], [False, True, True, True]
    )
    _, figures = write_comparison(store(FIRST), store(second))
    assert figures["entities"] == CHANGES | {"same, accepted": 0, "only in first": 2}


def test_a_run_is_the_same_as_itself(store: Any) -> None:
    one = store(FIRST)
    _, figures = write_comparison(one, one)
    assert {name: many for name, many in figures["entities"].items() if many} == {
        "same, accepted": 4,
        "same, doubtful": 1,
    }
    assert "Both runs have the same settings" in (one / "comparison.html").read_text("utf-8")


def test_empty_answers(store: Any) -> None:
    nothing = Alignment(SOURCE, TARGET, np.empty((0, 2)), [], [])
    path, figures = write_comparison(store(nothing), store(nothing))
    assert not any(figures["entities"].values())
    assert "0 pairs are the same" in path.read_text("utf-8")


def test_other_graphs_are_refused(store: Any) -> None:
    strange = Alignment(graph("u", NAMES), TARGET, [[0, 0]], [1], [True])
    one, other = store(FIRST), store(strange)
    with pytest.raises(InputError, match=r"run on other graphs .* 0 of 6 IRIs in common"):
        write_comparison(one, other)
    assert not (one / "comparison.html").exists()


def test_the_command(store: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other, place = store(FIRST), store(SECOND), tmp_path / "new" / "c.html"
    assert largeea(["report", str(one), str(other), "-o", str(place), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["report"] == str(place)
    assert found["entities"] == CHANGES
    assert place.is_file()
    assert largeea(["report", str(one), str(tmp_path / "none")]) == 3
    assert "is not a run folder" in capsys.readouterr().err
    assert largeea(["report", str(one), str(other), "--links", "x"]) == 2
    assert "--links" in capsys.readouterr().err


def test_of_several_counterparts_the_most_confident_one_is_compared(store: Any) -> None:
    """The order of pairs decided before, so that equal answers in another order differed."""
    several = Cardinality.MANY_TO_MANY
    pairs, confidence = [[0, 0], [0, 1], [1, 1]], [0.9, 0.7, 0.8]
    one = Alignment(SOURCE, TARGET, pairs, confidence, [True] * 3, cardinality=several)
    other = Alignment(SOURCE, TARGET, pairs[::-1], confidence[::-1], [True] * 3, cardinality=several)
    _, figures = write_comparison(store(one), store(other))
    assert figures["entities"] == dict.fromkeys(CHANGES, 0) | {"same, accepted": 2}
