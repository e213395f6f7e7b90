"""A plan: what each stage of a run will need, before hours are spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from largeea.errors import ResourceError

GB = 1e9


@dataclass(frozen=True)
class Need:
    """What one stage needs at its peak."""

    stage: str
    host: int
    """Resident memory of the whole process, in bytes."""
    gpu: int = 0
    """Memory on the GPU, in bytes."""
    disk: int = 0
    """Size of the stored result, in bytes."""
    seconds: float = 0.0
    """Rough time."""


class GpuNeed(NamedTuple):
    """What one stage takes on a GPU."""

    stage: str
    size: int
    """Bytes at its peak."""
    fits: bool = True
    """False if the GPU has too little memory, so that the CPU carries the stage out."""


@dataclass(frozen=True)
class Plan:
    """The needs of all stages, in order, and what had to be lowered to stay within the memory limit."""

    needs: tuple[Need, ...]
    memory: int
    gpu_memory: int | None
    adjustments: tuple[str, ...] = ()
    """What a lack of memory makes worse, in words; empty in most runs."""

    @property
    def peak(self) -> Need:
        """The stage that needs most memory."""
        return max(self.needs, key=lambda need: need.host)

    @property
    def seconds(self) -> float:
        """Rough time of all stages."""
        return sum(need.seconds for need in self.needs)

    @property
    def disk(self) -> int:
        """Size of all stored results, in bytes."""
        return sum(need.disk for need in self.needs)

    def check(self) -> None:
        """An error if a stage cannot stay within the memory limit."""
        if self.peak.host > self.memory:
            raise ResourceError(
                f"the stage {self.peak.stage!r} needs about {self.peak.host / GB:.1f} GB of memory, and "
                f"{self.memory / GB:.1f} GB are allowed; allow more (--memory), keep fewer candidates "
                "(names.top_k, evidence.top_k), or split the graphs"
            )
        for need in self.needs:
            if self.gpu_memory is not None and need.gpu > self.gpu_memory:
                raise ResourceError(
                    f"the stage {need.stage!r} needs about {need.gpu / GB:.1f} GB of GPU memory, and "
                    f"{self.gpu_memory / GB:.1f} GB are allowed; allow more (--gpu-memory) or use the CPU"
                )

    def to_plain(self) -> dict[str, Any]:
        """For the manifest and for machines."""
        return asdict(self) | {"peak": self.peak.host, "seconds": self.seconds, "disk": self.disk}


def first_that_fits(choices: list[Any], need: Callable[[Any], int], limit: int) -> Any:
    """The first choice whose need is within the limit; the last one if none is."""
    return next((choice for choice in choices if need(choice) <= limit), choices[-1])
