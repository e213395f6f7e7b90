"""Vectors that occur many times: all neighbours of a hub that say no more than that are alike."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int64, UInt64
from largeea.similarity.arrays import row_pointers


def numbered(vectors: Float32) -> tuple[Int64, Int64]:
    """The first row of each distinct vector, ascending, and which of them each row equals, `[n]`."""
    words = np.ascontiguousarray(vectors).view(np.uint32)
    codes = np.empty(len(words), np.uint64)
    over_rows(_hash_rows, len(words), words, codes)
    _, first, number = np.unique(codes, return_index=True, return_inverse=True)
    equal_to = first[number]
    over_rows(_keep_equal, len(words), words, equal_to)
    return np.unique(equal_to, return_inverse=True)


def first_of_each(number: Int64, count: int) -> Int64:
    """The first `count` rows with each number, ascending."""
    order = np.argsort(number, kind="stable")
    starts = row_pointers(np.bincount(number))
    rank = np.arange(len(number)) - starts[number[order]]
    return np.sort(order[rank < count])


@njit(cache=True, nogil=True)
def _hash_rows(first: int, last: int, words: np.ndarray, codes: UInt64) -> None:
    """Write a hash code of each row."""
    for row in range(first, last):
        code = np.uint64(1)
        for word in words[row]:
            code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(word)
        codes[row] = code


@njit(cache=True, nogil=True)
def _keep_equal(first: int, last: int, words: np.ndarray, equal_to: Int64) -> None:
    """Make a row that only has the hash code of `equal_to` equal to itself."""
    for row in range(first, last):
        for at in range(words.shape[1]):
            if words[row, at] != words[equal_to[row], at]:
                equal_to[row] = row
                break
