"""The training losses: pull the two ends of each seed together, push wrong counterparts (negatives) away."""

from __future__ import annotations

import torch
from torch.nn.functional import normalize, relu

from largeea.config import StructureConfig
from largeea.randomness import child_seed
from largeea.structure.batch import Batch
from largeea.structure.models.contrast import contrast
from largeea.structure.models.sparse_product import rows_of

TEMPERATURE = 0.1
"""Divides cosines in the log-sum-exp loss; the lower, the more the hardest negatives count."""
_QUERIES_PER_BLOCK = 1024


class Objective:
    """The loss of a batch's seeds, given embeddings of all its entities `[n_s + n_t, d]`, sources first.

    All values of `settings` must be given: `Recipe.complete` fills in a model's own choice.
    """

    def __init__(
        self, local: Batch, settings: StructureConfig, seed: int, dropout: float, device: torch.device
    ) -> None:
        self._settings, self._dropout, self._device = settings, dropout, device
        sources, targets = len(local.source), len(local.target)
        left = torch.from_numpy(local.seeds.source.astype("int64")).to(device)
        right = torch.from_numpy(local.seeds.target.astype("int64")).to(device) + sources
        self._directions = (
            (left, right, range(sources, sources + targets)),
            (right, left, range(sources)),
        )
        self._seed, self._random = seed, torch.Generator().manual_seed(seed)
        self._dropout_random = torch.Generator(device).manual_seed(seed)
        self._negatives: list[torch.Tensor] = []
        if settings.loss == "logsumexp":
            self._negatives = self._drawn_for_all_epochs()

    def __call__(self, embeddings: torch.Tensor, epoch: int) -> torch.Tensor:
        """The loss of an epoch: the mean over all seeds, summed over both directions."""
        if self._settings.loss == "logsumexp":
            return self._logsumexp(embeddings, epoch)
        if self._settings.negatives == "uniform" or epoch % self._settings.refresh_every == 0:
            choose = self._uniform if self._settings.negatives == "uniform" else self._nearest
            self._negatives = [choose(embeddings.detach(), *direction) for direction in self._directions]
        losses = [
            self._triplet(embeddings, entity, counterpart, negatives)
            for (entity, counterpart, _), negatives in zip(self._directions, self._negatives, strict=True)
        ]
        return torch.stack(losses).sum()

    def _logsumexp(self, embeddings: torch.Tensor, epoch: int) -> torch.Tensor:
        """`log(1 + sum exp((cos(e, negative) - cos(e, counterpart)) / TEMPERATURE))`.

        All seeds of an epoch share one random set of negatives, so the cosines are one matrix product.
        """
        ends = [
            (entity, counterpart, negatives[epoch])
            for (entity, counterpart, _), negatives in zip(self._directions, self._negatives, strict=True)
        ]
        seed = child_seed(self._seed, f"dropout {epoch}")
        low = self._settings.dtype != "fp32" and self._device.type == "cuda"
        return contrast(embeddings, ends, TEMPERATURE, self._dropout, seed, torch.bfloat16 if low else None)

    def _drawn_for_all_epochs(self) -> list[torch.Tensor]:
        """The negatives of both directions, each `[epochs, k]`: copied once, so that no epoch has to wait."""
        shape = (self._settings.negatives_per_seed,)
        drawn = [
            [self._drawn(others, shape) for *_, others in self._directions]
            for _ in range(self._settings.epochs)
        ]
        return [torch.stack(epochs).to(self._device) for epochs in zip(*drawn, strict=True)]

    def _triplet(
        self,
        embeddings: torch.Tensor,
        entity: torch.Tensor,
        counterpart: torch.Tensor,
        negatives: torch.Tensor,
    ) -> torch.Tensor:
        """`[gamma + |e - counterpart| - |e - negative|]_+`, Manhattan distances; `negatives[seeds, k]`."""
        rows = torch.cat([entity, counterpart, negatives.flatten()])
        vectors = self._with_dropout(rows_of(embeddings, rows))
        own, right, wrong = torch.split(vectors, [len(entity), len(entity), negatives.numel()])
        to_negative = (own[:, None] - wrong.view(*negatives.shape, -1)).abs().sum(dim=2)
        to_counterpart = (own - right).abs().sum(dim=1, keepdim=True)
        return relu(self._settings.margin + to_counterpart - to_negative).mean()

    def _uniform(
        self, embeddings: torch.Tensor, entity: torch.Tensor, counterpart: torch.Tensor, others: range
    ) -> torch.Tensor:
        """Random negatives `[seeds, k]`."""
        return self._drawn(others, (len(entity), self._settings.negatives_per_seed)).to(self._device)

    def _nearest(
        self, embeddings: torch.Tensor, entity: torch.Tensor, counterpart: torch.Tensor, others: range
    ) -> torch.Tensor:
        """The most similar entities of the other side, without each seed's counterpart: `[seeds, k]`."""
        vectors = normalize(embeddings.float())
        items = vectors[others.start : others.stop].T
        k = min(self._settings.negatives_per_seed, max(len(others) - 1, 1))
        found = []
        blocks = (torch.split(ends, _QUERIES_PER_BLOCK) for ends in (entity, counterpart))
        for queries, excluded in zip(*blocks, strict=True):
            cosine = vectors.index_select(0, queries) @ items
            cosine.scatter_(1, excluded[:, None] - others.start, -torch.inf)
            found.append(cosine.topk(k, dim=1).indices + others.start)
        return torch.cat(found)

    def _with_dropout(self, vectors: torch.Tensor) -> torch.Tensor:
        """Dropout with its own generator: torch's global one depends on what else runs in this process."""
        if not self._dropout:
            return vectors
        kept = torch.rand(vectors.shape, generator=self._dropout_random, device=self._device) >= self._dropout
        return vectors * kept / (1 - self._dropout)

    def _drawn(self, others: range, shape: tuple[int, ...]) -> torch.Tensor:
        """Random entities, drawn on the CPU so that every device gets the same ones."""
        return torch.randint(others.start, others.stop, shape, generator=self._random)
