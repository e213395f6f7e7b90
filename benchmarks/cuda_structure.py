"""Structure models on the CPU and on a GPU: accuracy, seconds and memory.

    python benchmarks/cuda_structure.py [FOLDER] [--train 0.3] [--set KEY=VALUE ...] [--devices cpu auto]

Structure alone, no partition, both models. Without a FOLDER a pair is generated: a graph with communities and
popular entities, and a copy with other ids; a fifth of the triples is removed from each side.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from largeea.config import load
from largeea.execution import Execution, executing
from largeea.execution.devices import torch_device
from largeea.experiments.bench import bench
from largeea.formats import read
from largeea.graph import KnowledgeGraph, Links, Pair

PRESETS = ("largeea-r", "largeea-g")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="pair folder")
    parser.add_argument("--entities", type=int, default=15_000, help="of each generated graph")
    parser.add_argument("--train", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=["partition.method=none"], metavar="KEY=VALUE")
    parser.add_argument("--devices", nargs="+", default=["cpu", "auto"])
    options = parser.parse_args()
    pair = read(options.folder) if options.folder else generated(options.entities, options.seed)
    assert isinstance(pair, Pair), f"{options.folder} is a single graph"
    name = options.folder.name if options.folder else "generated"
    lines = [row(pair, name, preset, device, options) for preset in PRESETS for device in options.devices]
    triples = len(pair.source.triples) + len(pair.target.triples)
    print(f"\n{name}: {pair.source.size:,} + {pair.target.size:,} entities, {triples:,} triples, ", end="")
    print(f"{options.train:.0%} seeds, structure alone, {os.cpu_count()} cores\n")
    print("| preset | device | Hits@1 | Hits@10 | seconds | host MB | GPU MB |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(lines))


def row(pair: Pair, name: str, preset: str, device: str, options: argparse.Namespace) -> str:
    """One line of the table, under the paper's protocol."""
    config = load(preset, None, tuple(options.set), seed=options.seed, without=("names",))
    with executing(Execution(device=device)):
        found = str(torch_device("structure"))
        figures, _ = bench(pair, name, preset, config, options.train)
    paper, used = figures["protocols"]["paper"], figures["memory_mb"]["structure"]
    cells = [f"{paper['hits@1']:.3f}", f"{paper['hits@10']:.3f}", f"{figures['seconds']['structure']:.1f}"]
    cells += [f"{used['host']:,.0f}", f"{used['gpu']:,.0f}"]
    print(f"{preset} on {found}: {', '.join(cells)}", flush=True)
    return f"| {preset} | {found} | {' | '.join(cells)} |"


def generated(entities: int, seed: int) -> Pair:
    random = np.random.default_rng(seed)
    communities = max(entities // 100, 1)
    head = random.integers(0, entities, 4 * entities)
    popular = random.random(len(head)) ** 3
    near = head % communities + communities * (popular * (entities // communities)).astype(np.int64)
    far = (popular * entities).astype(np.int64)
    tail = np.where(random.random(len(head)) < 0.7, np.minimum(near, entities - 1), far)
    triples = np.column_stack([head, random.integers(0, 200, len(head)), tail])
    copy = random.permutation(entities)
    graphs = []
    for number in (np.arange(entities), copy):
        kept = triples[random.random(len(triples)) < 0.8]
        iris = (pa.array(np.arange(count)).cast(pa.large_string()) for count in (entities, 200))
        names = pa.nulls(entities, pa.large_string())
        rows = np.column_stack([number[kept[:, 0]], kept[:, 1], number[kept[:, 2]]])
        graphs.append(KnowledgeGraph(next(iris), names, next(iris), rows))
    return Pair(*graphs, Links(np.column_stack([np.arange(entities), copy])))


if __name__ == "__main__":
    main()
