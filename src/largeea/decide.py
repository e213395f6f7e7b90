"""From scores to an answer: one-to-one pairs, how sure we are of each, and what stays without counterpart."""

from __future__ import annotations

import numpy as np

from largeea.alignment import Alignment
from largeea.assignment import exact_one_to_one
from largeea.config import DecisionConfig
from largeea.graph import Bool, Float32, Int32, Links, Task
from largeea.progress import note
from largeea.similarity import Similarity

AT_ONCE = 1 << 20
"""Pairs looked at together; of the later ones hardly any still has both ends free."""


def decide(
    task: Task,
    fused: Similarity,
    evidence: dict[str, Similarity],
    config: DecisionConfig,
    likelihood: Similarity | None = None,
    features: dict[str, Similarity] | None = None,
) -> Alignment:
    """Seeds as given; then pairs chosen by `config.assignment`; then, for review, the best of what is left.

    The fused scores say which pairs; the likelihood how confident to be, or without one the mean of the
    evidence, in [0, 1]. A chosen pair that is less confident than `config.accept` is for review, too, and
    so are the least likely ones where too few of the accepted would be right (`config.precision`).
    What `features` say of a pair is shown beside the evidence that is made of them.
    """
    given = _given(task)
    open_sources = _free(task.source.anonymous, given.source)
    open_targets = _free(task.target.anonymous, given.target)
    candidates = fused.restrict(open_sources, open_targets)
    chosen = exact_one_to_one(candidates) if config.assignment == "exact" else candidates.mutual_best()
    left_over = greedy_one_to_one(
        candidates.restrict(_free(~open_sources, chosen.source), _free(~open_targets, chosen.target))
    )
    found = Links(np.concatenate([given.pairs, chosen.pairs, left_over.pairs]))
    columns = _columns(evidence, found)
    confidence = np.mean(list(columns.values()), axis=0) if likelihood is None else likelihood.score_of(found)
    accepted = confidence >= config.accept
    accepted[: len(given)] = accepted[len(given) + len(chosen) :] = False
    if likelihood is not None:
        accepted &= _worth_trusting(np.where(accepted, confidence, 0), config.precision)
        if len(chosen) and not accepted.any():
            note(
                f"warning: by their confidence, fewer than {config.precision:.0%} of even the surest pairs "
                "are right: all are for review; check seeds and names, or lower decision.precision"
            )
    accepted[: len(given)], confidence[: len(given)] = True, 1
    order = np.lexsort((found.target, found.source, -confidence, ~accepted))
    columns |= _columns(features or {}, found)
    columns = {name: column[order] for name, column in columns.items()}
    return Alignment(
        task.source, task.target, found.pairs[order], confidence[order], accepted[order], columns
    )


def _columns(evidence: dict[str, Similarity], found: Links) -> dict[str, Float32]:
    return {name: np.clip(similarity.score_of(found), 0, 1) for name, similarity in evidence.items()}


def greedy_one_to_one(similarity: Similarity) -> Links:
    """The best pair, then the best among what is left, and so on; ties go to smaller ids."""
    best_first = np.argsort(-similarity.scores, kind="stable")
    pairs = np.column_stack([similarity.rows, similarity.indices])[best_first]
    return Links(pairs[_first_come(pairs, *similarity.shape)])


def _worth_trusting(chance: Float32, precision: float) -> Bool:
    """The likeliest pairs, as many as are right in so large a share if each is as likely as it says."""
    best_first = np.argsort(-chance, kind="stable")
    expected = np.cumsum(chance[best_first], dtype=np.float64) / np.arange(1, len(chance) + 1)
    trusted = np.zeros(len(chance), bool)
    trusted[best_first[expected >= precision]] = True
    return trusted


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


def _first_come(pairs: Int32, sources: int, targets: int) -> Bool:
    """Which pairs, from first to last, find both of their ends still free, `[n]`.

    A loop in Python, as it has little to do: starting a compiler would take longer.
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
