"""Equal main names, which tell more than the most similar ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
    words = pc.dictionary_encode(pa.concat_arrays(mains)).indices
    word = np.asarray(pc.fill_null(words, -1), np.int32)
    source, target = word[: known.source.size][names.rows], word[known.source.size :][names.indices]
    equal = (source == target) & (source >= 0)
    scores = (names.scores + np.float32(BONUS) * equal) / np.float32(1 + BONUS)
    return Similarity(names.shape, names.indptr, names.indices, np.clip(scores, 0, 1), names.floor)
