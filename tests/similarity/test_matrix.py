"""The algebra of `Similarity` against a plain dictionary of its entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from largeea.graph import Links
from largeea.similarity import Similarity

Entries = dict[tuple[int, int], float]
often = settings(deadline=None, max_examples=50, database=None, derandomize=True)

# Eighths are exact in float32, so sums have one right answer; there are few of them, so ties are common.
eighths = st.integers(-8, 8).map(lambda n: n / 8)
sides = st.integers(0, 5)
shapes = st.tuples(sides, sides)


def make(shape: tuple[int, int], entries: Entries, floor: float) -> Similarity:
    places = sorted(entries)
    indptr = [sum(row < r for row, _ in places) for r in range(shape[0] + 1)]
    indices = [column for _, column in places]
    return Similarity(
        shape, np.array(indptr), np.array(indices), np.array([entries[p] for p in places]), floor
    )


def entries_of(similarity: Similarity) -> Entries:
    found = {}
    for row in range(similarity.shape[0]):
        for i in range(similarity.indptr[row], similarity.indptr[row + 1]):
            found[row, int(similarity.indices[i])] = float(similarity.scores[i])
    return found


@st.composite
def similarities(draw: st.DrawFn, shape: tuple[int, int] | None = None) -> Similarity:
    """Any matrix: floors above and below zero, scores at the floor, empty rows, no rows, no columns."""
    shape = shape or draw(shapes)
    scores = draw(hnp.arrays(np.float32, shape, elements=eighths))
    kept = draw(hnp.arrays(bool, shape))
    entries = {(int(r), int(c)): float(scores[r, c]) for r, c in np.argwhere(kept)}
    floor = min(entries.values(), default=0.0) - draw(st.sampled_from([0, 0.125, 2]))
    return make(shape, entries, floor)


@st.composite
def same_shapes(draw: st.DrawFn) -> tuple[Similarity, Similarity]:
    shape = draw(shapes)
    return draw(similarities(shape)), draw(similarities(shape))


def dense_of(similarity: Similarity) -> npt.NDArray[np.float64]:
    dense = np.full(similarity.shape, similarity.floor)
    for place, score in entries_of(similarity).items():
        dense[place] = score
    return dense


def ranked(similarity: Similarity, row: int) -> list[tuple[int, float]]:
    found = [(column, score) for (r, column), score in entries_of(similarity).items() if r == row]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


# Making and unmaking


@often
@given(shapes.filter(all), st.data())
def test_from_entries_keeps_the_highest_of_duplicates(shape: tuple[int, int], data: st.DataObject) -> None:
    place = st.tuples(st.integers(0, shape[0] - 1), st.integers(0, shape[1] - 1))
    listed = data.draw(st.lists(st.tuples(place, eighths)))
    expected: Entries = {}
    for at, score in listed:
        expected[at] = max(score, expected.get(at, score))
    rows, columns = [at[0] for at, _ in listed], [at[1] for at, _ in listed]
    similarity = Similarity.from_entries(rows, columns, [score for _, score in listed], shape)
    assert entries_of(similarity) == expected
    assert similarity.floor == min([0.0, *(score for _, score in listed)])


def test_from_entries_takes_a_floor() -> None:
    assert Similarity.from_entries([0], [0], [0.5], (1, 1), floor=0.25).floor == 0.25
    assert Similarity.from_entries([], [], [], (2, 3), floor=-1).floor == -1


@often
@given(similarities(), st.integers(0, 6))
def test_top_k_arrays_and_back(similarity: Similarity, k: int) -> None:
    ids, scores = similarity.top_k_arrays(k)
    assert ids.dtype == np.int32
    assert scores.dtype == np.float32
    for row in range(similarity.shape[0]):
        best = ranked(similarity, row)[:k]
        padding = [(-1, similarity.floor)] * (k - len(best))
        assert list(zip(ids[row].tolist(), scores[row].tolist(), strict=True)) == best + padding
    again = Similarity.from_top_k(ids, scores, similarity.shape[1], similarity.floor)
    assert entries_of(again) == entries_of(similarity.top_k(k))
    assert again.shape == similarity.shape


@often
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 50, 1000, 5000]), st.sampled_from([2, 30, 10**6]))
def test_ranking_is_that_of_a_full_sort(seed: int, longest: int, levels: int) -> None:
    """Rows of all lengths, with scores that are all different or almost all the same; -0.0 ties with 0.0."""
    chance = np.random.default_rng(seed)
    lengths = chance.integers(0, longest + 1, 6)
    rows = np.repeat(np.arange(6), lengths)
    columns = np.concatenate([np.sort(chance.permutation(2 * longest)[:length]) for length in lengths])
    scores = (chance.integers(-levels, levels, len(rows)) / levels).astype(np.float32)
    scores[scores == 0] *= chance.choice([-1, 1], (scores == 0).sum())
    similarity = Similarity.from_entries(rows, columns, scores, (6, 2 * longest), floor=-2)
    order = np.lexsort((columns, -scores, rows))
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    for k in {0, 1, 2, longest // 2, longest - 1, longest, longest + 1}:
        among = order[rank < k]
        ids, best = np.full((6, k), -1), np.full((6, k), -2.0)
        ids[rows[among], rank[rank < k]], best[rows[among], rank[rank < k]] = columns[among], scores[among]
        for found, expected in zip(similarity.top_k_arrays(k), (ids, best), strict=True):
            np.testing.assert_array_equal(found, expected)
        kept, among = similarity.top_k(k), np.sort(among)
        np.testing.assert_array_equal(kept.rows, rows[among])
        np.testing.assert_array_equal(kept.indices, columns[among])
        np.testing.assert_array_equal(kept.scores, scores[among])


def test_from_top_k_ignores_padding_anywhere() -> None:
    ids = np.array([[-1, 2], [1, -1], [-1, -1]])
    similarity = Similarity.from_top_k(ids, np.array([[9.0, 0.5], [0.25, 9.0], [9.0, 9.0]]), 3)
    assert entries_of(similarity) == {(0, 2): 0.5, (1, 1): 0.25}


@often
@given(similarities())
def test_scipy_round_trip_keeps_explicit_zeros(similarity: Similarity) -> None:
    matrix = similarity.to_scipy()
    assert matrix.nnz == len(similarity)
    again = Similarity.from_scipy(matrix, similarity.floor)
    assert entries_of(again) == entries_of(similarity)


def test_from_scipy_sorts_without_touching_its_argument() -> None:
    matrix = sp.csr_array(
        (np.array([0.5, 0.0, 0.25]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3)
    )
    similarity = Similarity.from_scipy(matrix)
    assert entries_of(similarity) == {(0, 0): 0.0, (0, 2): 0.5, (1, 1): 0.25}
    assert matrix.indices.tolist() == [2, 0, 1]
    assert matrix.data.tolist() == [0.5, 0.0, 0.25]


@pytest.mark.parametrize("kind", [sp.coo_array, sp.csc_array, sp.csr_matrix, sp.lil_array])
def test_from_scipy_takes_every_layout(kind: Any) -> None:
    assert entries_of(Similarity.from_scipy(kind(np.array([[0, 0.5], [0.25, 0]])))) == {
        (0, 1): 0.5,
        (1, 0): 0.25,
    }


@often
@given(similarities())
def test_to_dense_puts_the_floor_where_nothing_is(similarity: Similarity) -> None:
    np.testing.assert_array_equal(similarity.to_dense(), dense_of(similarity))


# Looking


@often
@given(similarities())
def test_rows_and_row(similarity: Similarity) -> None:
    assert similarity.rows.tolist() == [row for row, _ in sorted(entries_of(similarity))]
    for row in range(similarity.shape[0]):
        columns, scores = similarity.row(row)
        assert list(zip(columns.tolist(), scores.tolist(), strict=True)) == ranked(similarity, row)


@often
@given(similarities())
def test_score_of_every_pair(similarity: Similarity) -> None:
    pairs = np.argwhere(np.ones(similarity.shape))
    scores = similarity.score_of(Links(pairs))
    np.testing.assert_array_equal(scores, dense_of(similarity).ravel())
    np.testing.assert_array_equal(similarity.score_of(Links(pairs[::-1])), scores[::-1])


@often
@given(similarities())
def test_best_and_margins(similarity: Similarity) -> None:
    ids, scores = similarity.best()
    for row, margin in enumerate(similarity.margins()):
        first, second = (ranked(similarity, row) + 2 * [(-1, similarity.floor)])[:2]
        assert (ids[row], scores[row]) == first
        assert margin == first[1] - second[1]


@often
@given(similarities())
def test_mutual_best(similarity: Similarity) -> None:
    flipped = similarity.transpose()
    expected = {}
    for row in range(similarity.shape[0]):
        for column, score in ranked(similarity, row)[:1]:
            if ranked(flipped, column)[0][0] == row:
                expected[row, column] = score
    mutual = similarity.mutual_best()
    assert {
        tuple(pair): weight for pair, weight in zip(mutual.pairs.tolist(), mutual.weight, strict=True)
    } == (expected)
    assert len(set(mutual.source)) == len(set(mutual.target)) == len(mutual)


# Algebra


@often
@given(same_shapes())
def test_add_is_the_dense_sum_on_the_union(pair: tuple[Similarity, Similarity]) -> None:
    one, other = pair
    total = one + other
    dense = dense_of(one) + dense_of(other)
    union = entries_of(one).keys() | entries_of(other).keys()
    assert entries_of(total) == {place: dense[place] for place in union}
    assert total.floor == one.floor + other.floor
    assert entries_of(other + one) == entries_of(total)


def test_entries_that_sum_to_zero_stay() -> None:
    total = make((1, 2), {(0, 1): 0.5}, -1) + make((1, 2), {(0, 1): -0.5}, -1)
    assert entries_of(total) == {(0, 1): 0.0}
    assert total.floor == -2


@often
@given(similarities(), st.sampled_from([0.25, 1, 3, 0.05]))
def test_scale(similarity: Similarity, factor: float) -> None:
    scaled = similarity.scale(factor)
    np.testing.assert_allclose(dense_of(scaled), dense_of(similarity) * factor, rtol=1e-6)
    assert entries_of(scaled).keys() == entries_of(similarity).keys()


@often
@given(similarities())
def test_transpose(similarity: Similarity) -> None:
    flipped = similarity.transpose()
    assert flipped.shape == similarity.shape[::-1]
    assert flipped.floor == similarity.floor
    assert entries_of(flipped) == {(c, r): score for (r, c), score in entries_of(similarity).items()}


@often
@given(similarities(), st.integers(0, 6))
def test_top_k(similarity: Similarity, k: int) -> None:
    kept = similarity.top_k(k)
    expected = {(r, c): s for r in range(similarity.shape[0]) for c, s in ranked(similarity, r)[:k]}
    assert entries_of(kept) == expected
    assert kept.floor == similarity.floor


@often
@given(similarities(), st.data())
def test_restrict(similarity: Similarity, data: st.DataObject) -> None:
    sources, targets = (data.draw(hnp.arrays(bool, size)) for size in similarity.shape)
    entries = entries_of(similarity)
    assert entries_of(similarity.restrict()) == entries
    assert entries_of(similarity.restrict(sources)) == {p: s for p, s in entries.items() if sources[p[0]]}
    assert entries_of(similarity.restrict(targets=targets)) == {
        p: s for p, s in entries.items() if targets[p[1]]
    }
    both = similarity.restrict(sources, targets)
    assert entries_of(both) == {p: s for p, s in entries.items() if sources[p[0]] and targets[p[1]]}
    assert (both.shape, both.floor) == (similarity.shape, similarity.floor)


@often
@given(similarities(), st.integers(1, 7))
@example(make((1, 2), {(0, 0): 1.0}, 0), 5)
def test_csls_is_the_formula_on_the_dense_matrix(similarity: Similarity, k: int) -> None:
    dense = dense_of(similarity)
    by_source = np.array([np.sort(row)[::-1][:k].mean() if len(row) else 0 for row in dense])
    by_target = np.array([np.sort(column)[::-1][:k].mean() if len(column) else 0 for column in dense.T])
    scaled = similarity.csls(k)
    expected = {p: 2 * s - by_source[p[0]] - by_target[p[1]] for p, s in entries_of(similarity).items()}
    assert entries_of(scaled) == pytest.approx(expected, abs=1e-5)
    absent = np.ones(similarity.shape, bool)
    absent[tuple(zip(*entries_of(similarity), strict=True)) or ([], [])] = False
    formula = 2 * dense - by_source[:, None] - by_target
    assert (scaled.floor <= formula[absent] + 1e-5).all()


def test_csls_makes_a_hub_less_attractive() -> None:
    hub = make((3, 2), {(0, 0): 0.9, (1, 0): 0.75, (2, 0): 0.75, (1, 1): 0.7, (2, 1): 0.3}, 0)
    assert hub.best()[0].tolist() == [0, 0, 0]
    assert hub.csls(1).best()[0].tolist() == [0, 1, 0]


# What holds everywhere

Operation = Callable[[Similarity], Similarity]
OPERATIONS: dict[str, Operation] = {
    "add": lambda m: m + m.top_k(1).scale(0.5),
    "scale": lambda m: m.scale(0.3),
    "transpose": lambda m: m.transpose(),
    "top_k": lambda m: m.top_k(2),
    "restrict": lambda m: m.restrict(np.arange(m.shape[0]) % 2 == 0),
    "csls": lambda m: m.csls(2),
    "scipy": lambda m: Similarity.from_scipy(m.to_scipy(), m.floor),
    "from_top_k": lambda m: Similarity.from_top_k(*m.top_k_arrays(3), m.shape[1], m.floor),
}
every_operation = pytest.mark.parametrize("name", OPERATIONS)
any_score = st.floats(-1e3, 1e3, width=32)


@every_operation
@settings(often, max_examples=25)
@given(st.data())
def test_an_absent_entry_never_outranks_a_kept_one(name: str, data: st.DataObject) -> None:
    shape = data.draw(shapes)
    scores = data.draw(hnp.arrays(np.float32, shape, elements=any_score))
    rows, columns = data.draw(hnp.arrays(bool, shape)).nonzero()
    similarity = Similarity.from_entries(rows, columns, scores[rows, columns], shape)
    result = OPERATIONS[name](similarity)
    assert all(score >= result.floor for score in entries_of(result).values())
    assert all(score >= result.floor for score in result.score_of(Links(np.argwhere(np.ones(result.shape)))))


@every_operation
@settings(often, max_examples=25)
@given(similarities())
def test_operations_leave_their_operand_alone(name: str, similarity: Similarity) -> None:
    before, floor = entries_of(similarity), similarity.floor
    result = OPERATIONS[name](similarity)
    assert (entries_of(similarity), similarity.floor) == (before, floor)
    for array in (result.indptr, result.indices, result.scores):
        assert not array.flags.writeable


@every_operation
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 4)])
def test_nothing_stays_nothing(name: str, shape: tuple[int, int]) -> None:
    empty = Similarity.empty(shape)
    result = OPERATIONS[name](empty)
    assert len(result) == 0
    assert result.shape == (shape[::-1] if name == "transpose" else shape)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 4)])
def test_looking_at_nothing(shape: tuple[int, int]) -> None:
    empty = Similarity.empty(shape)
    assert empty.to_dense().shape == shape
    assert empty.best()[0].tolist() == [-1] * shape[0]
    assert empty.margins().tolist() == [0] * shape[0]
    assert len(empty.mutual_best()) == 0
    assert empty.mutual_best().weight is not None
    assert empty.score_of(Links(np.argwhere(np.ones(shape)))).tolist() == [0] * (shape[0] * shape[1])


def test_it_cannot_be_changed() -> None:
    similarity = make((1, 1), {(0, 0): 1.0}, 0)
    with pytest.raises(FrozenInstanceError):
        similarity.floor = 2.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        similarity.scores[0] = 2


def test_numpy_sizes_become_plain_ones() -> None:
    similarity = Similarity.empty((np.int64(2), np.int64(3)))  # type: ignore[arg-type]
    assert [type(size) for size in similarity.shape] == [int, int]


# What is refused


@pytest.mark.parametrize(
    ("indptr", "indices", "scores", "message"),
    [
        ([0, 1], [0], [np.nan], "not a number"),
        ([0, 1], [0], [-0.5], "below the floor"),
        ([0, 1], [0], [np.inf], "infinite"),
        ([0, 1], [3], [0.5], "below 3"),
        ([0, 1], [-1], [0.5], "ascend from 0"),
        ([0, 2], [1, 0], [0.5, 0.5], "ascend"),
        ([0, 2], [1, 1], [0.5, 0.5], "ascend"),
        ([0, 2], [0, 1], [0.5], "2 targets but 1 scores"),
        ([0, 1, 1], [0], [0.5], "row pointers"),
        ([0, 2], [0], [0.5], "row pointers"),
        ([1, 1], [0], [0.5], "row pointers"),
        ([], [], [], "row pointers"),
    ],
)
def test_malformed_matrices_are_refused(indptr: Any, indices: Any, scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Similarity((1, 3), indptr, indices, scores)


def test_row_pointers_that_go_back_are_refused() -> None:
    with pytest.raises(ValueError, match="row pointers"):
        Similarity((2, 3), np.array([0, 9, 1]), np.array([0]), np.array([0.5]))


@pytest.mark.parametrize("floor", [np.nan, np.inf, -np.inf])
def test_a_floor_is_a_number(floor: float) -> None:
    with pytest.raises(ValueError, match="floor"):
        Similarity((1, 1), np.array([0, 1]), np.array([0]), np.array([0.5]), floor)


@pytest.mark.parametrize(("row", "column"), [(0, 3), (0, -1), (2, 0), (-1, 0)])
def test_entries_outside_are_refused(row: int, column: int) -> None:
    with pytest.raises(ValueError, match=r"source ids|target ids"):
        Similarity.from_entries([1, row], [0, column], [0.5, 0.25], (2, 3))


@pytest.mark.parametrize("factor", [0, -1, np.nan, np.inf, 1e-60])
def test_only_positive_factors(factor: float) -> None:
    with pytest.raises(ValueError, match="positive factor"):
        make((1, 1), {(0, 0): 1.0}, 0).scale(factor)


def test_csls_needs_a_neighbour() -> None:
    with pytest.raises(ValueError, match="one neighbour"):
        make((1, 1), {(0, 0): 1.0}, 0).csls(0)


@given(shapes, shapes)
@often
def test_different_shapes_do_not_add(one: tuple[int, int], other: tuple[int, int]) -> None:
    assume(one != other)
    with pytest.raises(ValueError, match="cannot add"):
        Similarity.empty(one) + Similarity.empty(other)
