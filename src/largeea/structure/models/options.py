"""What can be chosen about training a structure model, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

from largeea.config import StructureConfig
from largeea.errors import UsageError
from largeea.graph import Float32


class Embeddings(NamedTuple):
    """Vectors of the entities of a batch, in its order: `source[n_s, d]`, `target[n_t, d]`."""

    source: Float32
    target: Float32


@dataclass(frozen=True)
class TrainingOptions:
    """How to train a structure model; None leaves a value to the model.

    dimension: D, the length of an entity's own vector; what a model returns may be longer.
    epochs: passes over the seeds; every pass is one step of the optimiser.
    learning_rate: of Adam.
    loss: "triplet" (margin, the paper's) or "logsumexp" (the hardest negatives count most).
    margin: gamma of the triplet loss.
    negatives: wrong counterparts to push away: the "nearest" ones, or "uniform" at random.
    negatives_per_seed: how many of them for each end of a seed.
    refresh_every: epochs after which the nearest negatives are searched anew.
    device: "auto" (CUDA where there is one), "cpu", "cuda" or "cuda:N".
    precision: "fp32", or "bf16" for mixed precision.
    seed: root of all randomness.
    threads: CPU threads of torch; None leaves them alone.
    """

    dimension: int | None = None
    epochs: int = 100
    learning_rate: float | None = None
    loss: str | None = None
    margin: float | None = None
    negatives: str = "nearest"
    negatives_per_seed: int | None = None
    refresh_every: int = 5
    device: str = "auto"
    precision: str = "fp32"
    seed: int = 0
    threads: int | None = None

    @classmethod
    def of(cls, config: StructureConfig) -> Self:
        """As configured; 0 and "auto" there leave a value to the model."""
        given = config.model_dump(exclude={"model", "metric", "top_k", "device"})
        free = {option: None for option, value in given.items() if value in (0, "auto")}
        return cls(**given | free, device=config.device)

    def __post_init__(self) -> None:
        choices = {
            "loss": (None, "triplet", "logsumexp"),
            "negatives": ("nearest", "uniform"),
            "precision": ("fp32", "bf16"),
        }
        for option, allowed in choices.items():
            if getattr(self, option) not in allowed:
                names = ", ".join(name for name in allowed if name)
                raise UsageError(f"training option {option} = {getattr(self, option)!r} is none of {names}")
        for option in ("dimension", "epochs", "negatives_per_seed", "refresh_every", "threads"):
            value = getattr(self, option)
            if value is not None and value < 1:
                raise UsageError(f"training option {option} = {value}: give a whole number of at least 1")
        for option in ("learning_rate", "margin"):
            value = getattr(self, option)
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"training option {option} = {value}: give a number above 0")
        if self.device not in ("auto", "cpu") and self.device.partition(":")[0] != "cuda":
            raise UsageError(f"training option device = {self.device!r} is none of auto, cpu, cuda, cuda:N")
