"""What training pulls together and pushes apart.

Both ends of a seed come together; wrong counterparts, the negatives, go away from either end.
"""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy, normalize, relu

from largeea.structure.batch import Batch
from largeea.structure.models.options import TrainingOptions

TEMPERATURE = 0.1
"""Divides cosines in the log-sum-exp loss: the lower, the more it looks at the hardest negatives alone."""
_QUERIES_AT_ONCE = 1024


class Objective:
    """The loss of a batch's seeds, given embeddings of all its entities `[n_s + n_t, d]`, sources first."""

    def __init__(self, batch: Batch, options: TrainingOptions, dropout: float, device: torch.device) -> None:
        self._options, self._dropout, self._device = options, dropout, device
        sources, targets = len(batch.source), len(batch.target)
        left = torch.from_numpy(batch.seeds.source.astype("int64")).to(device)
        right = torch.from_numpy(batch.seeds.target.astype("int64")).to(device) + sources
        self._directions = (
            (left, right, range(sources, sources + targets)),
            (right, left, range(sources)),
        )
        self._random = torch.Generator().manual_seed(options.seed)
        self._noise = torch.Generator(device).manual_seed(options.seed)
        self._negatives: list[torch.Tensor] = []

    def __call__(self, embeddings: torch.Tensor, epoch: int) -> torch.Tensor:
        """The loss of an epoch: the mean over all seeds, summed over both of their ends."""
        if self._options.loss == "logsumexp":
            directions = [self._logsumexp(embeddings, *direction) for direction in self._directions]
            return torch.stack(directions).sum()
        if self._options.negatives == "uniform" or epoch % self._options.refresh_every == 0:
            choose = self._uniform if self._options.negatives == "uniform" else self._nearest
            self._negatives = [choose(embeddings.detach(), *direction) for direction in self._directions]
        losses = [
            self._triplet(embeddings, entity, counterpart, negatives)
            for (entity, counterpart, _), negatives in zip(self._directions, self._negatives, strict=True)
        ]
        return torch.stack(losses).sum()

    def _logsumexp(
        self, embeddings: torch.Tensor, entity: torch.Tensor, counterpart: torch.Tensor, others: range
    ) -> torch.Tensor:
        """`log(1 + sum exp((cos(e, negative) - cos(e, counterpart)) / TEMPERATURE))`.

        One random set of negatives serves all seeds of an epoch, so that they cost one matrix product.
        """
        negative = self._drawn(others, (self._options.negatives_per_seed or 1,))
        rows = torch.cat([entity, counterpart, negative])
        vectors = normalize(self._thinned(embeddings.index_select(0, rows)))
        own, right, wrong = torch.split(vectors, [len(entity), len(entity), len(negative)])
        wrong_cosine = own @ wrong.T
        wrong_cosine = wrong_cosine.masked_fill(counterpart[:, None] == negative, -torch.inf)
        cosine = torch.cat([(own * right).sum(dim=1, keepdim=True), wrong_cosine], dim=1)
        return cross_entropy(cosine / TEMPERATURE, torch.zeros_like(entity))

    def _triplet(
        self,
        embeddings: torch.Tensor,
        entity: torch.Tensor,
        counterpart: torch.Tensor,
        negatives: torch.Tensor,
    ) -> torch.Tensor:
        """`[gamma + |e - counterpart| - |e - negative|]_+`, Manhattan distances; `negatives[seeds, k]`."""
        rows = torch.cat([entity, counterpart, negatives.flatten()])
        vectors = self._thinned(embeddings.index_select(0, rows))
        own, right, wrong = torch.split(vectors, [len(entity), len(entity), negatives.numel()])
        apart = (own[:, None] - wrong.view(*negatives.shape, -1)).abs().sum(dim=2)
        together = (own - right).abs().sum(dim=1, keepdim=True)
        return relu((self._options.margin or 0) + together - apart).mean()

    def _uniform(
        self, embeddings: torch.Tensor, entity: torch.Tensor, counterpart: torch.Tensor, others: range
    ) -> torch.Tensor:
        """Random negatives `[seeds, k]`."""
        return self._drawn(others, (len(entity), self._options.negatives_per_seed or 1))

    def _nearest(
        self, embeddings: torch.Tensor, entity: torch.Tensor, counterpart: torch.Tensor, others: range
    ) -> torch.Tensor:
        """The most similar entities of the other side, each seed's counterpart apart: `[seeds, k]`."""
        vectors = normalize(embeddings.float())
        items = vectors[others.start : others.stop].T
        k = min(self._options.negatives_per_seed or 1, max(len(others) - 1, 1))
        found = []
        blocks = (torch.split(ends, _QUERIES_AT_ONCE) for ends in (entity, counterpart))
        for some, theirs in zip(*blocks, strict=True):
            cosine = vectors.index_select(0, some) @ items
            cosine.scatter_(1, theirs[:, None] - others.start, -torch.inf)
            found.append(cosine.topk(k, dim=1).indices + others.start)
        return torch.cat(found)

    def _thinned(self, vectors: torch.Tensor) -> torch.Tensor:
        """Dropout from a generator of our own: torch's would depend on what else runs in this process."""
        if not self._dropout:
            return vectors
        kept = torch.rand(vectors.shape, generator=self._noise, device=self._device) >= self._dropout
        return vectors * kept / (1 - self._dropout)

    def _drawn(self, others: range, shape: tuple[int, ...]) -> torch.Tensor:
        """Random entities; drawn on the CPU, so that every device sees the same ones."""
        drawn = torch.randint(others.start, others.stop, shape, generator=self._random)
        return drawn.to(self._device)
