"""The probability that each pair is correct, lowered if names and structure contradict each other."""

from __future__ import annotations

from largeea.graph import Links
from largeea.matching.calibration import calibrated
from largeea.matching.fusion import Channels, match_one_to_one
from largeea.progress import warn
from largeea.similarity import Similarity

STRUCTURAL = ("neighbours", "surroundings")
MIN_STRUCTURAL_SCORE = 0.5
"""Minimum structural score for a pair to count in `confirmed_share`."""
MIN_PAIRS = 40
"""Minimum number of pairs needed to compare names with structure."""
MIN_CONFIRMED = 0.25
"""Confirmed share below which names and structure contradict each other."""


def likelihood(
    channels: Channels,
    weights: dict[str, float],
    top_k: int,
    temperature: float,
    no_match_score: float,
    iterations: int,
    check: Links,
) -> Similarity:
    """Return the probability that each pair is correct, `[sources, targets]`.

    The probabilities are those of a one-to-one matching (Sinkhorn). If structure contradicts the names, they
    are lowered and the user is warned. Held-out seeds (`check`), if there are any, calibrate them.
    """
    shares = match_one_to_one(channels, weights, top_k, temperature, no_match_score, iterations)
    confirmed = confirmed_share(channels)
    if confirmed < MIN_CONFIRMED:
        warn(
            f"structure confirms only {confirmed:.0%} of the pairs that names suggest: names or structure "
            "mislead here, so confidence is lowered; check the names, or give seeds and go without names"
        )
        shares = shares.scale(max(confirmed, 1e-3))
    return calibrated(shares, check)


def confirmed_share(channels: Channels) -> float:
    """Return the share of the pairs chosen by names alone that structure alone chooses, too.

    Only pairs with structural evidence count; 1 if there are too few. Names and structure fail in different
    ways: reliable names and structure agree on most of these pairs, misleading names do not.
    """
    structural = [channels[kind] for kind in STRUCTURAL if kind in channels]
    if "name" not in channels or not structural:
        return 1.0
    by_structure = sum(structural[1:], structural[0])
    by_name = channels["name"].csls(1).mutual_best()
    best, score = by_structure.best()
    asked = score[by_name.source] >= MIN_STRUCTURAL_SCORE
    if asked.sum() < MIN_PAIRS:
        return 1.0
    return float((best[by_name.source] == by_name.target)[asked].mean())
