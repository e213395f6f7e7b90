"""Forbidden pairs (cannot-links): pairs that people have said are wrong. They are never candidates."""

from __future__ import annotations

import numpy as np

from largeea.graph import Int64, Links
from largeea.similarity import Similarity


def without_pairs(similarity: Similarity, forbidden: Links) -> Similarity:
    """Return the matrix without the entries of the forbidden pairs."""
    if not len(forbidden) or not len(similarity):
        return similarity
    kept = np.ones(len(similarity), bool)
    kept[_entries_of(similarity, forbidden)] = False
    return similarity.keep(kept)


def without_links(links: Links, others: Links) -> Links:
    """Return the links that are not among the others."""
    return links.take(~links.are_in(others))


def both_ways(links: Links) -> Links:
    """Return the links and the same ones with source and target swapped, as pairs of one graph are known."""
    return Links(np.concatenate([links.pairs, links.pairs[:, ::-1]]))


def _entries_of(similarity: Similarity, links: Links) -> Int64:
    """Positions of those links that the matrix has: a binary search in all their rows at once."""
    first, end = similarity.indptr[links.source], similarity.indptr[links.source + 1]
    last = end.copy()
    while (open_rows := first < last).any():
        middle = (first + last) // 2
        before = np.zeros(len(links), bool)
        before[open_rows] = similarity.indices[middle[open_rows]] < links.target[open_rows]
        first = np.where(before, middle + 1, first)
        last = np.where(open_rows & ~before, middle, last)
    inside = np.flatnonzero(first < end)
    found: Int64 = first[inside]
    found = found[similarity.indices[found] == links.target[inside]]
    return found
