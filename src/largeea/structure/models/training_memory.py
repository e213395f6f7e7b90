"""How much memory training takes. Known without importing torch, so that a plan is made fast."""

from __future__ import annotations

from typing import NamedTuple


class Cost(NamedTuple):
    """Peak memory of training on a batch: `fixed + per_dimension * D` bytes for each of its entities."""

    fixed: int
    per_dimension: int
    dimension: int
    """D if the settings leave it to the model."""


COSTS = {
    "rrea": Cost(15_000, 250, 100),
    "gcn-align": Cost(10_000, 100, 200),
    "propagation": Cost(10_000, 10, 2048),
}
"""More than measured on DBP15K FR-EN with 20 % seeds, since more seeds need more: rrea 24,000 at D = 100 and
47,000 at D = 400, gcn-align 18,000 at D = 200, propagation 12,000 at D = 2048."""
UNKNOWN = Cost(40_000, 0, 0)
"""Assumed for models of other packages."""


def bytes_per_entity(model: str, dimension: int = 0) -> int:
    """Peak memory for each entity of a batch; dimension 0 is the model's own choice."""
    cost = COSTS.get(model, UNKNOWN)
    return cost.fixed + cost.per_dimension * (dimension or cost.dimension)
