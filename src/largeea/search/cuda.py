"""Exact inner-product search on a GPU, with torch alone.

The scores of a block of queries against all items are computed in bfloat16; selecting the best of a million
costs more than computing them, so each row is cut into groups, the groups with the highest maxima are found
first, and only their members are compared. The winners are scored again in float32.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch

from largeea.errors import ResourceError
from largeea.execution import current
from largeea.execution.devices import torch_device
from largeea.graph import Float32, Int32

_GROUP = 128
_SPARE = 14
"""Candidates beyond k that are scored again, so that rounding does not cost a true neighbour."""
_MOST_SCORES = 8 << 30
"""Bytes of scores that are computed at once at most."""


class CudaSearch:
    """Every query against every item.

    GPU memory: 6 bytes an item and dimension, and a quarter of what is left (up to 8 GB) for scores.
    """

    at_once: int | None = 1

    def __init__(self, items: Float32) -> None:
        self.items = items

    def find(self, queries: Float32, k: int) -> tuple[Int32, Float32]:
        """See `DenseSearch.find`."""
        exact, coarse = self._on_gpu
        parts = -(-len(queries) // _queries_at_once(len(coarse)))
        found = [self._find(part, exact, coarse, k) for part in np.array_split(queries, parts)]
        return np.concatenate([ids for ids, _ in found]), np.concatenate([scores for _, scores in found])

    def _find(self, queries: Float32, exact: Any, coarse: Any, k: int) -> tuple[Int32, Float32]:
        asked = torch.from_numpy(queries).to(exact.device)
        found = _candidates(asked.bfloat16() @ coarse.T, min(k + _SPARE, len(exact)), len(exact))
        best = torch.topk(torch.einsum("qd,qcd->qc", asked, exact[found]), k, dim=1)
        ids = found.gather(1, best.indices)
        return ids.cpu().numpy().astype(np.int32), best.values.cpu().numpy()

    @cached_property
    def _on_gpu(self) -> tuple[Any, Any]:
        """The items in float32 and, padded to whole groups, in bfloat16."""
        count, dimension = self.items.shape
        padded = -(-count // _GROUP) * _GROUP
        needed, free = 4 * count * dimension + 2 * padded * dimension, _free_bytes()
        if needed > 0.75 * free:
            raise ResourceError(
                f"searching {count} vectors of {dimension} dimensions on the GPU takes "
                f"{needed / 1e9:.1f} GB, but only {free / 1e9:.1f} GB are free there; choose device = cpu"
            )
        exact = torch.from_numpy(self.items).to(torch_device())
        coarse = torch.zeros((padded, dimension), dtype=torch.bfloat16, device=exact.device)
        coarse[:count] = exact
        return exact, coarse


def _candidates(scores: Any, count: int, items: int) -> Any:
    """Positions of the `count` highest scores of each row; columns from `items` on are padding."""
    scores[:, items:] = -torch.inf
    groups = scores.view(len(scores), -1, _GROUP)
    leading = groups.amax(dim=2).topk(min(count, groups.shape[1]), dim=1).indices
    members = groups.gather(1, leading[:, :, None].expand(-1, -1, _GROUP)).flatten(1)
    best = members.topk(count, dim=1).indices
    return leading.gather(1, best // _GROUP) * _GROUP + best % _GROUP


def _queries_at_once(items: int) -> int:
    return max(1, min(8192, min(_MOST_SCORES, _free_bytes() // 4) // (2 * items)))


def _free_bytes() -> int:
    """GPU memory that is free for this process, what torch holds in reserve included."""
    device = torch_device()
    free, _ = torch.cuda.mem_get_info(device)
    used = torch.cuda.memory_allocated(device)
    free += torch.cuda.memory_reserved(device) - used
    limit = current().gpu_memory
    return free if limit is None else max(0, min(free, int(limit) - used))
