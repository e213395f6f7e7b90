"""The numbers of a report, computed on columns: no loop over entities, and few rows of any matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from largeea.finished import FEATURES
from largeea.formats.links.unmatched import NO_FREE_CANDIDATE, NO_NAME
from largeea.graph import Bool, Float32, Int32, Int64, KnowledgeGraph, Task
from largeea.graph.lookup import are_in
from largeea.matching.alignment import Alignment
from largeea.report.stored import StoredRun, rows_of
from largeea.structure.partition import Assignment
from largeea.structure.partition.quality import batch_sizes, edge_cut

BINS = 10
"""Bins of confidence, of equal width."""
SAMPLE = 2000
"""Pairs that are looked up in the matrices, at most."""
SAME_NAME = "same name as an entity in another pair"
_DEGREE_BINS = 12


@dataclass(frozen=True)
class Overview:
    """The answer in numbers. Pairs of numbers are those of the source and of the target graph."""

    entities: tuple[int, int]
    linkable: tuple[int, int]
    matched: int
    """Source entities with a counterpart; within one graph, entities with a duplicate."""
    accepted: int
    given: int
    """Accepted pairs that were given as seeds."""
    same_iri: int
    doubtful: int
    unmatched: tuple[int, int]
    mean_confidence: float | None
    """Of the accepted pairs that were not given: the share of them that is expected to be right."""

    @classmethod
    def of(cls, run: StoredRun) -> Overview:
        """Count the pairs and entities of a run."""
        alignment, graphs = run.alignment, (run.source, run.target)
        numbers = alignment.summary
        found = alignment.accepted & ~run.is_given
        ends = alignment.links.pairs if run.is_within else alignment.links.source
        return cls(
            (graphs[0].size, graphs[1].size),
            (int(graphs[0].linkable.sum()), int(graphs[1].linkable.sum())),
            len(np.unique(ends)) + numbers["same_iri"],
            numbers["accepted"],
            int(run.is_given.sum()),
            numbers["same_iri"],
            numbers["doubtful"],
            (numbers["unmatched_source"], numbers["unmatched_target"]),
            float(alignment.confidence[found].mean(dtype=np.float64)) if found.any() else None,
        )


def confidence_bins(confidence: Float32, mask: Bool) -> Int64:
    """Return the number of pairs in the mask by confidence, `[BINS]`; 1 is in the last bin."""
    place = np.minimum((confidence[mask] * np.float32(BINS)).astype(np.int64), BINS - 1)
    return np.bincount(place, minlength=BINS)


def accept_threshold(run: StoredRun) -> float | None:
    """Return the threshold that was set or, without one, the lowest confidence that was accepted."""
    chosen = float(run.manifest.get("config", {}).get("decision", {}).get("threshold", 0))
    found = run.alignment.confidence[run.alignment.accepted & ~run.is_given]
    return chosen or (float(found.min()) if len(found) else None)


@dataclass(frozen=True)
class Decisive:
    """What one kind of evidence does for the accepted pairs."""

    kind: str
    weight: float
    worth: float | None
    decided: int
    """Accepted pairs to whose score it adds most."""
    alone: float | None
    """Share of a sample of accepted pairs that it would have chosen alone."""


def deciding_evidence(run: StoredRun) -> tuple[list[Decisive], int]:
    """Return what each kind of evidence does, and the number of pairs that were looked up in the matrices.

    Seeds are left out. A kind decides a pair if weight times score is highest for it; the first one by name
    decides a tie. It would have chosen a pair alone if the target is the only best candidate of the source.
    """
    alignment = run.alignment
    found = np.flatnonzero(alignment.accepted & ~run.is_given)
    columns = {kind: score for kind, score in alignment.evidence.items() if kind not in FEATURES}
    weights = {kind: run.weights.get(kind, 1.0) for kind in columns}
    if not columns or not len(found):
        return [], 0
    parts = np.array([weights[kind] * columns[kind][found] for kind in columns])
    winner = np.where(parts.max(axis=0) > 0, parts.argmax(axis=0), -1)
    sample = alignment.pairs[found[spread(len(found), SAMPLE)]]
    found_by_kind = [
        Decisive(
            kind,
            weights[kind],
            run.worth.get(kind),
            int((winner == place).sum()),
            _chosen_alone(run, kind, sample),
        )
        for place, kind in enumerate(columns)
    ]
    return sorted(found_by_kind, key=lambda one: -one.decided), len(sample)


def _chosen_alone(run: StoredRun, kind: str, pairs: Int32) -> float | None:
    if kind not in run.evidence or not len(pairs):
        return None
    ids, scores = rows_of(run.evidence[kind], pairs[:, 0]).top_k_arrays(2)
    return float(((ids[:, 0] == pairs[:, 1]) & (scores[:, 0] > scores[:, 1])).mean())


def anchors_by_round(run: StoredRun) -> list[tuple[int, float]]:
    """Return the number of anchors of each round, and the share of them that is new in it."""
    target = np.full(run.source.size, -1, np.int32)
    found = []
    for anchors in run.rounds:
        is_new = target[anchors.source] != anchors.target
        found.append((len(anchors), float(is_new.mean()) if len(anchors) else 0.0))
        target = np.full(run.source.size, -1, np.int32)
        target[anchors.source] = anchors.target
    return found


def degree_shares(graph: KnowledgeGraph) -> list[float]:
    """Return the share of entities with 0, 1, 2, 3-4, 5-8, ... triples, `[_DEGREE_BINS]`; see `DEGREES`."""
    degrees = graph.degrees()
    place = np.ceil(np.log2(np.maximum(degrees, 1))).astype(np.int64) + (degrees > 0)
    counts = np.bincount(np.minimum(place, _DEGREE_BINS - 1), minlength=_DEGREE_BINS)
    return [float(share) for share in counts / max(graph.size, 1)]


def _degree_labels() -> list[str]:
    labels = ["0", "1", "2"] + [f"\u2264{2**power}" for power in range(2, _DEGREE_BINS - 2)]
    return [*labels, "more"]


DEGREES = _degree_labels()
"""What the bins of `degree_shares` are called."""


def unmatched_reasons(alignment: Alignment) -> dict[str, tuple[int, int]]:
    """Return the number of unmatched source and target entities by the reasons of `unmatched.tsv`."""
    by_side = [_reasons(alignment, side) for side in (0, 1)]
    return {reason: (by_side[0][reason], by_side[1][reason]) for reason in by_side[0]}


def _reasons(alignment: Alignment, side: int) -> dict[str, int]:
    graph, other = (alignment.source, alignment.target)[:: 1 - 2 * side]
    unmatched = (alignment.unmatched_source_ids, alignment.unmatched_target_ids)[side]
    taken = np.concatenate([alignment.pairs[:, 1 - side], alignment.same.pairs[:, 1 - side]])
    names = graph.names.take(pa.array(unmatched))
    rivals = other.names.take(pa.array(taken))
    same = int(are_in(names, rivals).sum())
    return {
        NO_NAME: names.null_count,
        SAME_NAME: same,
        NO_FREE_CANDIDATE: len(names) - names.null_count - same,
    }


@dataclass(frozen=True)
class BatchFigures:
    """Mini-batches: their entities of each graph, and the share of each graph's triples kept inside them."""

    sizes: tuple[list[int], list[int]]
    kept: tuple[float, float]


