from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from largeea.graph import Int32, Links

ids = st.integers(0, 4) | st.integers(2**31 - 3, 2**31 - 1)
pairs = hnp.arrays(np.int32, st.tuples(st.integers(0, 12), st.just(2)), elements=ids)


@given(pairs, pairs)
def test_pairs_that_are_also_in_other_links(some: Int32, others: Int32) -> None:
    known = {tuple(pair) for pair in others.tolist()}
    assert Links(some).are_in(Links(others)).tolist() == [tuple(pair) in known for pair in some.tolist()]


@given(pairs)
def test_keys_are_in_the_order_of_pairs(some: Int32) -> None:
    assert (np.diff(Links(some).canonical().keys) > 0).all()
