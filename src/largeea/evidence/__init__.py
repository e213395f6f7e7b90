"""Beyond the paper: what neighbours, equal literals and surroundings say, given the anchors of a round."""

from largeea.evidence.agreement import learn_agreement
from largeea.evidence.anchors import choose_anchors, share_of_new, without_seeds
from largeea.evidence.graphs import evidence_edges
from largeea.evidence.neighbours import neighbour_evidence
from largeea.evidence.propagation import find_candidates, surroundings_evidence

__all__ = [
    "choose_anchors",
    "evidence_edges",
    "find_candidates",
    "learn_agreement",
    "neighbour_evidence",
    "share_of_new",
    "surroundings_evidence",
    "without_seeds",
]
