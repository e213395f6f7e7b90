"""Stages of the name channel run in jobs: block sizes, threads and interruptions leave no trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pytest

from largeea.execution import Execution, executing
from largeea.execution.jobs import row_blocks, storing_jobs
from largeea.graph import Arrays, Attributes, KnowledgeGraph, Links, strings
from largeea.graph.same_iri import matched_kinds
from largeea.names import blocks
from largeea.names.channel import (
    name_features,
    name_rows,
    ngram_similarity,
    ngram_vectors,
    semantic_names,
    string_names,
    vector_similarity,
)
from largeea.names.rows import Columns
from largeea.names.strings import spelling
from largeea.search import dense, sparse
from largeea.search.vectors import unit_rows
from largeea.similarity import Similarity

CUT = (blocks, spelling, sparse, dense)
"""Modules that cut their work into blocks."""


def graph(seed: int, size: int = 700, alias: bool = True) -> KnowledgeGraph:
    """Names of two random words, some in brackets, some missing; every third entity has an alias."""
    random = np.random.default_rng(seed)
    words = ["".join(word) for word in np.random.default_rng(0).choice(list("abcdeé"), (60, 5))]
    names = [" ".join(random.choice(words, 2)) for _ in range(size)]
    names = [f"{name} ({words[i % 60]})" if i % 7 == 0 else name for i, name in enumerate(names)]
    texts = sorted({" ".join(random.choice(words, 2)) for _ in range(size)})
    entity = np.arange(0, size if alias else 0, 3)
    value = random.integers(0, len(texts), len(entity))
    rows = np.stack([entity, np.zeros_like(entity), value, np.zeros_like(entity)], axis=1)
    label = "http://www.w3.org/2004/02/skos/core#altLabel"
    attributes = Attributes(rows, strings([label]), strings(texts), strings(["@en"]))
    named = strings([None if i % 11 == 0 else name for i, name in enumerate(names)])
    iris = strings([f"urn:e{i:05}" for i in range(size)])
    return KnowledgeGraph(iris, named, strings(), np.empty((0, 3)), attributes)


def rows_of(source: KnowledgeGraph, target: KnowledgeGraph) -> Columns:
    return name_rows(source, target, matched_kinds(source, target, Links.none()), 8, ())


@pytest.fixture(scope="module")
def rows() -> Columns:
    return rows_of(graph(1), graph(2))


@pytest.fixture(scope="module")
def vectors(rows: Columns) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    sizes = {side: len(rows[f"{side}_entity"]) for side in ("source", "target")}
    return {side: unit_rows(random.standard_normal((n, 12), np.float32)) for side, n in sizes.items()}


def every_stage(rows: Columns, vectors: dict[str, np.ndarray]) -> list[bytes]:
    """The results of all stages, as bytes."""
    by_ngrams = ngram_similarity(rows, ngram_vectors(rows, 2, 4, True), 20, True)
    by_vectors = vector_similarity(rows, vectors, 20, "manhattan", "exact")
    spelt = string_names(rows, 20, 0.3, seed=5)
    both = semantic_names(by_vectors, by_ngrams, 0.5, 20)
    return [
        as_bytes(found) for found in (by_ngrams, by_vectors, spelt, both, name_features(both, spelt, 0.3, 15))
    ]


def as_bytes(found: Similarity) -> bytes:
    assert len(found)
    return found.indptr.tobytes() + found.indices.tobytes() + found.scores.tobytes()


def cut_into(size: int, patch: pytest.MonkeyPatch) -> None:
    def blocks_of(count: int, *, multiple_of: int = 1, **_: int) -> list[tuple[int, int]]:
        return row_blocks(count, least=size, most=size, multiple_of=multiple_of)

    for module in CUT:
        patch.setattr(module, "row_blocks", blocks_of)


@pytest.mark.parametrize(("threads", "size"), [(1, 100), (2, 37), (3, 1000)])
def test_threads_and_blocks_do_not_change_results(rows, vectors, threads, size, monkeypatch) -> None:
    expected = every_stage(rows, vectors)
    cut_into(size, monkeypatch)
    with executing(Execution(threads=threads)):
        assert every_stage(rows, vectors) == expected


def test_no_alias_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(graph(1, alias=False), graph(2, alias=False))
    expected = as_bytes(ngram_similarity(rows, ngram_vectors(rows, 2, 3, False), 20, False))
    cut_into(50, monkeypatch)
    assert as_bytes(ngram_similarity(rows, ngram_vectors(rows, 2, 3, False), 20, False)) == expected


class Kept:
    """Keeps the results of jobs in memory; fails when it has kept `most`."""

    def __init__(self, most: int) -> None:
        self.results: dict[str, Arrays] = {}
        self.most = most

    def load(self, job: str) -> Arrays | None:
        return self.results.get(job)

    def save(self, job: str, result: Arrays) -> None:
        if len(self.results) == self.most:
            raise InterruptedError
        self.results[job] = {name: array.copy() for name, array in result.items()}


STAGES: list[tuple[Any, str, Callable[[Columns, dict[str, np.ndarray]], Similarity]]] = [
    (
        sparse,
        "search_block",
        lambda rows, vectors: ngram_similarity(rows, ngram_vectors(rows, 2, 4, True), 20, True),
    ),
    (spelling, "match_block", lambda rows, vectors: string_names(rows, 20, 0.3, seed=5)),
    (
        dense,
        "nearest_block",
        lambda rows, vectors: vector_similarity(rows, vectors, 20, "cosine", "exact"),
    ),
]


@pytest.mark.parametrize(("module", "job", "stage"), STAGES, ids=[job for _, job, _ in STAGES])
def test_finished_jobs_are_not_repeated(rows, vectors, module, job, stage, monkeypatch) -> None:
    cut_into(150, monkeypatch)
    monkeypatch.setattr(dense, "QUERIES_AT_ONCE", 150)
    expected = as_bytes(stage(rows, vectors))
    done = []
    function = getattr(module, job)

    @wraps(function)
    def counted(first: int, *rest: Any) -> Arrays:
        done.append(first)
        return function(first, *rest)

    monkeypatch.setattr(module, job, counted)
    store = Kept(most=2)
    with executing(Execution(threads=1)):
        with pytest.raises(InterruptedError), storing_jobs(store):
            stage(rows, vectors)
        begun, store.most = len(done), 100
        with storing_jobs(store):
            again = stage(rows, vectors)
    jobs = len(set(done))
    assert jobs >= 4
    assert begun == 3
    assert len(done) - begun == jobs - 2
    assert as_bytes(again) == expected
