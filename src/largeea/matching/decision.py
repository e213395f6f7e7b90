"""Decision: from scores to one-to-one pairs with confidence, accepted or doubtful."""

from __future__ import annotations

from typing import Any

import numpy as np

from largeea.graph import Arrays, Bool, Float32, Int32, KnowledgeGraph, Links
from largeea.graph.same_iri import matched_kinds
from largeea.matching import kernels
from largeea.matching.alignment import Alignment
from largeea.matching.assignment import exact_one_to_one
from largeea.progress import warn
from largeea.similarity import Similarity

LEAST_BALANCED = 0.35
"""Where hardly anything can be told, F1 would be highest if everything were accepted."""
LEAST_LEFT = 0.05
"""Pairs besides the given ones, as a share of these, that are worth a warning if none is accepted."""


def decide(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    seeds: Links,
    same: Links,
    fused: Similarity,
    channels: dict[str, Similarity],
    features: dict[str, Similarity],
    likelihood: Similarity | None,
    threshold: float,
    doubtful: float,
    assignment: str,
) -> Alignment:
    """Return the seeds, then the accepted pairs, then the doubtful ones.

    The fused scores select the pairs: first those chosen by `assignment`, then the best that remain. The
    confidence of a pair is its likelihood or, without one, the mean of the channels, in [0, 1]. A chosen pair
    is accepted from `threshold` on (0: see `balanced`). Other pairs are doubtful from `doubtful` on; below,
    they are left out, and their entities have no counterpart. `features` are the inputs of the channels; they
    are added to the evidence columns. Only entities of equal kind are paired. Entities in `same`, the pairs
    with equal IRIs, are in no other pair.
    """
    kinds = matched_kinds(source, target, same)
    given = _given(seeds, kinds["source"] >= 0, kinds["target"] >= 0)
    open_sources = _free(kinds["source"] < 0, given.source)
    open_targets = _free(kinds["target"] < 0, given.target)
    candidates = fused.of_equal_kind(
        np.where(open_sources, kinds["source"], np.int8(-1)),
        np.where(open_targets, kinds["target"], np.int8(-2)),
    )
    chosen = exact_one_to_one(candidates) if assignment == "exact" else candidates.mutual_best()
    left_over = greedy_one_to_one(
        candidates.restrict(_free(~open_sources, chosen.source), _free(~open_targets, chosen.target))
    )
    found = Links(np.concatenate([given.pairs, chosen.pairs, left_over.pairs]))
    columns = _columns(channels, found)
    confidence = np.mean(list(columns.values()), axis=0) if likelihood is None else likelihood.score_of(found)
    if not threshold:
        threshold = 0.5 if likelihood is None else balanced(confidence[len(given) : len(given) + len(chosen)])
    accepted = confidence >= threshold
    accepted[len(given) + len(chosen) :] = False
    if len(chosen) and not accepted[len(given) :].any():
        _warn_of_doubt(len(given), len(chosen), threshold, float(confidence[len(given) :].max()))
    accepted[: len(given)], confidence[: len(given)] = True, 1
    order = np.lexsort((found.source, -confidence, ~accepted))
    order = order[(accepted | (confidence >= doubtful))[order]]
    columns |= _columns(features, found)
    columns = {name: column[order] for name, column in columns.items()}
    told = same.take(source.linkable[same.source] | target.linkable[same.target])
    decided = found.pairs[order], confidence[order], accepted[order]
    return Alignment(source, target, *decided, columns, Links(told.pairs), order < len(given))


def balanced(confidence: Float32) -> float:
    """Return a threshold with about the highest expected F1, given the probabilities of the chosen pairs.

    Of all thresholds whose expected F1 is within a standard error of the highest, it is the lowest: more
    pairs are accepted where nobody can tell which threshold is best. It is not below `LEAST_BALANCED`.
    """
    chances = np.sort(confidence.astype(np.float64))[::-1]
    right = np.cumsum(chances)
    counted = np.arange(1, len(chances) + 1) + chances.sum()
    f1 = 2 * right / counted
    error = 2 * np.sqrt((chances * (1 - chances)).sum()) / counted
    last_of_equals = np.append(chances[1:] < chances[:-1], True)[: len(chances)]
    good = np.flatnonzero(last_of_equals & (f1 >= f1[last_of_equals].max(initial=0) - error))
    return max(float(chances[good[-1]]) if len(good) else 0.0, LEAST_BALANCED)


def decided_arrays(*arguments: Any) -> Arrays:
    """Call `decide` and return its answer as arrays, without the graphs, which are already stored."""
    return decide(*arguments).to_arrays()


def _columns(evidence: dict[str, Similarity], found: Links) -> dict[str, Float32]:
    return {name: np.clip(similarity.score_of(found), 0, 1) for name, similarity in evidence.items()}


def greedy_one_to_one(similarity: Similarity) -> Links:
    """Return the one-to-one pairs chosen greedily, highest score first; ties go to smaller ids."""
    entries = kernels.greedy_entries(
        similarity.indptr, similarity.indices, similarity.scores, similarity.shape[1]
    )
    sources = np.flatnonzero(entries >= 0)
    best_first = sources[np.argsort(-similarity.scores[entries[sources]], kind="stable")]
    return Links(np.column_stack([best_first, similarity.indices[entries[best_first]]]))


def _warn_of_doubt(given: int, chosen: int, threshold: float, highest: float) -> None:
    """Tell that none of the chosen pairs is accepted, unless hardly any was left beside the given ones."""
    if chosen < LEAST_LEFT * given:
        return
    if chosen <= given:
        warn(
            f"besides the {given:,} given pairs, no pair reaches the confidence {threshold:.2f}; "
            f"the highest is {highest:.2f}"
        )
        return
    warn(
        f"no pair reaches the confidence {threshold:.2f}; the highest is {highest:.2f}: names, attributes "
        "and structure do not tell right pairs from wrong ones here; check the names (largeea inspect), "
        "give seeds, or lower the threshold"
    )


def _given(links: Links, sources: Bool, targets: Bool) -> Links:
    """Return the seeds between entities of these masks, made one-to-one; higher weights take precedence."""
    weight = np.ones(len(links)) if links.weight is None else links.weight
    seeds = Similarity.from_entries(links.source, links.target, weight, (len(sources), len(targets)))
    given = greedy_one_to_one(seeds.restrict(sources, targets))
    if len(given) < len(seeds):
        warn(
            f"{len(seeds) - len(given)} seeds are left out: they contradict other seeds or equal IRIs, or "
            "name blank nodes or entities that are not matched"
        )
    return given


def _free(taken: Bool, also_taken: Int32) -> Bool:
    free = ~taken
    free[also_taken] = False
    return free
