from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.search import sparse
from largeea.search.sparse import sparse_top_k
from largeea.search.sparse_index import Csr, SparseIndex
from largeea.similarity import Similarity

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
Dense = npt.NDArray[np.float32]
# Halves multiply and add exactly, and often tie.
halves = st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.5])


@st.composite
def problems(draw: st.DrawFn) -> tuple[Dense, Dense, int]:
    queries, items, features = (draw(st.integers(0, most)) for most in (4, 12, 4))
    left, right = (draw(hnp.arrays(np.float32, (n, features), elements=halves)) for n in (queries, items))
    return left, right, draw(st.integers(1, 6))


def slow_top_k(queries: Dense, items: Dense, k: int) -> tuple[list[list[int]], list[list[float]]]:
    ids, scores = [], []
    for query in queries:
        found = [(float(query @ item), i) for i, item in enumerate(items) if query @ item > 0]
        found = sorted(found, key=lambda entry: (-entry[0], entry[1]))[:k]
        found += [(0.0, -1)] * (k - len(found))
        ids.append([i for _, i in found])
        scores.append([score for score, _ in found])
    return ids, scores


@often
@given(problems())
def test_same_as_the_slow_way(problem: tuple[Dense, Dense, int]) -> None:
    queries, items, k = problem
    ids, scores = sparse_top_k(sp.csr_array(queries), sp.csr_array(items), k)
    assert (ids.dtype, scores.dtype) == (np.int32, np.float32)
    assert ids.shape == scores.shape == (len(queries), k)
    assert (ids.tolist(), scores.tolist()) == slow_top_k(queries, items, k)


def test_ties_at_the_cut_go_to_smaller_ids() -> None:
    ids, _ = sparse_top_k(sp.csr_array(np.ones((1, 1))), sp.csr_array(np.ones((100, 1))), 5)
    assert ids.tolist() == [[0, 1, 2, 3, 4]]
    weights = np.array([1, 1, 2, 1, 1, 2, 1, 3, 1, 1], np.float32)[:, None]
    ids, scores = sparse_top_k(sp.csr_array(np.ones((1, 1))), sp.csr_array(weights), 4)
    assert ids.tolist() == [[7, 2, 5, 0]]
    assert scores.tolist() == [[3, 2, 2, 1]]


def test_many_queries_are_answered_in_their_order() -> None:
    size = 3 * sparse.ROWS_PER_JOB + 7
    identity = sp.csr_array(sp.eye_array(size, dtype=np.float32))
    ids, scores = sparse_top_k(identity[::-1], identity, 2)
    assert ids[:, 0].tolist() == list(range(size))[::-1]
    assert (ids[:, 1] == -1).all()
    assert (scores == [1, 0]).all()


def test_it_agrees_with_a_real_product() -> None:
    generator = np.random.default_rng(0)
    left, right = (sp.random_array((n, 60), density=0.2, rng=generator, dtype=np.float32) for n in (80, 300))
    ids, scores = sparse_top_k(sp.csr_array(left), sp.csr_array(right), 10)
    expected = Similarity.from_scipy(sp.csr_array(left @ right.T)).top_k_arrays(10)
    np.testing.assert_allclose(scores, expected[1], rtol=1e-5)
    assert (ids == expected[0]).mean() > 0.99


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_arguments_are_left_alone(layout: Any) -> None:
    matrix = layout(sp.csr_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2)))
    before = matrix.indices.copy(), matrix.data.copy()
    ids, scores = sparse_top_k(matrix, matrix, 1)
    assert (ids.tolist(), scores.tolist()) == ([[0]], [[5.0]])
    np.testing.assert_array_equal(matrix.indices, before[0])
    np.testing.assert_array_equal(matrix.data, before[1])


@often
@given(problems(), st.integers(1, 6))
def test_with_a_budget_what_is_found_is_right(problem: tuple[Dense, Dense, int], budget: int) -> None:
    """Items may be missed, but not those of a query's rarest feature; scores are exact all the same."""
    queries, items, k = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "POSTINGS_PER_QUERY", budget)
        patch.setattr(sparse, "POSTINGS_PER_KEPT", 1)
        ids, scores = sparse_top_k(sp.csr_array(queries), sp.csr_array(items), k)
    frequency = (items > 0).sum(axis=0)
    for query, found, theirs in zip(queries, ids, scores, strict=True):
        kept = found[found >= 0]
        assert len(set(kept)) == len(kept)
        assert theirs[: len(kept)].tolist() == [float(query @ items[i]) for i in kept]
        assert (theirs[: len(kept)] > 0).all()
        keys = list(zip(-theirs[: len(kept)], kept, strict=True))
        assert keys == sorted(keys)
        known = np.flatnonzero((query > 0) & (frequency > 0))
        if len(known):
            assert len(kept) >= min(k, budget, frequency[known].min())


def test_features_are_ranked_from_rare_to_common_and_lists_are_bounded() -> None:
    items = sp.csr_array(np.array([[1, 0, 2], [3, 0, 0], [4, 5, 0]], np.float32))
    index = SparseIndex.build(Csr.of(items), 3, most=2)
    assert index.rank.tolist() == [2, 0, 1]
    assert index.items.columns.tolist() == [1, 2, 2, 0, 2]
    assert index.items.weights.tolist() == [2, 1, 3, 5, 4]
    assert index.postings.pointer.tolist() == [0, 1, 2, 4]
    assert index.postings.columns.tolist() == [2, 0, 1, 0], "of the most common feature, short items first"
    assert index.postings.weights.tolist() == [5, 2, 3, 1]


def test_queries_with_the_same_rarest_feature_are_answered_one_after_another() -> None:
    items = sp.csr_array(np.array([[1, 0, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0]], np.float32))
    index = SparseIndex.build(Csr.of(items), 4, 10)
    queries = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]], np.float32)
    assert index.by_rarest_feature(Csr.of(queries)).tolist() == [1, 4, 0, 3, 2]


def test_the_best_are_found_among_many_items_that_share_common_features() -> None:
    """The work of a query is bounded, and what shares its rare features is found all the same."""
    random = np.random.default_rng(0)
    rows = 20_000
    common = sp.random_array((rows, 20), density=0.5, rng=random, dtype=np.float32)
    own = sp.csr_array(sp.kron(sp.eye_array(rows // 2, dtype=np.float32), np.ones((2, 1), np.float32)))
    vectors = sp.csr_array(sp.hstack([common, own]))
    ids, _ = sparse_top_k(vectors[::100], vectors, 2)
    pairs = np.arange(0, rows, 100)[:, None] // 2
    assert (ids // 2 == pairs).all()
