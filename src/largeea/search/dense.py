"""Nearest neighbours among dense vectors: one signature, three ways to search, chosen by name.

- `exact`: on the CPU, every query against every item (faiss over BLAS)
- `cuda`: the same on a GPU (torch, see `cuda.py`)
- `approximate`: on the CPU, an inverted file: only the cells nearest to a query are looked into (faiss)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from largeea.compiled import compiled
from largeea.errors import UsageError
from largeea.graph import Float32, Int32
from largeea.progress import track

DenseSearch = Callable[[Float32, Float32, int], tuple[Int32, Float32]]
"""`(queries[n, d], items[m, d], k) -> (ids[n, k], scores[n, k])` by inner product, padded with -1 and 0."""

APPROXIMATE_FROM = 2e11
"""Query-item pairs from which an exact search on a CPU would take hours."""
OVERSAMPLE = 4
"""Candidates by inner product for every one kept by Manhattan distance."""
_CHUNK = 4096


def dense_top_k(
    queries: Float32, items: Float32, k: int, *, metric: str = "cosine", search: str = "auto"
) -> tuple[Int32, Float32]:
    """The k most similar items of each query; both sides have rows of length 1 (or 0: never found).

    `(ids[n, k], scores[n, k])`, best first, ties by id, padded with -1 and 0. The score is the cosine, or for
    "manhattan" `1 - distance / (2 sqrt(d))`, which is in [0, 1] too. Manhattan distances are computed for the
    `OVERSAMPLE * k` nearest by cosine only.
    """
    if metric not in ("cosine", "manhattan"):
        raise UsageError(f"metric {metric!r} is none of cosine, manhattan")
    find = SEARCHES.get(_chosen(len(queries), len(items)) if search == "auto" else search)
    if find is None:
        raise UsageError(f"search {search!r} is none of auto, {', '.join(SEARCHES)}")
    if not len(queries) or not len(items):
        return np.full((len(queries), k), -1, np.int32), np.zeros((len(queries), k), np.float32)
    if metric == "cosine":
        return _padded(*find(queries, items, min(k, len(items))), k)
    ids, cosines = find(queries, items, min(max(OVERSAMPLE * k, 200), len(items)))
    ids = np.where(cosines > 0, ids, np.int32(-1))
    return _padded(*by_manhattan(queries, items, ids), k)


def by_manhattan(queries: Float32, items: Float32, ids: Int32) -> tuple[Int32, Float32]:
    """Candidates `ids[n, c]` scored anew, by Manhattan distance."""
    distances = _manhattan(queries, items, ids)
    return ids, np.where(ids >= 0, 1 - distances / (2 * np.sqrt(queries.shape[1])), 0).astype(np.float32)


def exact(queries: Float32, items: Float32, k: int) -> tuple[Int32, Float32]:
    """Every query against every item, on the CPU."""
    faiss = _faiss()
    ids = np.empty((len(queries), k), np.int32)
    scores = np.empty((len(queries), k), np.float32)
    starts = range(0, len(queries), _CHUNK)
    for start in track(starts, len(starts)):
        part = slice(start, start + _CHUNK)
        scores[part], ids[part] = faiss.knn(queries[part], items, k, metric=faiss.METRIC_INNER_PRODUCT)
    return ids, scores


def approximate(queries: Float32, items: Float32, k: int) -> tuple[Int32, Float32]:
    """An inverted file of about `4 sqrt(m)` cells, of which one in 32 is looked into."""
    faiss = _faiss()
    cells = max(1, min(int(4 * np.sqrt(len(items))), len(items) // 40))
    quantizer = faiss.IndexFlatIP(items.shape[1])
    index = faiss.IndexIVFFlat(quantizer, items.shape[1], cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed, index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = 0, 64, 1
    index.train(items)
    index.add(items)
    index.nprobe = max(8, cells // 32)
    found = [
        index.search(queries[start : start + _CHUNK], k)
        for start in track(range(0, len(queries), _CHUNK), -(-len(queries) // _CHUNK))
    ]
    return (
        np.concatenate([ids for _, ids in found]).astype(np.int32),
        np.concatenate([scores for scores, _ in found]),
    )


def cuda(queries: Float32, items: Float32, k: int) -> tuple[Int32, Float32]:
    """Every query against every item, on a GPU."""
    from largeea.search.cuda import cuda_top_k

    return cuda_top_k(queries, items, k)


SEARCHES: dict[str, DenseSearch] = {"exact": exact, "cuda": cuda, "approximate": approximate}


def _chosen(queries: int, items: int) -> str:
    if cuda_is_there():
        return "cuda"
    return "exact" if queries * items < APPROXIMATE_FROM else "approximate"


def cuda_is_there() -> bool:
    """Whether torch is installed and sees a GPU."""
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError:
        return False
    return bool(torch.cuda.is_available())


def _faiss() -> Any:
    return importlib.import_module("faiss")


def _padded(ids: Int32, scores: Float32, k: int) -> tuple[Int32, Float32]:
    """The k best of each row in the promised order; a score of 0 or below finds nothing."""
    ids = np.where(scores > 0, ids, -1)
    scores = np.where(ids >= 0, scores, 0)
    order = np.lexsort((ids, -scores), axis=1)[:, :k]
    missing = max(0, k - order.shape[1])
    ids = np.pad(np.take_along_axis(ids, order, axis=1), ((0, 0), (0, missing)), constant_values=-1)
    scores = np.pad(np.take_along_axis(scores, order, axis=1), ((0, 0), (0, missing)))
    return ids.astype(np.int32), scores.astype(np.float32)


@compiled(nogil=True)
def _manhattan(queries: Float32, items: Float32, ids: Int32) -> Float32:
    distances = np.zeros(ids.shape, np.float32)
    for query in range(ids.shape[0]):
        for candidate in range(ids.shape[1]):
            item = ids[query, candidate]
            if item >= 0:
                distances[query, candidate] = np.abs(queries[query] - items[item]).sum()
    return distances
