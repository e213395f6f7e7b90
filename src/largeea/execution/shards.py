"""`Shards`: values that the jobs of a map share among themselves, a part for each job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shards:
    """A shared value in parts: job i of a map gets part i alone."""

    parts: tuple[Any, ...]


def share_of(place: int, shared: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the job at this place gets of the values that are shared."""
    return tuple(value.parts[place] if isinstance(value, Shards) else value for value in shared)
