"""Similarities computed in blocks of rows, so that the working memory stays small."""

from __future__ import annotations

import numpy as np

from largeea.execution.jobs import in_order, over_rows, row_blocks, run_jobs
from largeea.graph import Arrays, Float32, Int32, Int64
from largeea.names.rows import Names
from largeea.similarity import Similarity
from largeea.similarity.kernels import rows_by_id

ROWS_PER_JOB = 4096


def matrix_of(ids: Int32, scores: Float32, targets: int) -> Similarity:
    """The matrix of a top-k search, `[n, targets]`, made on all threads: `Similarity.from_top_k` uses one."""
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(ids >= 0, axis=1))])
    indices, kept = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)

    def sort_rows(first: int, last: int) -> None:
        part = slice(first, last)
        rows_by_id(ids[part], scores[part], indptr[first : last + 1], indices, kept)

    over_rows(sort_rows, len(ids))
    return Similarity((len(ids), targets), indptr, indices, kept, min(0.0, float(kept.min(initial=0.0))))


def fold(names: Names, by_name: Similarity, top_k: int) -> Similarity:
    """From names to entities: the best pair of their names counts, `[source.size, target.size]`.

    Only entities of equal kind are paired. `by_name[source rows, target rows]` is returned as it is where no
    entity has an alias and all are of one kind.
    """
    shape = names.source.size, names.target.size
    kinds = names.source.kind, names.target.kind
    if max(side.max(initial=0) for side in kinds) > 0:
        rows = kinds[0][names.source.entity], kinds[1][names.target.entity]
        by_name = by_name.of_equal_kind(*rows)
    if by_name.shape == shape:
        return by_name
    blocks = row_blocks(shape[0], most=ROWS_PER_JOB)
    return _stacked(in_order(run_jobs(fold_block, blocks, names, by_name, top_k, stored=False)), shape)


def fold_block(first: int, last: int, names: Names, by_name: Similarity, top_k: int) -> Arrays:
    """The rows of the entities `first:last`, from those of their main names and of their aliases."""
    source, target = names.source, names.target
    aliases = source.size + np.searchsorted(source.entity[source.size :], [first, last])
    rows = np.concatenate([np.arange(first, last), np.arange(*aliases)])
    entries = np.concatenate([_entries(by_name, first, last), _entries(by_name, *aliases)])
    row = np.repeat(rows, by_name.indptr[rows + 1] - by_name.indptr[rows])
    column = by_name.indices[entries]
    scores = by_name.scores[entries] * source.weights[row] * target.weights[column]
    shape = last - first, target.size
    block = Similarity.from_entries(source.entity[row] - first, target.entity[column], scores, shape)
    return _arrays(block.top_k(top_k))


def weighted_mean(one: Similarity, other: Similarity, weight: float, top_k: int) -> Similarity:
    """`(one + weight * other) / (1 + weight)`, the `top_k` best of each source."""
    blocks = row_blocks(one.shape[0], most=ROWS_PER_JOB)
    results = in_order(run_jobs(mean_block, blocks, one, other, weight, top_k, stored=False))
    return _stacked(results, one.shape)


def weighted_mean_memory(rows: int, top_k: int, threads: int) -> int:
    """Bytes that `weighted_mean` needs at its peak for matrices of so many rows, its result included."""
    return 17 * rows * top_k + 20 * threads * min(rows, ROWS_PER_JOB) * top_k


def mean_block(
    first: int, last: int, one: Similarity, other: Similarity, weight: float, top_k: int
) -> Arrays:
    """The rows `first:last` of the weighted mean."""
    both = _rows(one, first, last) + _rows(other, first, last).scale(weight)
    return _arrays(both.scale(1 / (1 + weight)).top_k(top_k))


def _rows(similarity: Similarity, first: int, last: int) -> Similarity:
    """The rows `first:last` as a matrix of their own."""
    pointer = similarity.indptr[first : last + 1]
    span = slice(pointer[0], pointer[-1])
    shape = last - first, similarity.shape[1]
    return Similarity(
        shape, pointer - pointer[0], similarity.indices[span], similarity.scores[span], similarity.floor
    )


def _entries(similarity: Similarity, first: int, last: int) -> Int64:
    """The places of all entries of the rows `first:last`."""
    return np.arange(similarity.indptr[first], similarity.indptr[last])


def _arrays(similarity: Similarity) -> Arrays:
    return {
        "sizes": np.diff(similarity.indptr),
        "indices": similarity.indices,
        "scores": similarity.scores,
        "floor": np.array([similarity.floor]),
    }


def _stacked(blocks: list[Arrays], shape: tuple[int, int]) -> Similarity:
    """One matrix of blocks that follow each other."""
    floor = min((float(block["floor"][0]) for block in blocks), default=0.0)
    indptr = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(block["sizes"] for block in blocks)]))
    indices, scores = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    start = 0
    for block in blocks:
        end = start + len(block["indices"])
        indices[start:end], scores[start:end] = block.pop("indices"), block.pop("scores")
        start = end
    return Similarity(shape, indptr, indices, scores, floor)
