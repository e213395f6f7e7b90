"""Decision: from scores to pairs with confidence, accepted or doubtful; one-to-one unless asked otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Arrays, Bool, Float32, Int32, KnowledgeGraph, Links
from largeea.graph.lookup import are_in
from largeea.graph.same_iri import matched_kinds
from largeea.matching import kernels
from largeea.matching.alignment import Alignment
from largeea.matching.assignment import exact_one_to_one
from largeea.matching.cardinality import Cardinality, each_pair_once
from largeea.matching.forbidden import without_pairs
from largeea.matching.linkage import joining_pairs
from largeea.progress import note, warn
from largeea.similarity import Similarity

LEAST_BALANCED = 0.35
"""Where hardly anything can be told, F1 would be highest if everything were accepted."""
EVEN_ODDS = 0.5
"""Threshold within one graph: a wrong pair would join clusters, which costs more than a missing one."""
NOBODY = np.empty(0, np.int32)
LEAST_SHARED = 0.05
"""Entities with the name of an accepted pair, as a share of these pairs, that are worth a remark."""
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
    cardinality: str = Cardinality.ONE_TO_ONE,
    further: Links | None = None,
) -> Alignment:
    """Return the seeds and `further` given pairs, then the accepted pairs, then the doubtful ones.

    The fused scores select the pairs. One-to-one, these are first those chosen by `assignment`, then the best
    that remain; where only one end competes, the best of each such end; where none does, all. Within one
    graph, the accepted pairs are those inside a cluster (see `joining_pairs`). The confidence
    of a pair is its likelihood or, without one, the mean of the channels, in [0, 1]. A chosen pair is
    accepted from `threshold` on (0: see `balanced`). Other pairs are doubtful from `doubtful` on; below, they
    are left out, and their entities have no counterpart. `features` are the inputs of the channels; they are
    added to the evidence columns. Only linkable entities of equal kind are paired. Entities in `same`, the
    pairs with equal IRIs, are in no other pair.
    """
    allowed = Cardinality(cardinality)
    if allowed is Cardinality.WITHIN:
        fused, channels, features, likelihood, seeds = _once(fused, channels, features, likelihood, seeds)
    kinds = matched_kinds(source, target, same)
    for side, graph in (("source", source), ("target", target)):
        kinds[side][~graph.linkable] = -1
    given = _given(seeds, further or Links.none(), kinds["source"] >= 0, kinds["target"] >= 0)
    open_sources = _free(kinds["source"] < 0, given.source if allowed.one_target else NOBODY)
    open_targets = _free(kinds["target"] < 0, given.target if allowed.one_source else NOBODY)
    candidates = fused.of_equal_kind(
        np.where(open_sources, kinds["source"], np.int8(-1)),
        np.where(open_targets, kinds["target"], np.int8(-2)),
    )
    left_over, apart = Links.none(), Links.none()
    if allowed is Cardinality.ONE_TO_ONE:
        chosen = exact_one_to_one(candidates) if assignment == "exact" else candidates.mutual_best()
        left_over = greedy_one_to_one(
            candidates.restrict(_free(~open_sources, chosen.source), _free(~open_targets, chosen.target))
        )
    elif allowed.one_source or allowed.one_target:
        chosen = allowed.best_pairs(candidates)
    else:
        others = without_pairs(candidates, given)
        chosen = Links(np.column_stack([others.rows, others.indices]))
        sure = _confidence(channels, likelihood, chosen)
        if allowed is Cardinality.WITHIN:
            threshold = threshold or EVEN_ODDS
            joining = joining_pairs(chosen, sure, threshold, source.size)
            apart = chosen.take(~joining & (sure >= threshold))
        chosen = chosen.take(sure >= doubtful)
    found = Links(np.concatenate([given.pairs, chosen.pairs, left_over.pairs]))
    columns = _columns(channels, found)
    confidence = _confidence(channels, likelihood, found)
    if not threshold:
        threshold = 0.5 if likelihood is None else balanced(confidence[len(given) : len(given) + len(chosen)])
    accepted = confidence >= threshold
    accepted[len(given) + len(chosen) :] = False
    accepted &= ~found.are_in(apart)
    if len(chosen) and not accepted[len(given) :].any() and allowed is not Cardinality.WITHIN:
        _warn_of_doubt(len(given), len(chosen), threshold, float(confidence[len(given) :].max()))
    accepted[: len(given)], confidence[: len(given)] = True, 1
    order = np.lexsort((found.source, -confidence, ~accepted))
    order = order[(accepted | (confidence >= doubtful))[order]]
    columns |= _columns(features, found)
    columns = {name: column[order] for name, column in columns.items()}
    told = same.take(source.linkable[same.source] | target.linkable[same.target])
    decided = found.pairs[order], confidence[order], accepted[order]
    answer = Alignment(source, target, *decided, columns, Links(told.pairs), order < len(given), allowed)
    if allowed is Cardinality.ONE_TO_ONE:
        _tell_shared_names(answer)
    return answer


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


def _confidence(channels: dict[str, Similarity], likelihood: Similarity | None, found: Links) -> Float32:
    """The likelihood of pairs or, without one, the mean of the channels, `[n]`."""
    if likelihood is not None:
        return likelihood.score_of(found)
    return np.asarray(np.mean(list(_columns(channels, found).values()), axis=0), np.float32)


def _once(
    fused: Similarity,
    channels: dict[str, Similarity],
    features: dict[str, Similarity],
    likelihood: Similarity | None,
    seeds: Links,
) -> tuple[Similarity, dict[str, Similarity], dict[str, Similarity], Similarity | None, Links]:
    """What is known about pairs within one graph, each pair once."""
    others = seeds.take(seeds.source != seeds.target)
    return (
        each_pair_once(fused),
        {name: each_pair_once(channel) for name, channel in channels.items()},
        {name: each_pair_once(feature) for name, feature in features.items()},
        None if likelihood is None else each_pair_once(likelihood),
        Links(np.sort(others.pairs, axis=1), others.weight).canonical(),
    )


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


def _tell_shared_names(answer: Alignment) -> None:
    """Tell if many entities have the name of an accepted pair: perhaps they belong to it, too."""
    graphs, links = (answer.source, answer.target), answer.links
    names = [graph.names.take(pa.array(ends)) for graph, ends in zip(graphs, links.pairs.T, strict=True)]
    taken = names[0].filter(pc.equal(*names))
    for graph, ends, side, other, cardinality in (
        (graphs[0], links.source, "source", "target", "n:1"),
        (graphs[1], links.target, "target", "source", "1:n"),
    ):
        left = np.flatnonzero(_free(~graph.linkable, ends))
        count = int(are_in(graph.names.take(pa.array(left)), taken).sum())
        if count and count >= LEAST_SHARED * len(links):
            note(
                f"{count:,} {side} entities have the name of a {other} entity that another one was paired "
                f"with; if several may be the same, set decision.cardinality to {cardinality!r}"
            )


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


def _given(links: Links, further: Links, sources: Bool, targets: Bool) -> Links:
    """Return the seeds between entities of these masks, made one-to-one, and the further pairs between them.

    Higher weights take precedence.
    """
    weight = np.ones(len(links)) if links.weight is None else links.weight
    seeds = Similarity.from_entries(links.source, links.target, weight, (len(sources), len(targets)))
    one_to_one = greedy_one_to_one(seeds.restrict(sources, targets))
    others = further.take(sources[further.source] & targets[further.target])
    given = Links(np.concatenate([one_to_one.pairs, others.pairs]))
    if left_out := len(seeds) + len(further) - len(given):
        warn(
            f"{left_out} seeds are left out: they contradict other seeds or equal IRIs, or "
            "name blank nodes or entities that are not matched"
        )
    return given


def _free(taken: Bool, also_taken: Int32) -> Bool:
    free = ~taken
    free[also_taken] = False
    return free
