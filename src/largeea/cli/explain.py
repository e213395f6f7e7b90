"""`largeea explain`: explain why a finished run matched an entity as it did."""

from __future__ import annotations

import json as text
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.explain import Candidate, Entity, Explanation, Side, Verdict, explain, find_entity, shortened
from largeea.finished import FinishedRun
from largeea.formats.prefixes import Curies

EXAMPLES = """
**Examples**

`largeea explain run http://dbpedia.org/resource/Berlin`

`largeea explain run dbr:Berlin`

`largeea explain run Berlin --side target --candidates 5`

`largeea explain run Berlin --json`
"""
_SHOWN = 20


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    entity: Annotated[str, typer.Argument(metavar="IRI_OR_NAME", help="An entity of either graph.")],
    side: Annotated[Side | None, typer.Option(help="Look for the entity in this graph only.")] = None,
    candidates: Annotated[int, typer.Option(help="Number of competing candidates to show.", min=0)] = 3,
    json: options.Json = False,
) -> None:
    """Explain why an entity has this counterpart, or none: scores, matched neighbours, other candidates."""
    finished = FinishedRun(run)
    found, where = find_entity(finished.alignment, entity, side)
    explanation = explain(finished, found, where, candidates)
    if json:
        screen.json(explanation.to_json())
    else:
        _show(shortened(explanation, Curies.of(finished.source, finished.target)))


def _show(explanation: Explanation) -> None:
    pair = explanation.counterpart
    screen.result(f"{_name(explanation.entity)}, {explanation.side}")
    if pair is None:
        reason = "" if explanation.linkable else ": it is out of scope, or its role is not matched"
        screen.result(f"unmatched{reason}")
    else:
        given = ", given as a seed" if explanation.seed else ""
        screen.result(f"{explanation.status}, confidence {explanation.confidence:.3f}{given}")
        screen.result(f"= {_name(pair.entity)}\n    {_verdicts(pair)}")
    _show_witnesses(explanation)
    _show_values(explanation)
    screen.result("\nOther candidates:" if explanation.candidates else "\nThere are no other candidates.")
    for candidate in explanation.candidates:
        owner = candidate.paired_with
        taken = ", another counterpart" if candidate.is_counterpart else ""
        taken = taken if owner is None else f", paired with {_name(owner)}"
        screen.result(f"  {_name(candidate.entity)}{taken}\n    {_verdicts(candidate)}")


def _show_witnesses(explanation: Explanation) -> None:
    witnesses = explanation.witnesses
    whose = "" if explanation.counterpart else " with the best candidate"
    if not witnesses:
        screen.result(f"\nNo matched neighbours{whose}.")
        return
    screen.result(f"\nMatched neighbours{whose}, the strongest first: {len(witnesses):,}")
    _show_first(
        f"  {witness.strength:.3f}  {witness.source_relation} {_name(witness.source_neighbour)}"
        f"\n       = {witness.target_relation} {_name(witness.target_neighbour)}"
        for witness in witnesses
    )


def _show_values(explanation: Explanation) -> None:
    if not explanation.values:
        return
    screen.result(f"\nEqual values: {len(explanation.values):,}")
    _show_first(
        f"  {shared.strength:.3f}  {text.dumps(shared.value, ensure_ascii=False)}"
        f"\n       {shared.source_predicate} = {shared.target_predicate}"
        for shared in explanation.values
    )


def _show_first(entries: Iterable[str]) -> None:
    """Print the first entries, then the number of the others."""
    found = list(entries)
    for entry in found[:_SHOWN]:
        screen.result(entry)
    if len(found) > _SHOWN:
        screen.result(f"  and {len(found) - _SHOWN:,} more; --json lists them all")


def _name(entity: Entity) -> str:
    """Return the IRI and the name; the name is quoted so that it cannot imitate program output."""
    return (
        entity.iri if entity.name is None else f"{entity.iri} {text.dumps(entity.name, ensure_ascii=False)}"
    )


def _verdicts(candidate: Candidate) -> str:
    verdicts: dict[str, Verdict | None] = {"fused": candidate.fused, **candidate.channels}
    return ", ".join(
        f"{kind} {'-' if said is None else f'{said.score:.3f} (#{said.rank})'}"
        for kind, said in verdicts.items()
    )
