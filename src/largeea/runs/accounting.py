"""Nothing is lost silently: what was read is all accounted for, and every entity gets an answer."""

from __future__ import annotations

import numpy as np

from largeea.alignment import Alignment
from largeea.graph import KnowledgeGraph


def account_of(graph: KnowledgeGraph) -> dict[str, int]:
    """What became of everything read into a graph; an error if it does not add up."""
    counts = graph.counts
    kept = counts.triples, counts.literals
    if counts.statements != sum(kept) + counts.duplicates or kept != (
        len(graph.triples),
        len(graph.attributes),
    ):
        raise RuntimeError(f"statements were lost in reading: {counts}, but the graph holds {kept}")
    return {
        "entities": graph.size,
        "blank_nodes": int(graph.anonymous.sum()),
        "statements": counts.statements,
        "triples": counts.triples,
        "literals": counts.literals,
        "duplicates": counts.duplicates,
        "rejected": counts.rejected,
    }


def account_in_words(account: dict[str, int]) -> str:
    """An account as a line that can be checked by eye."""
    return (
        "{entities:,} entities ({blank_nodes:,} of them blank nodes); {statements:,} statements = "
        "{triples:,} triples + {literals:,} literals + {duplicates:,} duplicates; "
        "{rejected:,} lines rejected"
    ).format(**account)


def every_entity_is_answered(alignment: Alignment) -> None:
    """Each entity that can be linked is in one accepted pair, or unmatched; blank nodes are in neither."""
    sides = (
        ("source", alignment.source, alignment.links.source, alignment.unmatched_source),
        ("target", alignment.target, alignment.links.target, alignment.unmatched_target),
    )
    for side, graph, linked, unmatched in sides:
        answers = np.bincount(np.concatenate([linked, unmatched]), minlength=graph.size)
        wrong = np.flatnonzero(answers != ~graph.anonymous)
        if len(wrong):
            entity = graph.entities[int(wrong[0])].as_py()
            raise RuntimeError(
                f"{len(wrong)} {side} entities have no answer or several, for example {entity!r}"
            )
