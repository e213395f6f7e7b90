"""Checks that no input or answer is lost: independent counts of what was read and written must agree."""

from __future__ import annotations

from collections.abc import Mapping

from largeea.graph import KnowledgeGraph

SIDES = ("source", "target")


def account_of(graph: KnowledgeGraph) -> dict[str, int]:
    """Return the counts of lines, statements, triples and literals read into a graph.

    Raises `RuntimeError` if the counts of the reader, of the builder and of the graph disagree.
    """
    counts = graph.counts
    _check(
        "what was scanned in the files and what was accepted, skipped or rejected",
        counts.scanned,
        counts.statements + counts.skipped + counts.rejected,
    )
    _check(
        "the statements accepted and those kept or removed as duplicates",
        counts.statements,
        counts.triples + counts.literals + counts.duplicates,
    )
    _check("the triples counted and those in the graph", counts.triples, len(graph.triples))
    _check("the literals counted and those in the graph", counts.literals, len(graph.attributes))
    return {
        "entities": graph.size,
        "blank_nodes": int(graph.anonymous.sum()),
        "scanned": counts.scanned,
        "skipped": counts.skipped,
        "rejected": counts.rejected,
        "statements": counts.statements,
        "triples": counts.triples,
        "literals": counts.literals,
        "duplicates": counts.duplicates,
    }


def account_in_words(account: Mapping[str, int]) -> str:
    """Return the counts of `account_of` as one line of text that shows the sums."""
    return (
        "{entities:,} entities ({blank_nodes:,} of them blank nodes); {scanned:,} lines, cells or statements "
        "read = {statements:,} statements + {skipped:,} without a statement + {rejected:,} rejected; "
        "{statements:,} statements = {triples:,} triples + {literals:,} literals + {duplicates:,} duplicates"
    ).format(**account)


def linkable_entities(source: KnowledgeGraph, target: KnowledgeGraph) -> dict[str, int]:
    """Return the number of entities of each side that have an IRI and can therefore be linked."""
    return {
        side: graph.size - int(graph.anonymous.sum())
        for side, graph in zip(SIDES, (source, target), strict=True)
    }


def answers_add_up(
    linkable: Mapping[str, int], pairs: int, linked: Mapping[str, int], unmatched: Mapping[str, int]
) -> None:
    """Check that every linkable entity was written exactly once: in one accepted pair, or as unmatched.

    `pairs` is the number of accepted pairs that a writer wrote, `linked` the number of distinct entities of
    each side in them, and `unmatched` the number of rows of each side in `unmatched.tsv`. Raises
    `RuntimeError` if they do not add up to `linkable`, the number of entities in each graph with an IRI.
    """
    for side in SIDES:
        _check(f"the accepted pairs written and the {side} entities in them", pairs, linked[side])
        _check(
            f"the {side} entities that can be linked and those written as linked or unmatched",
            linkable[side],
            linked[side] + unmatched[side],
        )


def _check(what: str, one: int, other: int) -> None:
    if one != other:
        raise RuntimeError(f"something was lost or counted twice: {what} differ ({one:,} and {other:,})")
