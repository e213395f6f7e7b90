"""Candidates that share rare literal values, whatever properties they have them by."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largeea.evidence.attributes.facts import Facts
from largeea.evidence.attributes.values import Values, ValueTable
from largeea.graph import Arrays, Float64, Int64
from largeea.graph.ranges import expand_ranges
from largeea.search.sparse import sparse_top_k
from largeea.similarity import Similarity

COMMON_SHARE = 0.05
"""A value or token that a larger share of a graph's entities has proposes nothing."""
COMMON_LIMITS = 100, 1000
"""Entities that a common value or token has at least, and that one that proposes has at most."""


def propose_by_values(values: dict[str, Any], kinds: Arrays, top_k: int) -> Similarity:
    """The `top_k` targets of each source that share the rarest values and tokens with it.

    Cosines in (0, 1] of vectors whose features are values and their tokens, weighted by `log(n / df)`. Pairs
    that share nothing rare are absent, and so are pairs of unequal `kinds` (see `matched_kinds`). Mutual best
    pairs are first anchors where entities have no names.
    """
    columns = Values.of(values)
    source, target = (_features(side, columns.table) for side in (columns.source, columns.target))
    entities = sum(int((np.diff(side.indptr) > 0).sum()) for side in (source, target))
    frequencies = [np.bincount(side.indices, minlength=side.shape[1]) for side in (source, target)]
    rare = np.ones(source.shape[1], bool)
    for side, frequency in zip((source, target), frequencies, strict=True):
        rare &= frequency <= np.clip(COMMON_SHARE * side.shape[0], *COMMON_LIMITS)
    idf = np.log((1 + entities) / (1 + np.minimum(sum(frequencies, np.int64(0)), entities)))
    shared = np.flatnonzero(rare & (frequencies[0] > 0) & (frequencies[1] > 0) & (idf > 0))
    vectors = [_weighted(side, np.where(rare, idf, 0), shared) for side in (source, target)]
    ids, scores = sparse_top_k(vectors[0], vectors[1], top_k, stored=True)
    found = Similarity.from_top_k(ids, np.minimum(scores, 1), columns.shape[1])
    in_scope = found.restrict(kinds["source"] >= 0, kinds["target"] >= 0)
    return in_scope.of_equal_kind(kinds["source"], kinds["target"])


def _features(facts: Facts, table: ValueTable) -> sp.csr_array:
    """Which entities have which features, `[entities, tokens + values]`; every entry is 1.

    The features of a value are its tokens and, if it has several, the value itself.
    """
    groups = np.repeat(np.arange(len(facts.pointers) - 1), np.diff(facts.pointers))
    entity = np.repeat(groups, np.diff(facts.starts))
    sizes = np.diff(table.token_pointers)
    count = sizes[facts.value]
    fact, at = expand_ranges(table.token_pointers[facts.value], count)
    several = np.flatnonzero(count > 1)
    tokens = len(table.token_weight)
    rows = np.concatenate([entity[fact], entity[several]])
    columns = np.concatenate(
        [table.token[at].astype(np.int64), tokens + facts.value[several].astype(np.int64)]
    )
    shape = len(facts.pointers) - 1, tokens + len(table.kind)
    found = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    found.sum_duplicates()
    return found


def _weighted(features: sp.csr_array, idf: Float64, shared: Int64) -> sp.csr_array:
    """Vectors of length 1 over all features, cut to the `shared` ones."""
    rows = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    weight = idf[features.indices]
    length = np.sqrt(np.bincount(rows, weight * weight, minlength=features.shape[0]))
    weight /= np.maximum(length, 1e-12)[rows]
    place = np.full(features.shape[1], -1, np.int64)
    place[shared] = np.arange(len(shared))
    kept = place[features.indices] >= 0
    entries = weight[kept].astype(np.float32), (rows[kept], place[features.indices[kept]])
    return sp.csr_array(entries, shape=(features.shape[0], len(shared)))
