"""Sorting inside compiled code."""

from __future__ import annotations

from numba import njit

from largeea.graph import UInt64


@njit(cache=True, nogil=True)
def sort_range(values: UInt64, first: int, last: int) -> None:
    """Sort `values[first:last]` in place (Shell sort).

    Ours, because numba takes seconds to compile its own sort, and most ranges here have less than 100 values.
    """
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(first + gap, last):
            value = values[at]
            place = at
            while place >= first + gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value
        gap //= 3


@njit(cache=True, nogil=True)
def move_smallest(values: UInt64, first: int, last: int, count: int) -> None:
    """Move the `count` smallest of `values[first:last]` to its front, in any order (Hoare's quickselect)."""
    low, high, wanted = first, last - 1, first + count - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
