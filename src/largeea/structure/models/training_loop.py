"""The training loop of all models that are torch networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from largeea.config import StructureConfig
from largeea.errors import UsageError
from largeea.execution.devices import torch_device
from largeea.execution.settings import current
from largeea.progress import note, track
from largeea.structure.batch import Batch, Embeddings
from largeea.structure.models.losses import Objective

Network = Callable[[Batch, int, torch.Generator], nn.Module]
"""`(local batch, dimension, generator)` to a module whose call gives `[n_s + n_t, d]`, sources first."""


@dataclass(frozen=True)
class Recipe:
    """A model's own choice of settings; learning rate and number of negatives depend on the loss."""

    dimension: int
    loss: str
    learning_rate: dict[str, float]
    margin: float
    negatives_per_seed: dict[str, int]
    dropout: float = 0.0

    def complete(self, settings: StructureConfig) -> StructureConfig:
        """The settings with the model's own choice in place of 0 and "auto"."""
        loss = self.loss if settings.loss == "auto" else settings.loss
        return settings.model_copy(
            update={
                "loss": loss,
                "dimension": settings.dimension or self.dimension,
                "learning_rate": settings.learning_rate or self.learning_rate[loss],
                "margin": settings.margin or self.margin,
                "negatives_per_seed": settings.negatives_per_seed or self.negatives_per_seed[loss],
            }
        )


def train(network: Network, batch: Batch, settings: StructureConfig, seed: int, recipe: Recipe) -> Embeddings:
    """Fit a network to the seeds of a batch; every epoch is one step of the optimiser.

    Initial weights are drawn on the CPU, so every device starts from the same ones.
    """
    if not len(batch.seeds):
        raise UsageError(
            "a structure model learns from seeds, and there are none: give some, or let data augmentation "
            "(DA) make them from names"
        )
    settings = recipe.complete(settings)
    device = torch_device("structure")
    local = batch.local()
    with torch_threads(current().thread_count):
        module = network(local, settings.dimension, torch.Generator().manual_seed(seed)).to(device)
        objective = Objective(local, settings, seed, recipe.dropout, device)
        optimiser = torch.optim.Adam(module.parameters(), lr=settings.learning_rate, fused=True)
        for epoch in track(range(settings.epochs), settings.epochs):
            loss = objective(module(), epoch)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        note(f"loss {loss.item():.4f} after {settings.epochs} epochs")
        with torch.no_grad():
            vectors = module().cpu().numpy()
    return Embeddings(vectors[: len(local.source)], vectors[len(local.source) :])


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use so many CPU threads inside this context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
