"""From scores to an answer: one-to-one pairs, how sure we are of each, and what stays without counterpart."""

from __future__ import annotations

import numba
import numpy as np

from largeea.alignment import Alignment
from largeea.config import DecisionConfig
from largeea.graph import Bool, Int32, Links, Task
from largeea.progress import note
from largeea.similarity import Similarity


def decide(
    task: Task,
    fused: Similarity,
    evidence: dict[str, Similarity],
    config: DecisionConfig,
    likelihood: Similarity | None = None,
) -> Alignment:
    """Seeds as given; then pairs that are each other's best; then, for review, the best of what is left.

    The fused scores say which pairs; the likelihood how confident to be, or without one the mean of the
    evidence, in [0, 1]. A pair that is not mutual, or less confident than `config.accept`, is for review.
    """
    given = _given(task)
    open_sources = _free(task.source.anonymous, given.source)
    open_targets = _free(task.target.anonymous, given.target)
    candidates = fused.restrict(open_sources, open_targets)
    mutual = candidates.mutual_best()
    left_over = greedy_one_to_one(
        candidates.restrict(_free(~open_sources, mutual.source), _free(~open_targets, mutual.target))
    )
    found = Links(np.concatenate([given.pairs, mutual.pairs, left_over.pairs]))
    columns = {name: np.clip(similarity.score_of(found), 0, 1) for name, similarity in evidence.items()}
    confidence = np.mean(list(columns.values()), axis=0) if likelihood is None else likelihood.score_of(found)
    accepted = confidence >= config.accept
    accepted[: len(given)], accepted[len(given) + len(mutual) :] = True, False
    confidence[: len(given)] = 1
    order = np.lexsort((found.target, found.source, -confidence, ~accepted))
    columns = {name: column[order] for name, column in columns.items()}
    return Alignment(
        task.source, task.target, found.pairs[order], confidence[order], accepted[order], columns
    )


def greedy_one_to_one(similarity: Similarity) -> Links:
    """The best pair, then the best among what is left, and so on; ties go to smaller ids."""
    best_first = np.argsort(-similarity.scores, kind="stable")
    pairs = np.column_stack([similarity.rows, similarity.indices])[best_first]
    return Links(pairs[_first_come(pairs, *similarity.shape)])


def _given(task: Task) -> Links:
    """The seeds that an answer can hold: no blank nodes, and of contradicting ones the weightier."""
    weight = np.ones(len(task.seeds)) if task.seeds.weight is None else task.seeds.weight
    shape = task.source.size, task.target.size
    seeds = Similarity.from_entries(task.seeds.source, task.seeds.target, weight, shape)
    given = greedy_one_to_one(seeds.restrict(~task.source.anonymous, ~task.target.anonymous))
    if len(given) < len(seeds):
        note(f"{len(seeds) - len(given)} seeds are left out: they contradict other seeds or name blank nodes")
    return given


def _free(taken: Bool, also_taken: Int32) -> Bool:
    free = ~taken
    free[also_taken] = False
    return free


@numba.njit(cache=True)
def _first_come(pairs: Int32, sources: int, targets: int) -> Bool:
    """Which pairs, from first to last, find both of their ends still free, `[n]`."""
    free_source, free_target = np.ones(sources, np.bool_), np.ones(targets, np.bool_)
    served = np.zeros(len(pairs), np.bool_)
    for i in range(len(pairs)):
        source, target = pairs[i]
        if free_source[source] and free_target[target]:
            served[i], free_source[source], free_target[target] = True, False, False
    return served
