"""Examples of pairs with the evidence for them, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from largeea.explain import Entity, Explanation, SharedValue, Witness, explain, shortened
from largeea.formats.prefixes import Curies, last_part
from largeea.graph import Int32, Int64
from largeea.report.figures import SAMPLE, spread
from largeea.report.page import escaped, paragraph, shown
from largeea.report.stored import StoredRun, rows_of

T = TypeVar("T")
EXAMPLES = 20
"""Pairs of each sort that are shown."""
_SHOWN = 3


def sure_sources(run: StoredRun) -> Int32:
    """Return source entities of accepted pairs, evenly spread over the more confident half, without seeds."""
    found = np.flatnonzero(run.alignment.accepted & ~run.is_given)
    half = found[: max(len(found) // 2, EXAMPLES)]
    return _sources(run, half)


def doubtful_sources(run: StoredRun) -> Int32:
    """Return source entities of doubtful pairs, evenly spread from the most to the least confident."""
    found = np.flatnonzero(~run.alignment.accepted)
    return _sources(run, found)


def _sources(run: StoredRun, places: Int64) -> Int32:
    sources: Int32 = run.alignment.pairs[places[spread(len(places), EXAMPLES)], 0]
    return sources


def rejected_sources(run: StoredRun) -> Int32:
    """Return unmatched source entities of a sample: those whose best candidate has the highest score."""
    unmatched = run.alignment.unmatched_source_ids
    sample = unmatched[spread(len(unmatched), SAMPLE)]
    ids, scores = rows_of(run.fused, sample).top_k_arrays(1)
    with_candidate = np.flatnonzero(ids[:, 0] >= 0)
    best = np.argsort(-scores[with_candidate, 0], kind="stable")[:EXAMPLES]
    return sample[with_candidate[best]]


def cards(run: StoredRun, title: str, text: str, sources: Int32) -> str:
    """Return the pairs of some source entities, in a part of the page that can be folded."""
    if not len(sources):
        return ""
    curies = Curies.of(run.source, run.target)
    explained = (explain(run, int(source), "source", candidates=1) for source in sources)
    found = [_card(one, curies) for one in explained]
    intro, pairs = paragraph(escaped(text), "quiet"), f'<div class="pairs">{"".join(found)}</div>'
    return f"<details open><summary>{len(found)} {escaped(title)}</summary>{intro}{pairs}</details>\n"


def _card(found: Explanation, curies: Curies) -> str:
    """Return one pair. Only what is shown is shortened: a hub has many shared neighbours."""
    candidate = found.counterpart or next(iter(found.candidates), None)
    if candidate is None:
        return ""
    scores = [] if found.confidence is None else [_score("confidence", found.confidence)]
    ends = [entity(shortened(one, curies)) for one in (found.entity, candidate.entity)]
    scores += [_score(kind, verdict.score) for kind, verdict in candidate.channels.items() if verdict]
    return (
        f'<article class="pair"><div class="sides">{"".join(ends)}</div>'
        f'<ul class="scores">{"".join(scores)}</ul>'
        + _list("Paired elsewhere", [candidate.paired_with] if candidate.paired_with else [], _owner, curies)
        + _list("Shared neighbours", found.witnesses, _witness, curies)
        + _list("Equal values", found.values, _value, curies)
        + "</article>"
    )


def entity(one: Entity) -> str:
    """Return the name of an entity, and its CURIE or IRI."""
    return f"<div><strong>{shown(one.name)}</strong><span>{shown(one.iri)}</span></div>"


def _score(kind: str, score: float) -> str:
    full = 100 * min(max(score, 0.0), 1.0)
    meter = f'<span class="meter" aria-hidden="true"><i style="width:{full:.0f}%"></i></span>'
    return f"<li><span>{escaped(kind)}</span> <b>{score:.2f}</b>{meter}</li>"


def _owner(other: Entity) -> str:
    return f"The candidate is in a pair with {shown(other.name or other.iri)}."


def _witness(one: Witness) -> str:
    ours, theirs = (
        shown(entity.name or entity.iri) for entity in (one.source_neighbour, one.target_neighbour)
    )
    relations = _relation(one.source_relation), _relation(one.target_relation)
    if relations[0] == relations[1]:
        return f"{relations[0]}: {ours} = {theirs}"
    return f"{relations[0]}: {ours} = {relations[1]}: {theirs}"


def _value(one: SharedValue) -> str:
    predicates = dict.fromkeys([_relation(one.source_predicate), _relation(one.target_predicate)])
    return f"{' = '.join(predicates)}: {shown(one.value)}"


def _relation(iri: str) -> str:
    """Return the short name of a relation; `^` marks the inverse direction."""
    inverse = iri.startswith("^")
    return ("inverse of " if inverse else "") + shown(last_part(iri[inverse:]), 60)


def _list(title: str, parts: Sequence[T], line: Callable[[T], str], curies: Curies) -> str:
    """Return the lines of the first parts under a title, and the number of the others."""
    if not parts:
        return ""
    lines = [line(shortened(one, curies)) for one in parts[:_SHOWN]]
    more = [f"and {len(parts) - _SHOWN:,} more"] if len(parts) > _SHOWN else []
    items = "".join(f"<li>{one}</li>" for one in [*lines, *more])
    return f'<div class="found"><b>{title}</b><ul>{items}</ul></div>'
