"""The words in which names differ, and what reviews teach about them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from largeea.names.differences import Differences, MainWords, learn_from_reviews, shift_by_words
from largeea.names.rows import Columns
from largeea.similarity import Similarity

ORGANS = [f"organ{chr(97 + one)}{chr(97 + other)}" for one in range(8) for other in range(8)]


def columns(source: list[str | None], target: list[str | None]) -> Columns:
    """The rows of names without aliases."""
    found: Columns = {}
    for side, names in (("source", source), ("target", target)):
        texts, none = pa.array(names, pa.large_string()), np.empty(0, np.int32)
        found |= {
            f"{side}_texts": texts,
            f"{side}_entity": np.arange(len(names), dtype=np.int32),
            f"{side}_kind": np.zeros(len(names), np.int8),
            f"{side}_weights": np.ones(len(names), np.float32),
            f"{side}_latin": texts,
            f"{side}_bracketed": none,
            f"{side}_bare": pa.array([], pa.large_string()),
            f"{side}_written": none,
        }
    return found


@pytest.fixture
def rows() -> Columns:
    """Veins that are like arteries, muscles that are like those without the word, and one without a name."""
    source = [f"{organ} vein" for organ in ORGANS[:32]] + ORGANS[32:] + [None]
    target = [f"{organ} artery" for organ in ORGANS[:32]] + [f"{organ} muscle" for organ in ORGANS[32:]]
    return columns(source, target)


def calibration(reviewed: np.ndarray) -> dict[str, np.ndarray]:
    """Reviews of as many pairs: veins are no arteries, muscles are right."""
    pairs = np.repeat(reviewed, 2).reshape(-1, 2).astype(np.int32)
    return {"reviewed": pairs, "right": reviewed >= 32, "log_odds": np.zeros(len(reviewed))}


def test_reviews_of_some_pairs_judge_others_with_the_same_words(rows: Columns) -> None:
    lessons = learn_from_reviews(rows, calibration(np.arange(16, 48)), 0)
    pairs = np.array([[0, 0], [60, 60], [0, 1], [64, 0]])
    even = Similarity.from_entries(pairs[:, 0], pairs[:, 1], np.full(4, 0.5, np.float32), (65, 64))
    shifted = shift_by_words(even, rows, lessons)
    vein, other_organ, muscle, nameless = shifted.scores
    assert vein < other_organ < 0.3 < 0.7 < muscle, "another organ beside the same words tells less"
    assert nameless == 0.5


@pytest.mark.parametrize("kind", ["few", "none"])
def test_few_reviews_change_nothing(rows: Columns, kind: str) -> None:
    few = calibration(np.arange(28, 36)) if kind == "few" else {"slopes": np.empty(0)}
    lessons = learn_from_reviews(rows, few, 0)
    even = Similarity.from_entries([0], [0], np.array([0.5], np.float32), (65, 64))
    assert shift_by_words(even, rows, lessons) is even


def test_names_that_differ_in_just_the_same_way_are_judged_most_alike() -> None:
    """Left is not right, and no word tells so by itself; the other way round is another difference."""
    sides = ["left", "right"]
    source = [f"{side} {organ}" for organ in ORGANS for side in sides]
    names = columns(source, source)
    ids = np.arange(len(source), dtype=np.int32)
    same, swapped = np.column_stack([ids, ids]), np.column_stack([ids, ids ^ 1])
    found = Differences.of(np.concatenate([same, swapped]), MainWords.of(names)[0])
    assert len(found.words) == len(found.wholes) == 2, "left for right, and right for left"
    assert not found.features[: len(ids)].nnz
    wholes = found.features[len(ids) :, 2:].toarray()
    assert (wholes[::2] == wholes[0]).all()
    assert (wholes[1::2] == wholes[1]).all()
    assert (wholes[0] != wholes[1]).all()


def test_a_whole_difference_counts_beside_its_words(rows: Columns) -> None:
    lessons = learn_from_reviews(rows, calibration(np.arange(16, 48)), 0)
    without = lessons | {"whole_shifts": np.zeros_like(lessons["whole_shifts"])}
    even = Similarity.from_entries([0, 60], [0, 60], np.full(2, 0.5, np.float32), (65, 64))
    vein, muscle = shift_by_words(even, rows, lessons).scores
    vein_by_words, muscle_by_words = shift_by_words(even, rows, without).scores
    assert vein < vein_by_words < 0.5 < muscle_by_words < muscle
