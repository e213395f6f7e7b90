"""Blocks: rules that only entities with something in common may be paired.

A rule gives each entity a set of blocks. Two entities may be paired if their sets have a block in common, or
if one of them has no block: nothing is known about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from largeea.execution.jobs import over_rows
from largeea.graph import Arrays, Bool, Int32, Int64, Links
from largeea.graph.ranges import expand_ranges
from largeea.matching.forbidden import without_pairs
from largeea.matching.kernels import mark_sharing
from largeea.similarity import Similarity

Sets: TypeAlias = tuple[Int64, Int32]
"""The blocks of each entity in CSR form: pointers `[size + 1]`, and the blocks `[n]`, ascending."""


def sets_of(entity: Int32, block: Int32, size: int) -> Sets:
    """Return the sets of `size` entities from pairs of entity and block, in any order."""
    order = np.lexsort((block, entity))
    entity, block = entity[order], block[order]
    new = np.ones(len(entity), bool)
    new[1:] = (entity[1:] != entity[:-1]) | (block[1:] != block[:-1])
    pointers = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(entity[new], minlength=size), out=pointers[1:])
    return pointers, block[new].astype(np.int32)


def stored_rules(rules: list[tuple[Sets, Sets]]) -> Arrays:
    """Return the source and target sets of each rule as arrays by name, to be stored."""
    stored: Arrays = {}
    for number, rule in enumerate(rules):
        for side, (pointers, blocks) in zip(("source", "target"), rule, strict=True):
            stored |= {f"{number}/{side}/pointers": pointers, f"{number}/{side}/blocks": blocks}
    return stored


def allowed_pairs(similarity: Similarity, forbidden: Links | None, rules: Arrays | None) -> Similarity:
    """Return the matrix without the forbidden pairs and without those that a rule forbids."""
    found = similarity if forbidden is None else without_pairs(similarity, forbidden)
    if rules is None:
        return found
    kept = np.ones(len(found), bool)
    for sets in _rules(rules):
        over_rows(mark_sharing, found.shape[0], found.indptr, found.indices, *sets, kept)
    return found.keep(kept)


def allowed_links(links: Links, rules: Arrays) -> Bool:
    """Return which of the links no rule forbids, `[n]`."""
    kept, each = np.ones(len(links), bool), np.arange(len(links) + 1, dtype=np.int64)
    for pointers, blocks, *theirs in _rules(rules):
        counts = np.diff(pointers)[links.source]
        starts = np.append(0, np.cumsum(counts))
        _, taken = expand_ranges(pointers[links.source], counts)
        targets = np.ascontiguousarray(links.target)
        mark_sharing(0, len(links), each, targets, starts, blocks[taken], *theirs, kept)
    return kept


def _rules(rules: Arrays) -> Iterator[tuple[Int64, Int32, Int64, Int32]]:
    """Yield the source sets and target sets of each rule."""
    for number in range(len(rules) // 4):
        pointers, blocks, pointers_t, blocks_t = (
            rules[f"{number}/{name}"]
            for name in ("source/pointers", "source/blocks", "target/pointers", "target/blocks")
        )
        yield pointers, blocks, pointers_t, blocks_t
