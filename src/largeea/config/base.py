"""What the sections of the configuration have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

WITHOUT_NULL = r"^[^\x00]*$"
"""Pattern of texts that may be paths: no path contains a null character."""
LEAST_WEIGHT = 1e-6


def _not_tiny(weight: float) -> float:
    if 0 < weight < LEAST_WEIGHT:
        raise ValueError(
            f"is too small to count; allowed are 0, which switches it off, and {LEAST_WEIGHT} or more"
        )
    return weight


Weight = Annotated[float, AfterValidator(_not_tiny)]
"""How much one kind of evidence counts relative to another: 0, or at least `LEAST_WEIGHT`."""


class Section(BaseModel):
    """A section of the configuration: immutable, without unknown settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)
