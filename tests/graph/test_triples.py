from __future__ import annotations

import numpy as np

from largeea.graph.edges import Edges
from largeea.graph.triples import functionality

TRIPLES = np.array([(0, 0, 1), (0, 0, 2), (5, 0, 2), (5, 0, 3), (1, 2, 1)])


def test_functionality_counts_distinct_ends() -> None:
    forward, inverse = functionality(TRIPLES, 3)
    np.testing.assert_allclose(forward, [2 / 4, 0, 1])
    np.testing.assert_allclose(inverse, [3 / 4, 0, 1])


def test_edges_have_the_same_inverse_functionality() -> None:
    edges = Edges.of(TRIPLES, 6, 3)
    forward, inverse = functionality(TRIPLES, 3)
    np.testing.assert_array_equal(edges.inverse_functionality[0::2], inverse.astype(np.float32))
    np.testing.assert_array_equal(edges.inverse_functionality[1::2], forward.astype(np.float32))


def test_no_triples() -> None:
    forward, inverse = functionality(np.empty((0, 3), np.int32), 0)
    assert len(forward) == len(inverse) == 0
