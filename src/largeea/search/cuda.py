"""Exact inner-product search on a GPU, with torch alone.

The scores of a block of queries against all items are computed in bfloat16; selecting the best of a million
costs more than computing them, so the row is cut into groups, the groups with the highest maxima are found
first, and only their members are compared. The winners are scored again in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from largeea.graph import Float32, Int32
from largeea.progress import track

_GROUP = 128
_SPARE = 14
"""Candidates beyond k that are scored again, so that rounding does not cost a true neighbour."""


def cuda_top_k(queries: Float32, items: Float32, k: int) -> tuple[Int32, Float32]:
    """The k items with the highest inner product: `(ids[n, k], scores[n, k])`.

    Memory on the GPU: items in both precisions plus about 8 GB (less on a smaller card).
    """
    device = torch.device("cuda")
    exact = torch.from_numpy(items).to(device)
    padded = -(-len(items) // _GROUP) * _GROUP
    coarse = torch.zeros((padded, items.shape[1]), dtype=torch.bfloat16, device=device)
    coarse[: len(items)] = exact
    block = _queries_at_once(padded)
    ids = np.empty((len(queries), k), np.int32)
    scores = np.empty((len(queries), k), np.float32)
    starts = range(0, len(queries), block)
    for start in track(starts, len(starts)):
        part = torch.from_numpy(queries[start : start + block]).to(device)
        found = _candidates(part.bfloat16() @ coarse.T, min(k + _SPARE, len(items)), len(items))
        scored = torch.einsum("qd,qcd->qc", part, exact[found])
        best = torch.topk(scored, k, dim=1)
        scores[start : start + block] = best.values.cpu().numpy()
        ids[start : start + block] = found.gather(1, best.indices).cpu().numpy()
    return ids, scores


def _candidates(scores: Any, count: int, items: int) -> Any:
    """Positions of the `count` highest scores of each row; columns from `items` on are padding."""
    scores[:, items:] = -torch.inf
    groups = scores.view(len(scores), -1, _GROUP)
    leading = groups.amax(dim=2).topk(min(count, groups.shape[1]), dim=1).indices
    members = groups.gather(1, leading[:, :, None].expand(-1, -1, _GROUP)).flatten(1)
    best = members.topk(count, dim=1).indices
    return leading.gather(1, best // _GROUP) * _GROUP + best % _GROUP


def _queries_at_once(items: int) -> int:
    free, _ = torch.cuda.mem_get_info()
    room = min(8 << 30, free // 4)
    return max(1, min(8192, room // (2 * items)))
