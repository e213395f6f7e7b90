"""Levenshtein distance, 64 characters at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from largeea.graph import UInt32, UInt64

CODE_POINTS = 0x110000


@njit(cache=True, nogil=True)
def levenshtein(
    text: UInt32, a: int, end_a: int, b: int, end_b: int, places: UInt64, steps: npt.NDArray[np.int8]
) -> int:
    """The least number of insertions, deletions and substitutions from `text[a:end_a]` to `text[b:end_b]`.

    Bit-parallel (Myers 1999, in Hyyro's form): the table of the textbook algorithm is filled in bands of 64
    characters of the first text, held as the bits of one word, column by column of the second text.

    `places[CODE_POINTS]` must be zero and is left so; `steps[>= end_b - b]` is working space: after a band
    it holds the horizontal differences (-1, 0, 1) along the band's last row, which enter the next band.
    """
    while a < end_a and b < end_b and text[a] == text[b]:
        a += 1
        b += 1
    while a < end_a and b < end_b and text[end_a - 1] == text[end_b - 1]:
        end_a -= 1
        end_b -= 1
    if a == end_a or b == end_b:
        return end_a - a + end_b - b

    one = np.uint64(1)
    for column in range(end_b - b):
        steps[column] = 1
    for start in range(a, end_a, 64):
        end = min(start + 64, end_a)
        for at in range(start, end):
            places[text[at]] |= one << np.uint64(at - start)
        last = np.uint64(end - start - 1)
        up, down = ~np.uint64(0), np.uint64(0)  # rows whose vertical difference is +1, -1
        for column in range(end_b - b):
            enters_up, enters_down = np.uint64(steps[column] > 0), np.uint64(steps[column] < 0)
            equal = places[text[b + column]]
            vertical = equal | down
            equal |= enters_down
            horizontal = (((equal & up) + up) ^ up) | equal
            right_up, right_down = down | ~(horizontal | up), up & horizontal
            steps[column] = np.int8((right_up >> last) & one) - np.int8((right_down >> last) & one)
            right_up = (right_up << one) | enters_up
            right_down = (right_down << one) | enters_down
            up, down = right_down | ~(vertical | right_up), right_up & vertical
        for at in range(start, end):
            places[text[at]] = 0
    distance = end_a - a
    for column in range(end_b - b):
        distance += int(steps[column])
    return distance
