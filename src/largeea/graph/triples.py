"""Statistics of the relations in triples `[n, 3]`."""

from __future__ import annotations

import numpy as np

from largeea.graph.arrays import Float64, Int32, Int64


def functionality(triples: Int32 | Int64, relations: int) -> tuple[Float64, Float64]:
    """Return the functionality and inverse functionality of each relation, `[relations]` each, in [0, 1].

    Functionality is the number of distinct heads per triple: 1 if every head has one tail. Inverse
    functionality is the number of distinct tails per triple: 1 if every tail has one head. Both are 0 for a
    relation without triples.
    """
    relation = triples[:, 1].astype(np.int64)
    count = np.maximum(np.bincount(relation, minlength=relations), 1)

    def distinct(column: int) -> Float64:
        pairs = np.sort(triples[:, column] * np.int64(relations) + relation)
        distinct_pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])] if len(pairs) else pairs
        return np.bincount(distinct_pairs % max(relations, 1), minlength=relations) / count

    return distinct(0), distinct(2)
