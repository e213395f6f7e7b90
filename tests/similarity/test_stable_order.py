"""`stable_order` is numpy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.similarity.arrays import stable_order


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
@pytest.mark.parametrize("distinct", [1, 2, 300, 2**31])
@pytest.mark.parametrize("count", [0, 1, 2, 5000])
def test_equal_keys_stay_in_their_order(kind: type, distinct: int, count: int) -> None:
    keys = np.random.default_rng(7).integers(0, distinct, count).astype(kind)
    keys <<= kind(8 * np.dtype(kind).itemsize - 31)  # up to the highest bit
    np.testing.assert_array_equal(stable_order(keys), np.argsort(keys, kind="stable"))
