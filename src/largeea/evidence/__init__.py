"""Beyond the paper: what neighbours, literals and surroundings say, given the anchors of a round."""

from largeea.evidence.agreement import learn_agreement
from largeea.evidence.anchors import agreeing_pairs, all_but, choose_anchors, share_of_new, without_seeds
from largeea.evidence.attributes import attribute_values, literal_support, propose_by_values
from largeea.evidence.graphs import evidence_edges
from largeea.evidence.neighbours import neighbour_evidence, neighbours_by_rows
from largeea.evidence.propagation import find_candidates, surroundings_evidence
from largeea.evidence.worth import known_judges, measure_learnt, measure_names, measure_worth

__all__ = [
    "agreeing_pairs",
    "all_but",
    "attribute_values",
    "choose_anchors",
    "evidence_edges",
    "find_candidates",
    "known_judges",
    "learn_agreement",
    "literal_support",
    "measure_learnt",
    "measure_names",
    "measure_worth",
    "neighbour_evidence",
    "neighbours_by_rows",
    "propose_by_values",
    "share_of_new",
    "surroundings_evidence",
    "without_seeds",
]
