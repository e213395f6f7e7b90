"""One training loop for every model that is a torch network."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import nn

from largeea.errors import UsageError
from largeea.progress import note, track
from largeea.structure.batch import Batch
from largeea.structure.models.losses import Objective
from largeea.structure.models.options import Embeddings, TrainingOptions

Network = Callable[[Batch, int, torch.Generator], nn.Module]
"""`(local batch, dimension, generator)` to a module whose call gives `[n_s + n_t, d]`, sources first."""


@dataclass(frozen=True)
class Recipe:
    """What a model chooses where `TrainingOptions` leave it open."""

    dimension: int
    loss: str
    learning_rate: dict[str, float]
    margin: float
    negatives_per_seed: dict[str, int]
    dropout: float = 0.0

    def complete(self, options: TrainingOptions) -> TrainingOptions:
        """The options with every gap filled."""
        loss = options.loss or self.loss
        return replace(
            options,
            loss=loss,
            dimension=options.dimension or self.dimension,
            learning_rate=options.learning_rate or self.learning_rate[loss],
            margin=options.margin or self.margin,
            negatives_per_seed=options.negatives_per_seed or self.negatives_per_seed[loss],
        )


def train(network: Network, batch: Batch, options: TrainingOptions, recipe: Recipe) -> Embeddings:
    """Fit a network to the seeds of a batch. Weights are drawn on the CPU, so that devices start alike."""
    if not len(batch.seeds):
        raise UsageError(
            "a structure model learns from seeds, and there are none: give some, or let data augmentation "
            "(DA) make them from names"
        )
    options = recipe.complete(options)
    device = chosen_device(options.device)
    generator = torch.Generator().manual_seed(options.seed)
    local = batch.local()
    assert options.dimension is not None
    assert options.learning_rate is not None
    with cpu_threads(options.threads):
        module = network(local, options.dimension, generator).to(device)
        objective = Objective(local, options, recipe.dropout, device)
        optimiser = torch.optim.Adam(module.parameters(), lr=options.learning_rate)
        mixed = options.precision == "bf16" and device.type == "cuda"
        started = time.perf_counter()
        for epoch in track(range(options.epochs), options.epochs):
            with torch.autocast(device.type, torch.bfloat16, enabled=mixed):
                loss = objective(module(), epoch)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            if (epoch + 1) % max(1, options.epochs // 5) == 0:
                _tell(epoch + 1, options.epochs, loss.item(), time.perf_counter() - started)
        with torch.no_grad():
            vectors = module().float().cpu().numpy()
    return Embeddings(vectors[: len(local.source)], vectors[len(local.source) :])


def chosen_device(name: str) -> torch.device:
    """The torch device of that name; "auto" is CUDA where there is one."""
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    device = torch.device(("cuda" if there else "cpu") if name == "auto" else name)
    if device.type == "cuda" and (device.index or 0) >= there:
        raise UsageError(f"device {name!r} is not there: torch sees {there} CUDA devices; use cpu or auto")
    return device


@contextmanager
def cpu_threads(count: int | None) -> Iterator[None]:
    """Let torch use so many CPU threads inside this context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _tell(epoch: int, epochs: int, loss: float, seconds: float) -> None:
    left = seconds / epoch * (epochs - epoch)
    note(f"epoch {epoch} of {epochs}, loss {loss:.4f}, {left:.0f} s left")
