"""What the reviews say about the answer: how much is reviewed, and the precision of the accepted pairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt

from largeea.reviews import Reviews
from largeea.web.review.pairs import PairTable

_Z = 1.959964
"""Of a two-sided interval of 95 %."""


@dataclass(frozen=True)
class Estimate:
    """The precision of the accepted pairs, from the beginning of their random order.

    Only the pairs before the first one without a decision count, whatever order they were reviewed in: the
    beginning of a random order is a random sample, while the pairs that somebody chose to review are not.
    """

    right: int
    judged: int
    undecided: int
    """Pairs of the sample that nobody is sure about, or that authors disagree about; they are left out."""
    population: int
    precision: float | None
    low: float
    high: float


def estimate_precision(table: PairTable, reviews: Reviews) -> Estimate:
    """Return the estimated precision of the accepted pairs that were not given, with its interval of 95 %."""
    counts: Counter[str] = Counter()
    for pair in table.sample:
        verdict = reviews.verdict(table.iris(int(pair)))
        if verdict == "none":
            break
        counts[verdict] += 1
    right, judged = counts["same"], counts["same"] + counts["different"]
    return Estimate(
        right,
        judged,
        counts["unsure"] + counts["conflict"],
        len(table.sample),
        right / judged if judged else None,
        *wilson(right, judged),
    )


def wilson(right: int, judged: int) -> tuple[float, float]:
    """Return the Wilson score interval of 95 % for a share; all of [0, 1] if nothing was judged."""
    if not judged:
        return 0.0, 1.0
    share, spread = right / judged, _Z**2 / judged
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * sqrt(share * (1 - share) / judged + spread / (4 * judged)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def count_verdicts(reviews: Reviews) -> dict[str, int]:
    """Return how many pairs are the same, different, undecided and disputed."""
    counts = Counter(reviews.verdict(pair) for pair in reviews.pairs)
    return {kind: counts[kind] for kind in ("same", "different", "unsure", "conflict")}
