"""Decision: from scores to one-to-one pairs with confidence, accepted or for review."""

from __future__ import annotations

from typing import Any

import numpy as np

from largeea.graph import Arrays, Bool, Float32, Int32, KnowledgeGraph, Links
from largeea.matching.alignment import Alignment
from largeea.matching.assignment import exact_one_to_one
from largeea.progress import warn
from largeea.similarity import Similarity

AT_ONCE = 1 << 20
"""Pairs per block; in later blocks, hardly any pair still has both ends free."""


def decide(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    seeds: Links,
    fused: Similarity,
    channels: dict[str, Similarity],
    features: dict[str, Similarity],
    likelihood: Similarity | None,
    threshold: float,
    min_precision: float,
    assignment: str,
) -> Alignment:
    """Return the seeds, then the pairs chosen by `assignment`, then the best remaining pairs, for review.

    The fused scores select the pairs. The confidence of a pair is its likelihood or, without one, the mean of
    the channels, in [0, 1]. A chosen pair is for review if its confidence is below `threshold`, or if
    accepting it would lower the expected precision below `min_precision`. `features` are the inputs of the
    channels; they are added to the evidence columns.
    """
    given = _given(source, target, seeds)
    open_sources = _free(source.anonymous, given.source)
    open_targets = _free(target.anonymous, given.target)
    candidates = fused.restrict(open_sources, open_targets)
    chosen = exact_one_to_one(candidates) if assignment == "exact" else candidates.mutual_best()
    left_over = greedy_one_to_one(
        candidates.restrict(_free(~open_sources, chosen.source), _free(~open_targets, chosen.target))
    )
    found = Links(np.concatenate([given.pairs, chosen.pairs, left_over.pairs]))
    columns = _columns(channels, found)
    confidence = np.mean(list(columns.values()), axis=0) if likelihood is None else likelihood.score_of(found)
    accepted = confidence >= threshold
    accepted[: len(given)] = accepted[len(given) + len(chosen) :] = False
    if likelihood is not None:
        accepted &= _precise_enough(np.where(accepted, confidence, 0), min_precision)
        if len(chosen) and not accepted.any():
            warn(
                f"by their confidence, fewer than {min_precision:.0%} of even the most confident pairs are "
                "right: all are for review; check seeds and names, or lower decision.min_precision"
            )
    accepted[: len(given)], confidence[: len(given)] = True, 1
    order = np.lexsort((found.target, found.source, -confidence, ~accepted))
    columns |= _columns(features, found)
    columns = {name: column[order] for name, column in columns.items()}
    return Alignment(source, target, found.pairs[order], confidence[order], accepted[order], columns)


def decided_arrays(*arguments: Any) -> Arrays:
    """Call `decide` and return its answer as arrays, without the graphs, which are already stored."""
    return decide(*arguments).to_arrays()


def _columns(evidence: dict[str, Similarity], found: Links) -> dict[str, Float32]:
    return {name: np.clip(similarity.score_of(found), 0, 1) for name, similarity in evidence.items()}


def greedy_one_to_one(similarity: Similarity) -> Links:
    """Return the one-to-one pairs chosen greedily, highest score first; ties go to smaller ids."""
    best_first = np.argsort(-similarity.scores, kind="stable")
    pairs = np.column_stack([similarity.rows, similarity.indices])[best_first]
    return Links(pairs[_first_come(pairs, *similarity.shape)])


def _precise_enough(chance: Float32, precision: float) -> Bool:
    """Return the mask of the most confident pairs whose expected precision is at least `precision`, `[n]`."""
    best_first = np.argsort(-chance, kind="stable")
    expected = np.cumsum(chance[best_first], dtype=np.float64) / np.arange(1, len(chance) + 1)
    trusted = np.zeros(len(chance), bool)
    trusted[best_first[expected >= precision]] = True
    return trusted


def _given(source: KnowledgeGraph, target: KnowledgeGraph, links: Links) -> Links:
    """Return the seeds without blank nodes, made one-to-one; higher weights take precedence."""
    weight = np.ones(len(links)) if links.weight is None else links.weight
    seeds = Similarity.from_entries(links.source, links.target, weight, (source.size, target.size))
    given = greedy_one_to_one(seeds.restrict(~source.anonymous, ~target.anonymous))
    if len(given) < len(seeds):
        warn(f"{len(seeds) - len(given)} seeds are left out: they contradict other seeds or name blank nodes")
    return given


def _free(taken: Bool, also_taken: Int32) -> Bool:
    free = ~taken
    free[also_taken] = False
    return free


def _first_come(pairs: Int32, sources: int, targets: int) -> Bool:
    """Return the mask of the pairs whose two ends are in no earlier chosen pair, `[n]`.

    A Python loop is fast enough here; compiling it would take longer.
    """
    source_is_taken, target_is_taken = bytearray(sources), bytearray(targets)
    taken = np.frombuffer(source_is_taken, bool), np.frombuffer(target_is_taken, bool)
    served = np.zeros(len(pairs), bool)
    for start in range(0, len(pairs), AT_ONCE):
        source, target = pairs[start : start + AT_ONCE].T
        hopeful = np.flatnonzero(~(taken[0][source] | taken[1][target]))
        ends = source[hopeful].tolist(), target[hopeful].tolist()
        for place, s, t in zip((start + hopeful).tolist(), *ends, strict=True):
            if not (source_is_taken[s] or target_is_taken[t]):
                served[place] = source_is_taken[s] = target_is_taken[t] = True
    return served
