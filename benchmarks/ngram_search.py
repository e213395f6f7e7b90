"""Sparse n-gram search at scale: real names of the NCBI taxonomy, 2021 against 2024.

    python benchmarks/ngram_search.py [--size 1000000] [--sample 5000]

Recall is the share of sampled names whose best match by the index scores as high as their exact best match.
The baseline is exact search for the sample, timed in the same run.
"""

from __future__ import annotations

import argparse
import lzma
import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from largeea.execution.memory import peak_rss_mb
from largeea.names.labels import latinised
from largeea.names.ngrams import tfidf
from largeea.search import sparse

DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def names(year: str, size: int) -> pa.Array:
    with lzma.open(DATA / "ncbi_taxonomy" / f"{year}.tsv.xz", "rt", encoding="utf-8") as file:
        every = [line.rstrip("\n").split("\t")[3] for line in file]
    chosen = np.random.default_rng(0).choice(len(every), size, replace=False)
    return pa.array([every[i] for i in np.sort(chosen)], pa.large_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--sample", type=int, default=5_000)
    options = parser.parse_args()
    source, target = (latinised(names(year, options.size)) for year in ("2021", "2024"))
    started = time.perf_counter()
    queries, items = tfidf(source, target)
    vectorised = time.perf_counter()
    _, scores = sparse.sparse_top_k(queries, items, 50)
    searched = time.perf_counter()
    sample = np.sort(np.random.default_rng(1).choice(options.size, options.sample, replace=False))
    blocks = (queries[sample[first : first + 100]] @ items.T for first in range(0, len(sample), 100))
    exact = np.concatenate([block.max(axis=1).toarray().ravel() for block in blocks])
    checked = time.perf_counter()
    exact_seconds = (checked - searched) * options.size / options.sample
    recall = (scores[sample, 0] >= exact - 1e-5).mean()
    print(f"{options.size:,} x {options.size:,} names, k = 50, {os.cpu_count()} cores")
    print(f"n-gram vectors {(vectorised - started) / 60:6.1f} min, {queries.nnz:,} + {items.nnz:,} entries")
    print(f"index search   {(searched - vectorised) / 60:6.1f} min")
    print(f"exact search   {exact_seconds / 60:6.1f} min, extrapolated from the sample")
    print(f"recall of the exact top-1 on {options.sample:,} names: {recall:.4f}")
    print(f"peak memory {peak_rss_mb():,.0f} MB")


if __name__ == "__main__":
    main()
