"""Blocks of rows: what jobs return of a matrix, and the matrix that they make up."""

from __future__ import annotations

import numpy as np

from largeea.execution.jobs import over_rows
from largeea.graph import Arrays
from largeea.similarity.arrays import new_entries, row_pointers
from largeea.similarity.matrix import Similarity


def block_arrays(similarity: Similarity) -> Arrays:
    """Return a block of rows as the result of a job."""
    return {
        "sizes": np.diff(similarity.indptr),
        "indices": similarity.indices,
        "scores": similarity.scores,
        "floor": np.array([similarity.floor]),
    }


def stacked(blocks: list[Arrays], shape: tuple[int, int]) -> Similarity:
    """Return one matrix of blocks that follow each other; their entries are taken out of them."""
    floor = min((float(block["floor"][0]) for block in blocks), default=0.0)
    indptr = row_pointers(np.concatenate([np.zeros(0, np.int64), *(block["sizes"] for block in blocks)]))
    indices, scores = new_entries(indptr)
    starts = row_pointers(np.array([len(block["indices"]) for block in blocks], np.int64))

    def take(first: int, last: int) -> None:
        for number in range(first, last):
            entries = slice(starts[number], starts[number + 1])
            indices[entries], scores[entries] = blocks[number].pop("indices"), blocks[number].pop("scores")

    over_rows(take, len(blocks), least=1)
    return Similarity(shape, indptr, indices, scores, floor)
