"""Settings of release 0.1.0 that have another name or place now."""

from __future__ import annotations

from typing import Any

from largeea.errors import UsageError
from largeea.progress import warn

RENAMED: dict[str, str] = {
    "names.precision": "names.dtype",
    "names.lexical": "names.ngram_weight",
    "names.aliases": "names.max_aliases",
    "structure.precision": "structure.dtype",
    "evidence.settled": "evidence.min_new_anchor_share",
    "evidence.neighbours": "evidence.neighbour_weight",
    "evidence.surroundings": "evidence.surroundings_weight",
    "evidence.balancing": "evidence.sinkhorn_iterations",
    "evidence.found": "evidence.candidates_per_round",
    "evidence.pieces_to_find": "evidence.retrieval_sketches",
    "evidence.pieces": "evidence.scoring_sketches",
    "decision.accept": "decision.threshold",
}
"""Settings renamed since release 0.1.0, old name to new name. An old name still works, with a warning."""
REPLACED: dict[str, str] = {
    "evidence.even": "evidence.no_match_score",
    "evidence.even_by_name": "evidence.no_match_score",
    "evidence.no_match_score_names": "evidence.no_match_score",
    "decision.even": "evidence.no_match_score",
    "decision.no_match_score": "evidence.no_match_score",
    "decision.precision": "decision.threshold",
    "decision.min_precision": "decision.threshold",
}
"""Settings of release 0.1.0 whose values would mean something else now: old name to what serves instead."""
MOVED: dict[str, str] = {
    "names.device": "device",
    "structure.device": "device",
    "structure.threads": "threads",
    "partition.memory_mb": "memory",
    "evidence.memory_mb": "memory",
}
"""Settings of release 0.1.0 that are now part of `Execution`: old name to new name."""


def with_new_names(given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with old names replaced by new ones, and warn of each."""
    renamed = {key: dict(value) if isinstance(value, dict) else value for key, value in given.items()}
    for old, new in RENAMED.items():
        (section, old_name), (_, new_name) = old.split("."), new.split(".")
        values = renamed.get(section)
        if not isinstance(values, dict) or old_name not in values:
            continue
        if new_name in values:
            raise UsageError(f"{old!r} is the old name of {new!r}: give one of them")
        values[new_name] = values.pop(old_name)
        warn(f"the setting {old!r} is now called {new!r}; the old name will stop working in a later release")
    return renamed
