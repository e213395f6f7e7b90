"""Dense search: time on a GPU at the size of DBP1M EN-FR and agreement with the CPU; Manhattan search.

    python benchmarks/dense_search.py [--queries 1877793] [--items 1365118] [--dimension 768] [-k 50]
    python benchmarks/dense_search.py --names PAIR_FOLDER [--encoder use-multilingual] [--sample 2000] [-k 50]

The first command uses random unit vectors; the baseline, in the same run, is plain torch: matmul in bfloat16
and topk. The second uses vectors of real names: Manhattan distances are computed only for the nearest
neighbours by cosine. It counts the names for which the result equals that of computing all distances.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import faiss
import numpy as np
import torch

from largeea.formats.naming import Naming
from largeea.formats.pairs import read_pair
from largeea.formats.rejects import Rejects
from largeea.names.encoders import encode_unique, load_encoder
from largeea.search import dense_top_k

SAME_SCORE = 1e-6
"""Scores closer than this are ties; returning either item is correct."""


def unit_vectors(count: int, dimension: int, seed: int) -> np.ndarray:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    vectors = torch.randn((count, dimension), generator=generator, device="cuda")
    return torch.nn.functional.normalize(vectors).cpu().numpy()


def plain(queries: np.ndarray, items: np.ndarray, k: int, block: int = 2048) -> tuple[np.ndarray, float]:
    items_on_gpu = torch.from_numpy(items).cuda().bfloat16()
    torch.cuda.synchronize()
    started = time.perf_counter()
    found = []
    for start in range(0, len(queries), block):
        part = torch.from_numpy(queries[start : start + block]).cuda().bfloat16()
        found.append((part @ items_on_gpu.T).topk(k, dim=1).indices.cpu())
    return torch.cat(found).numpy(), time.perf_counter() - started


def speed(options: argparse.Namespace) -> None:
    queries = unit_vectors(options.queries, options.dimension, 0)
    items = unit_vectors(options.items, options.dimension, 1)
    dense_top_k(queries[:8192], items[:65536], options.k)

    torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    ids, scores = dense_top_k(queries, items, options.k)
    seconds = time.perf_counter() - started
    peak = torch.cuda.max_memory_allocated() / 2**30

    sample = np.random.default_rng(0).choice(len(queries), 500, replace=False)
    true = torch.from_numpy(queries[sample]).double() @ torch.from_numpy(items).double().T
    best = true.topk(options.k, dim=1)
    recall = np.mean([len(np.intersect1d(ids[row], best.indices[i].numpy())) for i, row in enumerate(sample)])
    error = np.abs(scores[sample] - best.values.numpy()).max()

    share = len(queries) // 10
    _, plain_seconds = plain(queries[:share], items, options.k)
    size = f"{len(queries):,} x {len(items):,} x {options.dimension}, k = {options.k}"
    print(f"{torch.cuda.get_device_name()}: {size}")
    print(f"ours                  {seconds:7.1f} s   peak {peak:.1f} GiB on the GPU")
    print(f"plain matmul + topk   {plain_seconds * len(queries) / share:7.1f} s   (a tenth measured)")
    print(f"found of the true top-{options.k}: {recall / options.k:.5f}; largest score error {error:.1e}")


def manhattan(options: argparse.Namespace) -> None:
    pair = read_pair(options.names, Naming(), Rejects(0))
    encoder = load_encoder(options.encoder)
    ours, theirs = pair.source.names.drop_null(), pair.target.names.drop_null()
    size = min(options.sample, len(ours))
    sample = np.random.default_rng(0).choice(len(ours), size, replace=False)
    queries, items = (
        encode_unique(encoder, names).astype(np.float32) for names in (ours.take(sample), theirs)
    )

    started = time.perf_counter()
    _, scores = dense_top_k(queries, items, options.k, metric="manhattan")
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    distances, _ = faiss.knn(queries, items, options.k, metric=faiss.METRIC_L1)
    all_seconds = time.perf_counter() - started
    same = np.abs(scores - (1 - distances / (2 * np.sqrt(queries.shape[1])))) <= SAME_SCORE

    what = f"{size:,} of {len(ours):,} names x {len(items):,} x {queries.shape[1]}"
    print(f"{options.names.name}, {options.encoder}: {what}, k = {options.k}")
    print(f"nearest by cosine, ranked again   {seconds:7.1f} s")
    print(f"all Manhattan distances           {all_seconds:7.1f} s")
    print(f"same best item:          {same[:, 0].mean():.5f} of the rows")
    print(f"same {options.k} best items:      {same.all(axis=1).mean():.5f} of the rows")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=1_877_793)
    parser.add_argument("--items", type=int, default=1_365_118)
    parser.add_argument("--dimension", type=int, default=768)
    parser.add_argument("--names", type=Path, metavar="PAIR_FOLDER")
    parser.add_argument("--encoder", default="use-multilingual")
    parser.add_argument("--sample", type=int, default=2000)
    parser.add_argument("-k", type=int, default=50)
    options = parser.parse_args()
    manhattan(options) if options.names else speed(options)


if __name__ == "__main__":
    main()
