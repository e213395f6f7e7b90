"""Equal main names, which tell more than the most similar ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32, Int64
from largeea.graph.interning import encoded
from largeea.names.rows import Columns, Names
from largeea.similarity import Similarity

BONUS = 0.15
"""What equal main names add to the score of a pair, before scores are scaled back to [0, 1]."""
LEAST_IF_EQUAL = 1 / (1 + BONUS)
"""No other pair has a higher score than this."""


def favour_equal_names(names: Similarity, rows: Columns) -> Similarity:
    """Return the scores in [0, 1], with a bonus for pairs whose main names are equal as Latin words."""
    known = Names.from_columns(rows)
    mains = [side.latin.slice(0, side.size) for side in (known.source, known.target)]
    word = encoded(pa.concat_arrays(mains)).places
    scores = np.empty(len(names), np.float32)
    over_rows(
        _with_bonus, names.shape[0], names.indptr, names.indices, names.scores,
        word[: known.source.size], word[known.source.size :], scores,
    )  # fmt: skip
    return Similarity(names.shape, names.indptr, names.indices, scores, names.floor)


@njit(cache=True, nogil=True)
def _with_bonus(
    first: int,
    last: int,
    pointers: Int64,
    indices: Int32,
    scores: Float32,
    source_words: Int32,
    target_words: Int32,
    raised: Float32,
) -> None:
    """Write the scores of the rows `first:last`, raised where both ends have the same word (not -1)."""
    bonus, whole = np.float32(BONUS), np.float32(1 + BONUS)
    for row in range(first, last):
        word = source_words[row]
        for entry in range(pointers[row], pointers[row + 1]):
            is_equal = word >= 0 and word == target_words[indices[entry]]
            score = (scores[entry] + (bonus if is_equal else np.float32(0))) / whole
            raised[entry] = min(max(score, np.float32(0)), np.float32(1))
