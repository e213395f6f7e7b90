"""Checks that no input or answer is lost: independent counts of what was read and written must agree."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from largeea.graph import KnowledgeGraph
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality

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
        "the statements accepted or derived and those kept, folded or removed as duplicates",
        counts.statements + counts.derived,
        counts.triples + counts.literals + counts.duplicates + counts.folded,
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
        "folded": counts.folded,
        "derived": counts.derived,
    }


def account_in_words(account: Mapping[str, int]) -> str:
    """Return the counts of `account_of` as one line of text that shows the sums."""
    return (
        "{entities:,} entities ({blank_nodes:,} of them blank nodes); {scanned:,} lines, cells or statements "
        "read = {statements:,} statements + {skipped:,} without a statement + {rejected:,} rejected; "
        "{statements:,} statements{derived_in_words} = {triples:,} triples + {literals:,} literals + "
        "{duplicates:,} duplicates{folded_in_words}"
    ).format(
        **account,
        derived_in_words=f" + {account['derived']:,} derived" if account["folded"] else "",
        folded_in_words=f" + {account['folded']:,} folded" if account["folded"] else "",
    )


def linkable_entities(source: KnowledgeGraph, target: KnowledgeGraph) -> dict[str, int]:
    """Return the number of entities of each side that can be linked: they have an IRI and are in scope."""
    return {side: int(graph.linkable.sum()) for side, graph in zip(SIDES, (source, target), strict=True)}


def counted_twice(alignment: Alignment) -> dict[str, int]:
    """Return the number of entities of each side that are in accepted and in doubtful pairs."""
    accepted, doubtful = alignment.pairs[alignment.accepted], alignment.pairs[~alignment.accepted]
    if alignment.cardinality is Cardinality.WITHIN:
        return {"source": len(np.intersect1d(accepted, doubtful))}
    return {side: len(np.intersect1d(accepted[:, at], doubtful[:, at])) for at, side in enumerate(SIDES)}


def answers_add_up(
    linkable: Mapping[str, int],
    pairs: int,
    linked: Mapping[str, int],
    doubtful: Mapping[str, int],
    unmatched: Mapping[str, int],
    same: Mapping[str, int],
    twice: Mapping[str, int] | None = None,
    single: Collection[str] = SIDES,
) -> None:
    """Check that every linkable entity was written: in pairs, as unmatched, or as the same.

    `pairs` is the number of accepted pairs that a writer wrote. The others are numbers of entities of each
    side: `linked` those in accepted pairs, `doubtful` those in `doubtful.tsv`, `unmatched` the rows of
    `unmatched.tsv`, and `same` the linkable ones in `same_iri.tsv`; those counted `twice` are in accepted
    and in doubtful pairs. Raises `RuntimeError` if they do not add up to `linkable`, the entities of each
    side that can be linked. Entities of the `single` sides are in one pair at most.
    """
    for side in single:
        _check(f"the accepted pairs written and the {side} entities in them", pairs, linked[side])
    for side in linkable:
        _check(
            f"the {side} entities that can be linked and those written in one of the files",
            linkable[side],
            linked[side] + doubtful[side] - (twice or {}).get(side, 0) + unmatched[side] + same[side],
        )


def _check(what: str, one: int, other: int) -> None:
    if one != other:
        raise RuntimeError(f"something was lost or counted twice: {what} differ ({one:,} and {other:,})")