def batch_figures(run: StoredRun) -> BatchFigures | None:
    """Return the sizes of the mini-batches and the triples they keep; None if there were none."""
    if not run.has("batches"):
        return None
    parts = Assignment.from_arrays(run.load("batches"))
    sizes = batch_sizes(Task(run.source, run.target), parts)
    cut = (
        edge_cut(run.source.triples, parts.source, parts),
        edge_cut(run.target.triples, parts.target, parts),
    )
    return BatchFigures((sizes["source"], sizes["target"]), (1 - cut[0], 1 - cut[1]))


def stage_costs(manifest: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Return each stage with its seconds over all rounds and its peak memory in MB, slowest first."""
    costs = []
    for stage, calls in manifest["timings"].items():
        seconds = sum(float(call["seconds"]) for call in calls.values())
        memory = max((float(call["memory_mb"]["host"]) for call in calls.values()), default=0.0)
        costs.append((stage, seconds, memory))
    return sorted(costs, key=lambda cost: -cost[1])


def spread(length: int, most: int) -> Int64:
    """Return at most `most` positions below `length`, evenly spread."""
    return np.unique(np.arange(most) * length // most) if length > most else np.arange(length)


def named_share(graph: KnowledgeGraph) -> float:
    """Return the share of the entities to be matched that have a name."""
    linkable = graph.linkable
    return float((graph.named & linkable).sum() / max(linkable.sum(), 1))
