"""From scores to an answer: one-to-one pairs, how sure we are of each, and what stays without counterpart."""

from __future__ import annotations

import numpy as np

from largeea.alignment import Alignment
from largeea.config import DecisionConfig
from largeea.graph import Bool, Int32, Links, Task
from largeea.similarity import Similarity


def decide(
    task: Task, fused: Similarity, evidence: dict[str, Similarity], config: DecisionConfig
) -> Alignment:
    """Seeds as given; then pairs that are each other's best; then, for review, the best of what is left.

    The fused scores say which pairs; the evidence, in [0, 1], how confident to be: its mean. A pair that is
    not mutual, or less confident than `config.accept`, is for review.
    """
    open_sources = _free(task.source.anonymous, task.seeds.source)
    open_targets = _free(task.target.anonymous, task.seeds.target)
    candidates = fused.restrict(open_sources, open_targets)
    mutual = candidates.mutual_best()
    left_over = greedy_one_to_one(
        candidates.restrict(_free(~open_sources, mutual.source), _free(~open_targets, mutual.target))
    )
    found = Links(np.concatenate([task.seeds.pairs, mutual.pairs, left_over.pairs]))
    columns = {name: np.clip(similarity.score_of(found), 0, 1) for name, similarity in evidence.items()}
    confidence = np.mean(list(columns.values()), axis=0)
    accepted = confidence >= config.accept
    seeds, mutual_end = len(task.seeds), len(task.seeds) + len(mutual)
    accepted[:seeds], accepted[mutual_end:] = True, False
    confidence[:seeds] = 1
    order = np.lexsort((found.target, found.source, -confidence, ~accepted))
    columns = {name: column[order] for name, column in columns.items()}
    return Alignment(
        task.source, task.target, found.pairs[order], confidence[order], accepted[order], columns
    )


def greedy_one_to_one(similarity: Similarity) -> Links:
    """The best pair, then the best among what is left, and so on; ties go to smaller ids."""
    rounds = [np.empty((0, 2), np.int32)]
    sources, targets = np.ones(similarity.shape[0], bool), np.ones(similarity.shape[1], bool)
    while len(similarity):
        mutual = similarity.mutual_best()
        rounds.append(mutual.pairs)
        sources[mutual.source], targets[mutual.target] = False, False
        similarity = similarity.restrict(sources, targets)
    return Links(np.concatenate(rounds))


def _free(taken: Bool, also_taken: Int32) -> Bool:
    free = ~taken
    free[also_taken] = False
    return free
