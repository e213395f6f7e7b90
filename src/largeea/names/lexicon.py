"""Which words replace each other: learnt from entities that have several names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit

from largeea.graph import Float32, Int32, Int64
from largeea.names.distinct import number_names
from largeea.names.rows import NameRows, Names


class Lexicon(NamedTuple):
    """Words that replace word w: `others[pointer[w] : pointer[w + 1]]`, and their scores, in (0, 1]."""

    pointer: Int64
    others: Int32
    scores: Float32


def learn_lexicon(names: Names, pointer: Int64, ids: Int32, vocabulary: int) -> Lexicon:
    """Pairs of words in which two names of one entity differ, while their other words agree.

    `ids[pointer[i] : pointer[i + 1]]` are the words of row i, ascending; the rows of the target follow those
    of the source. An entity and its counterpart count as one if they share a name that no other entity has.
    The score of a pair is the square root of its share in all replacements of the word that has fewer.
    """
    pairs, counts = _counted_replacements(_concepts(names), pointer, ids)
    order = np.lexsort(pairs.T[::-1])
    (word, other), counts = pairs[order].T, counts[order]
    total = np.bincount(word, counts, minlength=vocabulary)
    scores = np.sqrt(counts / np.minimum(total[word], total[other])).astype(np.float32)
    return Lexicon(np.searchsorted(word, np.arange(vocabulary + 1)), other.astype(np.int32), scores)


def _counted_replacements(concept: Int64, pointer: Int64, ids: Int32) -> tuple[Int64, Int64]:
    """Pairs of words that replace each other, in both directions, and in how many concepts they do."""
    order = np.argsort(concept, kind="stable")
    bounds = np.append(np.flatnonzero(np.diff(concept[order], prepend=-1)), len(order))
    groups = np.stack([bounds[:-1], bounds[1:]])[:, np.diff(bounds) > 1]
    count = _replacements(groups, order, pointer, ids, np.empty((0, 3), np.int64))
    found = np.empty((count, 3), np.int64)
    _replacements(groups, order, pointer, ids, found)
    found = found[np.lexsort(found.T[::-1])]
    found = found[(np.diff(found, axis=0, prepend=-1) != 0).any(axis=1), :2]
    starts = np.flatnonzero((np.diff(found, axis=0, prepend=-1) != 0).any(axis=1))
    pairs, counts = found[starts], np.diff(starts, append=len(found))
    return np.concatenate([pairs, pairs[:, ::-1]]), np.tile(counts, 2)


def _concepts(names: Names) -> Int64:
    """A number for each row, source rows first, equal for names of an entity and of its counterpart."""
    source, target = names.source, names.target
    partner = _counterparts(source, target)
    of_target = np.where(partner >= 0, partner, source.size + np.arange(target.size))
    return np.concatenate([source.entity, of_target[target.entity]]).astype(np.int64)


def _counterparts(source: NameRows, target: NameRows) -> Int64:
    """The source entity that shares an unambiguous name with each target entity, -1 for none or several."""
    name, count = number_names(pa.concat_arrays([source.latin, target.latin]))
    bearers = [
        _only_bearer(part, side.entity, count)
        for part, side in ((name[: len(source)], source), (name[len(source) :], target))
    ]
    ours, theirs = (side[(bearers[0] >= 0) & (bearers[1] >= 0)] for side in bearers)
    partner = _only_bearer(theirs, ours, target.size)
    back = _only_bearer(ours, theirs, source.size)
    mutual = np.flatnonzero(partner >= 0)
    mutual = mutual[back[partner[mutual]] == mutual]
    found = np.full(target.size, -1, np.int64)
    found[mutual] = partner[mutual]
    return found


@njit(cache=True, nogil=True)
def _only_bearer(name: Int32 | Int64, bearer: Int32 | Int64, names: int) -> Int64:
    """The bearer of each of so many names, -1 where it has none or several; a name of -1 is none."""
    none, several = -1, -2
    found = np.full(names, none, np.int64)
    for row in range(len(name)):
        if name[row] >= 0 and found[name[row]] != bearer[row]:
            found[name[row]] = bearer[row] if found[name[row]] == none else several
    for row in range(names):
        found[row] = max(found[row], none)
    return found


@njit(cache=True, nogil=True)
def _replacements(groups: Int64, order: Int64, pointer: Int64, ids: Int32, found: Int64) -> int:
    """Write (word, other word, group) for each two names of a group that differ in one word, and count them.

    The names of group g are `order[groups[0, g] : groups[1, g]]`. What does not fit into `found` is counted.
    """
    count = 0
    for group in range(groups.shape[1]):
        for one in range(groups[0, group], groups[1, group]):
            for other in range(one + 1, groups[1, group]):
                i, end_i = pointer[order[one]], pointer[order[one] + 1]
                j, end_j = pointer[order[other]], pointer[order[other] + 1]
                if end_i - i != end_j - j:
                    continue
                left, right, differing, common = -1, -1, 0, 0
                while (i < end_i or j < end_j) and differing <= 2:
                    if j == end_j or (i < end_i and ids[i] < ids[j]):
                        left, differing, i = ids[i], differing + 1, i + 1
                    elif i == end_i or ids[j] < ids[i]:
                        right, differing, j = ids[j], differing + 1, j + 1
                    else:
                        common, i, j = common + 1, i + 1, j + 1
                if differing == 2 and common:
                    if count < len(found):
                        found[count, 0], found[count, 1] = min(left, right), max(left, right)
                        found[count, 2] = group
                    count += 1
    return count
