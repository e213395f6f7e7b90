"""Similarities computed in blocks of rows, so that the working memory stays small."""

from __future__ import annotations

import numpy as np

from largeea.execution.jobs import in_order, row_blocks, run_jobs
from largeea.graph import Arrays, Int64
from largeea.matching.sums import top_k_of_sum
from largeea.names.rows import Names
from largeea.similarity import Similarity
from largeea.similarity.blocks import block_arrays, stacked

ROWS_PER_JOB = 4096


def fold(names: Names, by_name: Similarity, top_k: int) -> Similarity:
    """From names to entities: the best pair of their names counts, `[source.size, target.size]`.

    Only entities of equal kind are paired. `by_name[source rows, target rows]` is returned as it is where no
    entity has an alias, all names count the same and all entities are of one kind.
    """
    shape = names.source.size, names.target.size
    kinds = names.source.kind, names.target.kind
    if max(side.max(initial=0) for side in kinds) > 0:
        rows = kinds[0][names.source.entity], kinds[1][names.target.entity]
        by_name = by_name.of_equal_kind(*rows)
    if by_name.shape == shape and all((side.weights == 1).all() for side in (names.source, names.target)):
        return by_name
    blocks = row_blocks(shape[0], most=ROWS_PER_JOB)
    return stacked(in_order(run_jobs(fold_block, blocks, names, by_name, top_k, stored=False)), shape)


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
    return block_arrays(block.top_k(top_k))


def weighted_mean(one: Similarity, other: Similarity, weight: float, top_k: int) -> Similarity:
    """`(one + weight * other) / (1 + weight)`, the `top_k` best of each source."""
    return top_k_of_sum([one, other], top_k, [1.0, weight], factor=1 / (1 + weight))


def weighted_mean_memory(rows: int, top_k: int, threads: int) -> int:
    """Bytes that `weighted_mean` needs at its peak for matrices of so many rows, its result included."""
    return 17 * rows * top_k + 20 * threads * min(rows, ROWS_PER_JOB) * top_k


def _entries(similarity: Similarity, first: int, last: int) -> Int64:
    """The places of all entries of the rows `first:last`."""
    return np.arange(similarity.indptr[first], similarity.indptr[last])
