"""Names of nearby targets: those that a search by name does not keep are scored as if it had."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from largeea.graph import KnowledgeGraph, Links, strings
from largeea.graph.same_iri import matched_kinds
from largeea.names.channel import name_features, name_rows, ngram_similarity, ngram_vectors, string_names
from largeea.names.equal import favour_equal_names
from largeea.names.nearby import NearbyNames, _sharing_ngrams, _signatures
from largeea.names.rows import Columns
from largeea.names.semantic import CSR_PARTS, SIDES, Vectors
from largeea.similarity import Similarity

SOURCE = ["river plate bridge", "old castle", "green door"]
TARGET = ["plate tectonics", "old castle hill", "castle", "grand doorway", "bridge of spies", "plates"]
GAMMA = 0.15


def graph(names: list[str]) -> KnowledgeGraph:
    iris = strings(f"urn:{number}" for number in range(len(names)))
    return KnowledgeGraph(iris, strings(names), strings(), np.empty((0, 3), np.int32))


@pytest.fixture
def rows() -> Columns:
    source, target = graph(SOURCE), graph(TARGET)
    return name_rows(source, target, matched_kinds(source, target, Links.none()), 0, ())


def channel(rows: Columns, top_k: int) -> Similarity:
    """The whole name channel; no two names are spelt alike, so that strings add nothing."""
    semantic = ngram_similarity(rows, ngram_vectors(rows, 2, 4, True), top_k, True)
    strings_found = string_names(rows, top_k, 0.9, seed=0)
    assert not len(strings_found)
    return favour_equal_names(name_features(semantic, strings_found, GAMMA, top_k), rows)


def added(
    names: Similarity, rows: Columns, nearby: Similarity, per_source: int, vectors: Vectors | None = None
) -> Similarity:
    ngrams = ngram_vectors(rows, 2, 4, True)
    return names + NearbyNames(rows, ngrams, vectors, True, 0.5, GAMMA).best(nearby, names, per_source)


def everything_nearby(shape: tuple[int, int]) -> Similarity:
    return Similarity.from_entries(*np.indices(shape).reshape(2, -1), np.full(shape, 0.1).ravel(), shape)


def test_scores_are_those_of_the_whole_channel(rows: Columns) -> None:
    few, all_of_them = channel(rows, 1), channel(rows, 6)
    found = added(few, rows, everything_nearby(few.shape), 6)
    np.testing.assert_allclose(found.to_dense(), all_of_them.to_dense(), atol=1e-6)


def test_the_most_similar_of_the_nearby_ones_are_added(rows: Columns) -> None:
    few, all_of_them = channel(rows, 1), channel(rows, 6).to_dense()
    nearby = Similarity.from_entries([0, 0, 2], [0, 5, 2], [0.9, 0.2, 0.5], few.shape)
    found = added(few, rows, nearby, 1).to_dense()
    best, other = sorted((0, 5), key=lambda target: -all_of_them[0, target])
    assert found[0, best] == pytest.approx(all_of_them[0, best], abs=1e-6)
    assert found[0, other] == few.to_dense()[0, other], "one for each source"
    assert found[1].tolist() == few.to_dense()[1].tolist(), "nothing is near it"


def test_an_encoder_counts_too(rows: Columns) -> None:
    few = channel(rows, 1)
    turned = np.eye(6, dtype=np.float16)
    vectors = {"source": turned[[3, 4, 5]], "target": turned}
    nearby = Similarity.from_entries([0, 0], [3, 5], [0.5, 0.5], few.shape)
    found = added(few, rows, nearby, 1, vectors).to_dense()
    assert found[0, 3] > 0.4, "its vectors are equal, its letters are not"
    assert found[0, 5] == 0


def test_signatures_count_the_ngrams_two_names_share() -> None:
    random = np.random.default_rng(0)
    vectors = [sp.random_array((30, 5000), density=0.004, random_state=random).tocsr() for _ in SIDES]
    ngrams = {
        f"{side}_{part}": getattr(one, part)
        for side, one in zip(SIDES, vectors, strict=True)
        for part in CSR_PARTS
    }
    has = [one.astype(bool).astype(int) for one in vectors]
    exact = (has[0] @ has[1].T).toarray() / np.sqrt(np.diff(vectors[1].indptr))
    signatures = [_signatures(ngrams, side) for side in SIDES]
    found = _sharing_ngrams(everything_nearby((30, 30)), *signatures, ngrams).to_dense()
    assert (found >= exact - 1e-6).all(), "two n-grams may share a bit, and none loses its own"
    assert (found - exact).mean() < 0.1
