"""Precision and recall, and reliability: how far confidence and correctness agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from largeea.graph import Bool

BINS = 10
"""Number of bins of confidence, of equal width."""


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall, both in [0, 1]."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def to_json(self) -> dict[str, float]:
        """Return precision, recall and F1 by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, eq=False)
class Reliability:
    """Confidence and correctness of decisions by bins of confidence: three columns `[BINS]`.

    `count` is the number of decisions, `confidence` the sum of their confidences, and `right` the number of
    those that are right.
    """

    count: npt.NDArray[np.float64]
    confidence: npt.NDArray[np.float64]
    right: npt.NDArray[np.float64]

    @classmethod
    def of(cls, confidence: npt.NDArray[np.float64], right: Bool) -> Reliability:
        """Sort decisions into bins; both columns are `[n]`, and `confidence` is in [0, 1]."""
        place = np.minimum((confidence * BINS).astype(int), BINS - 1)
        columns = np.ones(len(place)), confidence, right.astype(np.float64)
        return cls(*(np.bincount(place, column, BINS).astype(np.float64) for column in columns))

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean gap between confidence and share right, over all bins."""
        return float(np.abs(self.right - self.confidence).sum() / max(self.count.sum(), 1))

    def to_json(self) -> list[dict[str, float]]:
        """Return bounds, number of decisions, mean confidence and share right of each bin that has any."""
        return [
            {
                "from": place / BINS,
                "to": (place + 1) / BINS,
                "count": int(self.count[place]),
                "confidence": float(self.confidence[place] / self.count[place]),
                "right": float(self.right[place] / self.count[place]),
            }
            for place in np.flatnonzero(self.count).tolist()
        ]
