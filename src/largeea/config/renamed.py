"""Settings of release 0.1.0 that have another name or place now."""

from __future__ import annotations

RENAMED: dict[str, str] = {
    "names.precision": "names.dtype",
    "names.lexical": "names.ngram_weight",
    "names.aliases": "names.max_aliases",
    "structure.precision": "structure.dtype",
    "evidence.settled": "evidence.min_new_anchor_share",
    "evidence.neighbours": "evidence.neighbour_weight",
    "evidence.surroundings": "evidence.surroundings_weight",
    "evidence.even": "evidence.no_match_score",
    "evidence.even_by_name": "evidence.no_match_score",
    "evidence.balancing": "evidence.sinkhorn_iterations",
    "evidence.found": "evidence.candidates_per_round",
    "evidence.pieces_to_find": "evidence.retrieval_sketches",
    "evidence.pieces": "evidence.scoring_sketches",
    "decision.accept": "decision.threshold",
    "decision.precision": "decision.threshold",
    "decision.min_precision": "decision.threshold",
    "decision.even": "evidence.no_match_score",
    "decision.no_match_score": "evidence.no_match_score",
    "evidence.no_match_score_names": "evidence.no_match_score",
}
"""Settings that were renamed since release 0.1.0: old name to new name."""
MOVED: dict[str, str] = {
    "names.device": "device",
    "structure.device": "device",
    "structure.threads": "threads",
    "partition.memory_mb": "memory",
    "evidence.memory_mb": "memory",
}
"""Settings of release 0.1.0 that are now part of `Execution`: old name to new name."""
