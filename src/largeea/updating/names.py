"""Names compared again where they changed: new and renamed entities with all others, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.evidence.anchors import not_in, without_seeds
from largeea.evidence.graphs import GraphPair
from largeea.graph import Arrays, Bool, Links
from largeea.graph.lookup import places_in
from largeea.names.blocks import fold
from largeea.names.encoders import encode_unique, load_encoder
from largeea.names.rows import Columns, Names
from largeea.names.semantic import SIDES, Vectors, ngram_similarity
from largeea.names.strings import string_names
from largeea.round_evidence import keeping, names_nearby
from largeea.search import dense_top_k
from largeea.similarity import Similarity
from largeea.updating.moved import moved_matrix

Compare = Callable[[Bool, Bool], Similarity]
"""The similarities of some sources and some targets, given by masks of entities."""


def ngrams_of_renamed(
    old: Similarity, moved: Arrays, renamed: Arrays, rows: Columns, ngrams: Arrays, top_k: int, *how: Any
) -> Similarity:
    """`ngram_similarity`: old scores for pairs of unchanged names, new ones for all others."""
    names = Names.from_columns(rows)

    def compare(*masks: Bool) -> Similarity:
        some = dict(ngrams)
        for side, mask in zip(SIDES, masks, strict=True):
            some |= _only_rows(ngrams, side, mask[getattr(names, side).entity])
        return ngram_similarity(rows, some, top_k, *how)

    return _compared_again(old, moved, renamed, top_k, compare)


def strings_of_renamed(
    old: Similarity, moved: Arrays, renamed: Arrays, rows: Columns, top_k: int, *how: Any
) -> Similarity:
    """`string_names`: old scores for pairs of unchanged names, new ones for all others."""
    names = Names.from_columns(rows)

    def compare(*masks: Bool) -> Similarity:
        latin = {
            f"{side}_latin": pc.if_else(pa.array(mask[rows_of.entity]), rows_of.latin, None)
            for side, rows_of, mask in zip(SIDES, (names.source, names.target), masks, strict=True)
        }
        return string_names(rows | latin, top_k, *how)

    return _compared_again(old, moved, renamed, top_k, compare)


def vectors_of_renamed(
    old: Similarity,
    moved: Arrays,
    renamed: Arrays,
    rows: Columns,
    vectors: Vectors,
    top_k: int,
    metric: str,
    search: str,
) -> Similarity:
    """`vector_similarity`: old scores for pairs of unchanged names, new ones for all others."""
    names = Names.from_columns(rows)
    shape = len(names.source), len(names.target)

    def compare(*masks: Bool) -> Similarity:
        places = [
            np.flatnonzero(mask[side.entity])
            for side, mask in zip((names.source, names.target), masks, strict=True)
        ]
        queries, items = (
            vectors[side][chosen].astype(np.float32) for side, chosen in zip(SIDES, places, strict=True)
        )
        found = Similarity.from_top_k(
            *dense_top_k(queries, items, top_k, metric=metric, search=search), len(items)
        )
        ends = places[0][found.rows], places[1][found.indices]
        return fold(names, Similarity.from_entries(*ends, found.scores, shape, found.floor), top_k)

    return _compared_again(old, moved, renamed, top_k, compare)


def encode_new_names(
    old: Vectors, old_rows: Columns, rows: Columns, encoder: str, dtype: str, fingerprint: str
) -> Vectors:
    """`encode_names`: only names that neither old graph has are encoded."""
    known = pa.concat_arrays([old_rows[f"{side}_texts"] for side in SIDES])
    texts = pa.concat_arrays([rows[f"{side}_texts"] for side in SIDES])
    place = places_in(texts, known)
    vectors = np.concatenate([old[side] for side in SIDES])[place]
    vectors[place < 0] = 0
    new = (place < 0) & np.asarray(pc.is_valid(texts))
    if new.any():
        vectors[new] = encode_unique(load_encoder(encoder, dtype=dtype), texts.filter(pa.array(new)))
    ours = len(rows["source_texts"])
    return {"source": vectors[:ours], "target": vectors[ours:]}


def nearby_names_again(
    old: Similarity,
    moved: Arrays,
    renamed: Arrays,
    names: Similarity,
    _earlier_round: None,
    rows: Columns,
    ngrams: Arrays,
    vectors: Vectors | None,
    edges: dict[str, Any],
    anchors: Links,
    agreement: Similarity,
    kinds: Arrays,
    apart: Links,
    *how: Any,
) -> Similarity:
    """`names_nearby` for sources that are renamed, or have no anchor and are near something that changed.

    Others keep their nearby targets.
    """
    near = _near_changes(GraphPair.of(edges), anchors, moved)
    again = not_in(anchors, names.shape)[0] & near | renamed["source"]
    kept = without_seeds(moved_matrix(old, moved, renamed | {"source": again}), apart)
    names, compared = keeping(kept, again, names, kinds)
    return names_nearby(names, None, rows, ngrams, vectors, edges, anchors, agreement, compared, apart, *how)


def _near_changes(graphs: GraphPair, anchors: Links, moved: Arrays) -> Bool:
    """Mask of the sources that changed, or whose neighbours are counterparts or values of changed targets."""
    sources, targets = graphs.shape
    source, target = graphs.source, graphs.target
    changed = np.zeros(target.nodes, bool)
    changed[:targets] = moved["changed_target"] > 0
    beside = target.neighbour[changed[target.node]]
    counterparts = np.zeros(source.nodes, bool)
    counterparts[anchors.source[changed[anchors.target]]] = True
    counterparts[beside[beside >= targets] - targets + sources] = True
    near = np.zeros(source.nodes, bool)
    near[source.node[counterparts[source.neighbour]]] = True
    return near[:sources] | (moved["changed_source"] > 0)


def _compared_again(
    old: Similarity, moved: Arrays, renamed: Arrays, top_k: int, compare: Compare
) -> Similarity:
    """Old scores of pairs of unchanged entities; those of renamed ones, with all others, compared again."""
    parts = [moved_matrix(old, moved, renamed)]
    again, others = renamed["source"], renamed["target"]
    if again.any():
        parts.append(compare(again, np.ones(len(others), bool)))
    if others.any():
        parts.append(compare(~again, others))
    return _union(parts).top_k(top_k)


def _union(parts: list[Similarity]) -> Similarity:
    """One matrix of several that have no pair in common."""
    if len(parts) == 1:
        return parts[0]
    rows, columns, scores = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "indices", "scores")
    )
    floor = min(part.floor for part in parts)
    return Similarity.from_entries(rows, columns, scores, parts[0].shape, floor)


def _only_rows(ngrams: Arrays, side: str, mask: Bool) -> Arrays:
    """The n-gram vectors of one side with empty rows outside of a mask."""
    counts = np.diff(ngrams[f"{side}_indptr"])
    kept = np.repeat(mask, counts)
    return {
        f"{side}_indptr": np.concatenate([[0], np.cumsum(np.where(mask, counts, 0))]),
        f"{side}_indices": ngrams[f"{side}_indices"][kept],
        f"{side}_data": ngrams[f"{side}_data"][kept],
    }
