"""Texts of 16 characters that have the same hash in Arrow's tables, which have no key.

Arrow hashes a text of 9 to 16 bytes as the exclusive or of two products, one of its first eight bytes and one
of its last eight: for any last eight bytes, there are first eight that give a chosen hash.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

FIRST, LAST = np.uint64(14029467366897019727), np.uint64(11400714785074694791)
"""What Arrow multiplies the first and the last eight bytes by."""
FIRST_INVERSE = np.uint64(pow(int(FIRST), -1, 1 << 64))
HASH = np.uint64(0x0123456789ABCDEF)
LETTERS = np.frombuffer(bytes(sorted(set(range(33, 127)) - set(b'"\\'))), np.uint8)
AT_ONCE = 1 << 19


def colliding_texts(count: int) -> Iterator[str]:
    """Yield distinct texts of printable characters that all have the same hash."""
    random = np.random.default_rng(0)
    is_letter = np.zeros(256, bool)
    is_letter[LETTERS] = True
    found = 0
    while found < count:
        last = random.choice(LETTERS, (AT_ONCE, 8)).view(np.uint64)[:, 0]
        first = (HASH ^ (LAST * last)) * FIRST_INVERSE
        for at in np.flatnonzero(is_letter[first.view(np.uint8).reshape(-1, 8)].all(axis=1))[: count - found]:
            yield (first[at].tobytes() + last[at].tobytes()).decode("ascii")
            found += 1
