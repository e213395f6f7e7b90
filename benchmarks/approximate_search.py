"""Approximate dense search on the CPU against inverted files of faiss with as many cells, in one run.

    python benchmarks/approximate_search.py [--queries 65000] [--items 150000] [--dimension 448] [-k 80]
    python benchmarks/approximate_search.py --vectors FILE.npz

Queries are noisy copies of items, which lie around random centres. `FILE.npz` has `queries` and `items` to
use instead. Recall is the share of the exact k nearest that is found, and of the exact nearest one, for a
sample.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np

from largeea.execution import Execution, current, executing
from largeea.search import dense_top_k
from largeea.search.approximate import PROBES, cell_count
from largeea.search.vectors import unit_rows

SAMPLE = 1000
Search = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def clustered(queries: int, items: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors of items around as many centres as the root of their number, and noisy copies of some."""
    random = np.random.default_rng(0)
    centres = unit_rows(random.standard_normal((int(np.sqrt(items)), dimension), np.float32))
    around = centres[random.integers(0, len(centres), items)]
    found = unit_rows(around + 1.5 * unit_rows(random.standard_normal(around.shape, np.float32)))
    copied = found[random.integers(0, items, queries)]
    return unit_rows(copied + unit_rows(random.standard_normal(copied.shape, np.float32))), found


def ours(queries: np.ndarray, items: np.ndarray, k: int) -> np.ndarray:
    return dense_top_k(queries, items, k, search="approximate")[0]


def in_faiss(kind: str) -> Search:
    """An inverted file of faiss with the same number of cells and probes."""

    def search(queries: np.ndarray, items: np.ndarray, k: int) -> np.ndarray:
        faiss.omp_set_num_threads(current().thread_count)
        cells = cell_count(len(items))
        index = faiss.index_factory(items.shape[1], f"IVF{cells},{kind}", faiss.METRIC_INNER_PRODUCT)
        index.train(items)
        index.add(items)
        index.nprobe = min(max(8, cells // 20), PROBES)
        ids: np.ndarray = index.search(queries, k)[1]
        return ids

    return search


SEARCHES: dict[str, Search] = {
    "ours": ours,
    "faiss, IVF Flat": in_faiss("Flat"),
    "faiss, IVF SQ8": in_faiss("SQ8"),
}


def main() -> None:
    """Print seconds, index included, and recall of each search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=65_000)
    parser.add_argument("--items", type=int, default=150_000)
    parser.add_argument("--dimension", type=int, default=448)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("-k", type=int, default=80)
    given = parser.parse_args()
    if given.vectors:
        stored = np.load(given.vectors)
        queries, items = stored["queries"], stored["items"]
    else:
        queries, items = clustered(given.queries, given.items, given.dimension)
    with executing(Execution(device="cpu")):
        ours(queries[:2048], items[:4096], given.k)  # compiles
        sample = np.random.default_rng(1).choice(len(queries), min(SAMPLE, len(queries)), replace=False)
        exact = dense_top_k(queries[sample], items, given.k, search="exact")[0]
        print(f"{len(queries):,} x {len(items):,} x {items.shape[1]}, k = {given.k}")
        first = 0.0
        for name, search in SEARCHES.items():
            started = time.perf_counter()
            found = search(queries, items, given.k)[sample]
            seconds = time.perf_counter() - started
            first = first or seconds
            shared = [len(np.intersect1d(one, other)) for one, other in zip(found, exact, strict=True)]
            nearest = (found == exact[:, :1]).any(axis=1).mean()
            recall = f"recall {np.mean(shared) / given.k:.3f}, of the nearest {nearest:.3f}"
            print(f"{name:<16} {seconds:6.1f} s ({seconds / first:4.1f} x), {recall}", flush=True)


if __name__ == "__main__":
    main()
