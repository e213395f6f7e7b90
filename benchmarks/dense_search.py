"""Dense search: time on a GPU at the size of DBP1M EN-FR, and agreement with the CPU.

    python benchmarks/dense_search.py [--queries 1877793] [--items 1365118] [--dimension 768] [-k 50]

Random unit vectors. The rival is torch used plainly: matmul in bfloat16 and topk, in the same run.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from largeea.search.cuda import cuda_top_k


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_877_793)
    parser.add_argument("--items", type=int, default=1_365_118)
    parser.add_argument("--dimension", type=int, default=768)
    parser.add_argument("-k", type=int, default=50)
    options = parser.parse_args()
    queries = unit_vectors(options.queries, options.dimension, 0)
    items = unit_vectors(options.items, options.dimension, 1)
    cuda_top_k(queries[:8192], items[:65536], options.k)

    torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    ids, scores = cuda_top_k(queries, items, options.k)
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


if __name__ == "__main__":
    main()
