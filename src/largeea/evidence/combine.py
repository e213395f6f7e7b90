"""All kinds of evidence in one score, and what that score is worth."""

from __future__ import annotations

from largeea.config import DecisionConfig, EvidenceConfig
from largeea.progress import note
from largeea.similarity import Similarity
from largeea.sinkhorn import sinkhorn

Channels = dict[str, Similarity]
"""What each kind of evidence says, such as "name" or "neighbours"; one that is not there is left out."""

TELLING = 0.5
"""Structural evidence from which it is worth asking."""
FEW = 40
"""Fewer pairs than this confirm or refute nothing."""
UNSOUND = 0.25
"""Share of confirmed names below which names and structure tell different stories."""


def combined(shape: tuple[int, int], channels: Channels, config: EvidenceConfig) -> Similarity:
    """The weighted mean of all evidence, in [0, 1]; each source keeps its `top_k` best."""
    chosen = {"neighbours": config.neighbours, "surroundings": config.surroundings}
    weights = {kind: chosen.get(kind, 1.0) for kind in channels if chosen.get(kind, 1.0)}
    total = Similarity.empty(shape)
    if not weights:
        return total
    for kind, weight in weights.items():
        total = total + channels[kind].scale(weight / sum(weights.values()))
    return total.top_k(config.top_k)


def matched(shape: tuple[int, int], channels: Channels, config: EvidenceConfig) -> Similarity:
    """Probabilities of a one-to-one matching, sharp: made to rank candidates and to choose anchors."""
    even = config.even_by_name if set(channels) == {"name"} else config.even
    return sinkhorn(combined(shape, channels, config), config.temperature, even, config.balancing)


def likelihood(
    shape: tuple[int, int], channels: Channels, config: EvidenceConfig, decision: DecisionConfig
) -> Similarity:
    """How sure to be of each pair: probabilities as sharp as development data showed them to be right.

    Where structure refutes the names it was built on, nothing is sure, and the user is told.
    """
    scores = combined(shape, channels, config)
    shares = sinkhorn(scores, decision.temperature, decision.even, config.balancing)
    sound = witnessed(channels)
    if sound >= UNSOUND:
        return shares
    note(
        f"warning: structure confirms only {sound:.0%} of the pairs that names suggest: names or structure "
        "mislead here, so confidence is cut down; check the names, or give seeds and go --without names"
    )
    return shares.scale(max(sound, 1e-3))


def witnessed(channels: Channels) -> float:
    """How far structure, asked alone, confirms the pairs that names alone would choose; 1 if it has no say.

    Names and structure fail in different ways. Where both are sound they agree on most pairs that both know;
    where names mislead, evidence that was built on them points anywhere but back to them.
    """
    structural = [channels[kind] for kind in ("neighbours", "surroundings") if kind in channels]
    if "name" not in channels or not structural:
        return 1.0
    by_structure = sum(structural[1:], structural[0])
    by_name = channels["name"].csls(1).mutual_best()
    best, score = by_structure.best()
    asked = score[by_name.source] >= TELLING
    if asked.sum() < FEW:
        return 1.0
    return float((best[by_name.source] == by_name.target)[asked].mean())
