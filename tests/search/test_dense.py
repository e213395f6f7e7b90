"""Dense search in blocks: threads, blocks and stored jobs leave no trace."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.execution import Execution, executing
from largeea.search import cell_kernels, dense, dense_top_k, repeats
from largeea.search.approximate import ApproximateSearch
from largeea.search.vectors import unit_rows


@pytest.fixture(scope="module")
def vectors() -> tuple[np.ndarray, np.ndarray]:
    """Sizes that are no multiples of anything: the odd rest is where matrix products differ."""
    random = np.random.default_rng(0)
    queries, items = (unit_rows(random.standard_normal((n, 33), np.float32)) for n in (13_001, 1_717))
    return queries, items


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_threads_and_blocks_do_not_change_results(vectors, search, metric, monkeypatch) -> None:
    results = []
    for threads, size in [(1, 4096), (2, 8192), (3, 1 << 16)]:
        monkeypatch.setattr(
            dense,
            "row_blocks",
            lambda rows, size=size, **_: [(at, min(at + size, rows)) for at in range(0, rows, size)],
        )
        with executing(Execution(threads=threads, device="cpu")):
            ids, scores = dense_top_k(*vectors, 10, metric=metric, search=search)
        results.append(ids.tobytes() + scores.tobytes())
    assert results[0] == results[1] == results[2]


def test_blocks_end_where_matrix_products_do(vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = dense.nearest_block

    def nearest_block(first: int, last: int, *shared):
        asked.append((first, last))
        return real(first, last, *shared)

    monkeypatch.setattr(dense, "nearest_block", nearest_block)
    with executing(Execution(threads=3, device="cpu")):
        dense_top_k(*vectors, 5)
    assert len(asked) > 1
    assert all(first % dense.QUERIES_AT_ONCE == 0 for first, _ in asked)
    assert max(last for _, last in asked) == len(vectors[0])


def test_auto_is_exact_where_that_is_quick() -> None:
    with executing(Execution(device="cpu")):
        assert dense.chosen_search(15_000, 15_000) == "exact"
        assert dense.chosen_search(1_000_000, 1_000_000) == "approximate"


def test_among_equal_items_the_approximate_search_finds_the_first() -> None:
    items = np.tile(np.eye(3, 8, dtype=np.float32), (200, 1))
    with executing(Execution(device="cpu")):
        ids, _ = dense_top_k(items[:3], items, 5, search="approximate")
    assert ids.tolist() == [[first + 3 * turn for turn in range(5)] for first in range(3)]


def test_alike_items_do_not_make_an_approximate_search_compare_everything() -> None:
    alike = np.zeros((20_000, 8), np.float32)
    alike[:10_000, 0] = 1  # the others are zeros, which no search finds
    with executing(Execution(device="cpu")):
        search = ApproximateSearch(alike)
        ids, scores = dense_top_k(alike[9_999:10_001], alike, 5, search="approximate")
    assert len(search.ids) == 10_000
    assert search.compared < 10_000
    assert ids.tolist() == [[0, 1, 2, 3, 4], [-1] * 5]
    assert scores.tolist() == [[1] * 5, [0] * 5]


def test_an_approximate_search_of_all_cells_finds_what_an_exact_one_does() -> None:
    random = np.random.default_rng(5)
    queries, items = (unit_rows(random.standard_normal((count, 24), np.float32)) for count in (90, 5000))
    with executing(Execution(device="cpu")):
        search = ApproximateSearch(items)
        search.probes, search.compared = len(search.centres), len(items)
        ids, scores = search.nearest(queries, 10, "cosine")
        exact_ids, exact_scores = dense_top_k(queries, items, 10, search="exact")
    assert ids.tolist() == exact_ids.tolist()
    np.testing.assert_allclose(scores, exact_scores, rtol=1e-5)


def test_a_query_is_compared_with_so_many_items_of_its_nearest_cells_only() -> None:
    """Three cells with 4, 3 and 5 items; each query looks at two of them and is compared with six items."""
    random = np.random.default_rng(6)
    numbers = random.integers(1, 100, (12, 8)).astype(np.int8)
    queries = random.integers(1, 100, (5, 8)).astype(np.int8)
    pointers, ids = np.array([0, 4, 7, 12]), np.arange(12, dtype=np.int32)[::-1].copy()
    cells = np.array([[2, 0], [1, 2], [0, 1], [2, 0], [2, 0]], np.int32)
    found, scores = np.full((5, 6), -1, np.int32), np.zeros((5, 6), np.float32)
    units = np.linspace(0.5, 1, 12, dtype=np.float32)
    cell_kernels.search_cells(0, 5, queries, cells, pointers, numbers, units, ids, 6, found, scores)
    places = [
        [*range(7, 12), 0],
        [4, 5, 6, 7, 8, 9],
        [0, 1, 2, 3, 4, 5],
        [*range(7, 12), 0],
        [*range(7, 12), 0],
    ]
    for query, own in enumerate(places):
        expected = units[own] * (numbers[own].astype(int) @ queries[query])
        assert found[query].tolist() == ids[own][np.argsort(-expected)].tolist()
        np.testing.assert_allclose(scores[query], np.sort(expected)[::-1], rtol=1e-6)


def test_an_approximate_search_among_zeros_finds_nothing() -> None:
    zeros = np.zeros((100, 8), np.float32)
    with executing(Execution(device="cpu")):
        ids, _ = dense_top_k(np.eye(2, 8, dtype=np.float32), zeros, 5, search="approximate")
    assert (ids == -1).all()


def test_vectors_that_repeat_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    distinct = unit_rows(random.standard_normal((300, 8), np.float32))
    queries, items = distinct[random.integers(0, 300, 5000)], distinct[random.integers(0, 100, 7000)]
    asked = []
    real = dense.nearest_block

    def nearest_block(first: int, last: int, *shared):
        asked.append(last - first)
        return real(first, last, *shared)

    with executing(Execution(device="cpu")):
        expected = dense_top_k(queries, items, 5, search="exact")
        monkeypatch.setattr(dense, "nearest_block", nearest_block)
        monkeypatch.setattr(dense, "APPROXIMATE_FROM", 5000 * 7000)
        ids, scores = dense_top_k(queries, items, 5)
    assert sum(asked) == 300
    assert ids.tolist() == expected[0].tolist()
    np.testing.assert_allclose(scores, expected[1], rtol=1e-6)


def test_vectors_with_the_same_hash_code_are_not_taken_for_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "_hash_rows", lambda first, last, words, codes: codes.fill(0))
    first, number = repeats.numbered(np.float32([[1, 0], [0, 1], [1, 0], [0, 1]]))
    assert (first.tolist(), number.tolist()) == ([0, 1, 3], [0, 1, 0, 2])
