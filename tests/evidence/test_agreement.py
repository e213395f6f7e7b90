"""Agreement of relations: its size is linear in the edges, whatever an author of a graph thinks of."""

from __future__ import annotations

import numpy as np

from largeea.evidence.agreement import MAX_PARALLEL, relation_agreement
from largeea.evidence.anchors import Anchors
from largeea.graph import Links
from largeea.graph.edges import Edges


def test_a_thousand_relations_between_two_entities_do_not_make_a_million_pairs_of_relations() -> None:
    relations = 1000
    triples = np.array([[0, relation, 1] for relation in range(relations)], np.int32)
    edges = Edges.of(triples, 2, relations)
    anchors = Anchors.of(Links(np.array([[0, 0], [1, 1]])), 2, 2)
    agreement = relation_agreement(edges, edges, anchors)
    assert 0 < agreement.to_scipy().nnz <= 2 * relations * MAX_PARALLEL
