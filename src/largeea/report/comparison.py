"""What changed between two runs on the same graphs, matched by IRI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from largeea.errors import InputError
from largeea.explain import Entity
from largeea.graph import Bool, Float32, Int32, KnowledgeGraph
from largeea.report import charts
from largeea.report.figures import spread
from largeea.report.page import (
    counted,
    number,
    page,
    paragraph,
    section,
    share,
    shown,
    side_by_side,
    table,
)
from largeea.report.settings import different
from largeea.report.stored import StoredRun

EXAMPLES = 20
"""Entities of each kind of change that are shown."""
LEAST_COMMON = 0.5
"""Share of the entities of the smaller graph that two runs must have in common, by IRI."""
MOVED = 0.05
"""Difference of confidence that counts as a change."""
_BOUNDS = (-1.0, -0.5, -0.2, -MOVED, MOVED, 0.2, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class Answers:
    """One answer by source entity: its target (-1 if none), confidence and status, `[sources]` each.

    Of several pairs of an entity, the most confident one counts.
    """

    target: Int32
    confidence: Float32
    accepted: Bool

    @classmethod
    def of(cls, run: StoredRun, sources: int, ids: tuple[Int32, Int32] | None = None) -> Answers:
        """Return the answer of a run; `ids` are those that its entities have in the other run, -1 if none."""
        alignment = run.alignment
        pairs: Int32 = alignment.pairs
        kept: Bool = np.ones(len(pairs), bool)
        if ids is not None:
            pairs = np.column_stack([ids[0][pairs[:, 0]], ids[1][pairs[:, 1]]])
            kept = np.asarray((pairs >= 0).all(axis=1))
        target, confidence = np.full(sources, -1, np.int32), np.zeros(sources, np.float32)
        accepted = np.zeros(sources, bool)
        rising = np.lexsort((-pairs[:, 1], alignment.confidence))
        rows = rising[kept[rising]]
        place = pairs[rows, 0]
        target[place], accepted[place] = pairs[rows, 1], alignment.accepted[rows]
        confidence[place] = alignment.confidence[rows]
        return cls(target, confidence, accepted)


def changes(one: Answers, other: Answers) -> dict[str, Bool]:
    """Return the source entities by what happened to their pair, as masks `[sources]` that do not overlap."""
    paired = (one.target >= 0) & (other.target >= 0)
    same = paired & (one.target == other.target)
    return {
        "same, accepted": same & one.accepted & other.accepted,
        "same, doubtful": same & ~one.accepted & ~other.accepted,
        "became accepted": same & ~one.accepted & other.accepted,
        "became doubtful": same & one.accepted & ~other.accepted,
        "other counterpart": paired & ~same,
        "only in first": (one.target >= 0) & (other.target < 0),
        "only in second": (one.target < 0) & (other.target >= 0),
    }


def compare_runs(one: StoredRun, other: StoredRun) -> tuple[str, dict[str, Any]]:
    """Return the comparison of two runs as HTML, and its figures as plain values."""
    ids = common_ids(one, other)
    before, after = Answers.of(one, one.source.size), Answers.of(other, one.source.size, ids)
    found = changes(before, after)
    same = (before.target >= 0) & (before.target == after.target)
    moved = np.where(same, after.confidence - before.confidence, np.float32(0))
    many = int((np.abs(moved) > MOVED).sum())
    settings = different(one.manifest.get("config", {}), other.manifest.get("config", {}))
    figures: dict[str, Any] = {
        "runs": [str(one.folder), str(other.folder)],
        "entities": {name: int(mask.sum()) for name, mask in found.items()},
        "confidence_moved": many,
        "settings": {name: list(values) for name, values in settings.items()},
    }
    body = (
        _summary(one, other, figures, int(same.sum())),
        section("What changed", side_by_side(_counts(figures["entities"]), _moves(moved, same, many))),
        _examples(one, before, after, found, moved),
        _settings(settings),
    )
    title = f"{one.folder.resolve().name} and {other.folder.resolve().name}"
    return page(title, "Comparison of two runs", "".join(body)), figures


def common_ids(one: StoredRun, other: StoredRun) -> tuple[Int32, Int32] | None:
    """Return the ids that the entities of the other run have in the first; None if they are the same.

    Raises `InputError` if the runs are on other graphs.
    """
    sides = ((one.source, other.source, "source"), (one.target, other.target, "target"))
    if all(ours.entities.equals(theirs.entities) for ours, theirs, _ in sides):
        return None
    first, second = (_ids(one, other, *side) for side in sides)
    return first, second


def _ids(one: StoredRun, other: StoredRun, ours: KnowledgeGraph, theirs: KnowledgeGraph, side: str) -> Int32:
    found = ours.find(theirs.entities)
    common, smaller = int((found >= 0).sum()), min(ours.size, theirs.size)
    if common < LEAST_COMMON * smaller:
        raise InputError(
            f"is a run on other graphs than {one.folder}: the {side} graphs have {common:,} of {smaller:,} "
            "IRIs in common; give two runs on the same graphs",
            other.folder,
        )
    return found


def _summary(one: StoredRun, other: StoredRun, figures: dict[str, Any], same: int) -> str:
    entities = figures["entities"]
    total = sum(entities.values())
    sentence = (
        f"{counted(same, 'pair is', 'pairs are')} the same in both runs"
        + (f" ({share(same / total)} of those in either)" if total else "")
        + f"; {counted(entities['other counterpart'], 'entity has', 'entities have')} another counterpart; "
        f"{counted(entities['only in first'], 'entity is', 'entities are')} in a pair of the first run only, "
        f"{number(entities['only in second'])} in one of the second run only."
    )
    names = f"First run: {shown(str(one.folder))}. Second run: {shown(str(other.folder))}."
    return paragraph(sentence, "summary") + paragraph(names, "quiet")


def _counts(entities: dict[str, int]) -> str:
    title = "Entities by what changed"
    caption = "Every source entity that is in a pair of either run counts once."
    rows = [(name, float(many), number(many)) for name, many in entities.items()]
    return charts.figure(title, caption, charts.bars(title, rows))


def _moves(moved: Float32, same: Bool, many: int) -> str:
    if not same.any():
        return ""
    counts = np.histogram(moved[same], _BOUNDS)[0].tolist()
    labels = [f"{bound:+g}" for bound in _BOUNDS]
    title = "Change of confidence"
    caption = f"Pairs in both runs: second minus first. {number(many)} differ by more than {MOVED}."
    below = "difference of confidence"
    drawn = charts.columns(title, labels, {"pairs": counts}, stacked=True, below=below, edges=True)
    return charts.figure(title, caption, drawn)


def _examples(run: StoredRun, before: Answers, after: Answers, found: dict[str, Bool], moved: Float32) -> str:
    """Return tables of entities for each kind of change, and of the largest moves of confidence."""
    chosen: dict[str, NDArray[np.int64]] = {}
    for name in [name for name in found if not name.startswith("same")]:
        entities = np.flatnonzero(found[name])
        chosen[name] = entities[spread(len(entities), EXAMPLES)]
    farthest = np.argsort(-np.abs(moved), kind="stable")[:EXAMPLES]
    chosen["confidence moved most"] = farthest[np.abs(moved[farthest]) > MOVED]
    tables = [
        table(
            name,
            ["source", "counterpart in the first run", "in the second run"],
            [
                [
                    _label(run.source, int(entity)),
                    _counterpart(run.target, before, int(entity)),
                    _counterpart(run.target, after, int(entity)),
                ]
                for entity in entities.tolist()
            ],
            "words",
        )
        for name, entities in chosen.items()
        if len(entities)
    ]
    return section("Examples", "".join(tables))


def _label(graph: KnowledgeGraph, entity: int) -> str:
    one = Entity.of(graph, entity)
    return shown(one.name or one.iri, 80)


def _counterpart(graph: KnowledgeGraph, answers: Answers, entity: int) -> str:
    if answers.target[entity] < 0:
        return '<span class="none">none</span>'
    status = "accepted" if answers.accepted[entity] else "doubtful"
    name = _label(graph, int(answers.target[entity]))
    return f"{name}<br><small>{status}, {answers.confidence[entity]:.2f}</small>"


def _settings(settings: dict[str, tuple[Any, Any]]) -> str:
    rows = [[shown(name), *(shown(str(value)) for value in values)] for name, values in settings.items()]
    content = (
        table("Settings that differ", ["setting", "first run", "second run"], rows, "words")
        if rows
        else paragraph("Both runs have the same settings.")
    )
    return section("Settings", content)
