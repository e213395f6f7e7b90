"""Operations on matrices that are large enough for several threads: the same bytes as with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from largeea.execution import Execution, executing
from largeea.graph import Links
from largeea.similarity import Similarity
from largeea.similarity.columns import column_sums, highest_of_columns

SHAPE = 6000, 2500
RANDOM = np.random.default_rng(0)
ROWS, COLUMNS = (RANDOM.integers(0, size, 240_000) for size in SHAPE)
EIGHTHS = (RANDOM.integers(1, 9, len(ROWS)) / 8).astype(np.float32)
LARGE = Similarity.from_entries(ROWS, COLUMNS, EIGHTHS, SHAPE, -0.5)
OTHER = Similarity.from_entries(COLUMNS, COLUMNS, EIGHTHS, SHAPE)
MASKS = RANDOM.random(SHAPE[0]) < 0.7, RANDOM.random(SHAPE[1]) < 0.7
KINDS = RANDOM.integers(-1, 2, SHAPE[0]).astype(np.int8), RANDOM.integers(-1, 2, SHAPE[1]).astype(np.int8)
PAIRS = Links(np.column_stack([ROWS, COLUMNS])[::7])

OPERATIONS: dict[str, Callable[[], Any]] = {
    "from_entries": lambda: Similarity.from_entries(ROWS, COLUMNS, EIGHTHS, SHAPE, -0.5),
    "from_top_k": lambda: Similarity.from_top_k(*LARGE.top_k_arrays(20), SHAPE[1]),
    "rows": lambda: LARGE.rows,
    "score_of": lambda: LARGE.score_of(PAIRS),
    "scores_on": lambda: LARGE.scores_on(OTHER),
    "margins": LARGE.margins,
    "best": lambda: LARGE.best(),
    "mutual_best": lambda: LARGE.mutual_best().pairs,
    "add": lambda: LARGE + OTHER,
    "transpose": LARGE.transpose,
    "top_k": lambda: LARGE.top_k(5),
    "restrict": lambda: LARGE.restrict(*MASKS),
    "of_equal_kind": lambda: LARGE.of_equal_kind(*KINDS),
    "keep": lambda: LARGE.keep(LARGE.scores > 0.5),
    "take": lambda: LARGE.take(ROWS[:5000].astype(np.int32)),
    "csls": lambda: LARGE.csls(1),
    "column_sums": lambda: column_sums(LARGE.indptr, LARGE.indices, LARGE.scores, SHAPE[1]),
}


def arrays_of(result: Any) -> list[np.ndarray]:
    if isinstance(result, Similarity):
        return [result.indptr, result.indices, result.scores, np.array([result.floor])]
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", OPERATIONS)
def test_threads_do_not_change_a_byte(name: str) -> None:
    with executing(Execution(threads=1)):
        expected = arrays_of(OPERATIONS[name]())
    with executing(Execution(threads=3)):
        found = arrays_of(OPERATIONS[name]())
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("threads", [1, 3])
def test_columns_are_those_of_scipy(threads: int) -> None:
    expected = LARGE.to_scipy().T.tocsr()
    expected.sort_indices()
    with executing(Execution(threads=threads)):
        flipped = LARGE.transpose()
        sums = column_sums(LARGE.indptr, LARGE.indices, LARGE.scores, SHAPE[1])
        highest = highest_of_columns(LARGE.indptr, LARGE.indices, LARGE.scores, SHAPE[1], LARGE.floor)
    np.testing.assert_array_equal(flipped.indptr, expected.indptr)
    np.testing.assert_array_equal(flipped.indices, expected.indices)
    np.testing.assert_array_equal(flipped.scores, expected.data)
    np.testing.assert_array_equal(sums, np.bincount(LARGE.indices, LARGE.scores, SHAPE[1]))
    np.testing.assert_array_equal(highest, flipped.best()[1])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("place", "target"), [(0, -1), (-1, SHAPE[1])])
def test_one_bad_target_among_many_is_found(threads: int, place: int, target: int) -> None:
    indices = LARGE.indices.copy()
    indices[place] = target
    with executing(Execution(threads=threads)), pytest.raises(ValueError, match="ascend"):
        Similarity(SHAPE, LARGE.indptr, indices, LARGE.scores, LARGE.floor)


@pytest.mark.parametrize("row", [1, 3000, SHAPE[0] - 1])
def test_targets_may_descend_between_rows_only(row: int) -> None:
    start = LARGE.indptr[row]
    indices = LARGE.indices.copy()
    indices[start + 1] = indices[start]
    with executing(Execution(threads=3)), pytest.raises(ValueError, match="ascend"):
        Similarity(SHAPE, LARGE.indptr, indices, LARGE.scores, LARGE.floor)


@pytest.mark.parametrize(
    ("score", "message"), [(np.nan, "not a number"), (-1, "below"), (np.inf, "infinite")]
)
def test_one_bad_score_among_many_is_found(score: float, message: str) -> None:
    scores = LARGE.scores.copy()
    scores[len(scores) // 3] = score
    with executing(Execution(threads=3)), pytest.raises(ValueError, match=message):
        Similarity(SHAPE, LARGE.indptr, LARGE.indices, scores, LARGE.floor)


def test_kept_entries_and_taken_rows() -> None:
    kept = LARGE.keep(LARGE.scores > 0.5)
    np.testing.assert_array_equal(kept.rows, LARGE.rows[LARGE.scores > 0.5])
    np.testing.assert_array_equal(kept.indices, LARGE.indices[LARGE.scores > 0.5])
    np.testing.assert_array_equal(kept.scores, LARGE.scores[LARGE.scores > 0.5])
    some = np.array([5, 3, 5, 5999], np.int32)
    taken = LARGE.take(some)
    assert taken.shape == (4, SHAPE[1])
    np.testing.assert_array_equal(taken.to_dense(), LARGE.to_dense()[some])


def test_what_keeps_everything_is_not_copied() -> None:
    assert LARGE.restrict() is LARGE
    assert LARGE.top_k(SHAPE[1]) is LARGE
