"""Exact nearest neighbours on a torch device, with torch alone.

The scores of a block of queries against all items are computed in float16; selecting the best of a million
costs more than computing them, so each row is cut into groups, the groups with the highest maxima are found
first, and only their members are compared. The winners are scored again in float32. Nothing leaves the device
between these steps.
"""

from __future__ import annotations

from functools import cached_property

import torch

from largeea.errors import ResourceError
from largeea.execution.devices import free_gpu_bytes, in_blocks, tensor, to_host, torch_device
from largeea.graph import Float32, Int32
from largeea.search.manhattan import candidate_count

_GROUP = 128
_SPARE = 14
"""Candidates beyond k that are scored again, so that rounding does not cost a true neighbour."""
_MOST_SCORES = 8 << 30
"""Bytes of scores and candidates that are computed at once at most."""
_MOST_QUERIES = 8192


def nearest_on_device(
    queries: torch.Tensor, items: torch.Tensor, k: int, *, metric: str = "cosine"
) -> tuple[torch.Tensor, torch.Tensor]:
    """The k most similar items of each query, for unit vectors (or zero vectors) on one device.

    From `queries[n, d]` and `items[m, d]` of any float type: `(ids int32[n, k], scores float32[n, k])`
    on the same device, best first, ties by id, padded with -1 and 0. A score of 0 or below finds nothing. The
    metrics are those of `dense_top_k`. Blocks of queries are halved while the GPU's memory is too small.
    """
    return DeviceItems(items).nearest(queries, k, metric)


class DeviceItems:
    """Items on a device, ready to be searched: as given, and padded to whole groups in float16.

    Memory beside the items: 2 bytes an item and dimension, and a quarter of what is left (up to 8 GB) for
    scores.
    """

    def __init__(self, items: torch.Tensor) -> None:
        count, dimension = items.shape
        padded = -(-count // _GROUP) * _GROUP
        self._exact = items
        self._coarse = torch.zeros((padded, dimension), dtype=torch.float16, device=items.device)
        self._coarse[:count] = items

    def nearest(self, queries: torch.Tensor, k: int, metric: str) -> tuple[torch.Tensor, torch.Tensor]:
        """See `nearest_on_device`."""
        ids = torch.full((len(queries), k), -1, dtype=torch.int32, device=queries.device)
        scores = torch.zeros((len(queries), k), dtype=torch.float32, device=queries.device)
        wanted = min(candidate_count(k, metric), len(self._exact))
        if not wanted:
            return ids, scores

        def answer(first: int, last: int) -> None:
            found, similar = self._block(queries[first:last], wanted, metric)
            width = min(k, found.shape[1])
            ids[first:last, :width], scores[first:last, :width] = found[:, :width], similar[:, :width]

        in_blocks(answer, len(queries), self._queries_at_once(wanted))
        return ids, scores

    def _block(self, queries: torch.Tensor, wanted: int, metric: str) -> tuple[torch.Tensor, torch.Tensor]:
        """The `wanted` nearest by cosine in the order of the metric, padded with -1 and 0."""
        count = min(wanted + _SPARE, len(self._exact))
        found = _candidates(queries.half() @ self._coarse.T, count, len(self._exact))
        asked, vectors = queries.float()[:, None], self._exact[found].float()
        cosines = (vectors * asked).sum(dim=2)
        if metric == "cosine":
            return _ordered(found, cosines, wanted)
        distances = torch.linalg.vector_norm(vectors.sub_(asked), ord=1, dim=2)
        nearest = cosines.sort(dim=1, descending=True, stable=True).indices[:, :wanted]
        kept = torch.zeros_like(cosines, dtype=torch.bool).scatter_(1, nearest, True) & (cosines > 0)
        scores = 1 - distances / (2 * queries.shape[1] ** 0.5)
        return _ordered(found, torch.where(kept, scores, 0), wanted)

    def _queries_at_once(self, wanted: int) -> int:
        """Queries of a block: their coarse scores, and the vectors of their candidates."""
        items, dimension = self._coarse.shape
        needed = 2 * items + 6 * _GROUP * wanted + 12 * dimension * (wanted + _SPARE)
        room = min(_MOST_SCORES, free_gpu_bytes(self._coarse.device) // 4)
        return max(1, min(_MOST_QUERIES, room // needed))


def _candidates(scores: torch.Tensor, count: int, items: int) -> torch.Tensor:
    """Ascending positions of the `count` highest scores of each row; columns from `items` on are padding."""
    scores[:, items:] = -torch.inf
    groups = scores.view(len(scores), -1, _GROUP)
    leading = _highest(groups.amax(dim=2), min(count, groups.shape[1]))
    members = groups.gather(1, leading[:, :, None].expand(-1, -1, _GROUP)).flatten(1)
    best = _highest(members, count)
    return leading.gather(1, best // _GROUP) * _GROUP + best % _GROUP


def _highest(scores: torch.Tensor, count: int) -> torch.Tensor:
    """Ascending positions of the `count` highest scores of each row."""
    return scores.topk(count, dim=1, sorted=False).indices.sort(dim=1).values


def _ordered(ids: torch.Tensor, scores: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `count` best of ascending ids, ties by id; a score of 0 or below finds nothing: -1 and 0."""
    scores, order = scores.clamp(min=0).sort(dim=1, descending=True, stable=True)
    found = torch.where(scores > 0, ids.gather(1, order), -1)
    return found[:, :count].int(), scores[:, :count]


class CudaSearch:
    """Every query against every item, on the chosen device."""

    at_once: int | None = 1

    def __init__(self, items: Float32) -> None:
        self.items = items

    def nearest(self, queries: Float32, k: int, metric: str) -> tuple[Int32, Float32]:
        """See `DenseSearch.nearest`."""
        ids, scores = self._on_device.nearest(tensor(queries, torch_device()), k, metric)
        return to_host(ids), to_host(scores)

    @cached_property
    def _on_device(self) -> DeviceItems:
        count, dimension = self.items.shape
        needed, free = 6 * (count + _GROUP) * dimension, free_gpu_bytes(torch_device())
        if needed > 0.75 * free:
            raise ResourceError(
                f"searching {count} vectors of {dimension} dimensions on the GPU takes "
                f"{needed / 1e9:.1f} GB, but only {free / 1e9:.1f} GB are free there; allow more with "
                "gpu_memory, or choose device = cpu"
            )
        return DeviceItems(tensor(self.items, torch_device()))
