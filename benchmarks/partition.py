"""Partition quality on real data, and time and memory at DBP1M size.

    python benchmarks/partition.py quality [--k 5] [--splits 3] [DATASET ...]
    python benchmarks/partition.py scale [--shrink 1]

`quality` prints the share of test pairs in the same batch for each method, in both directions, with 10 to
50 % seeds. `scale` splits a generated pair of 1.9 M / 1.4 M entities and 7 M / 3 M triples into 20 batches
and compares with two bare pymetis calls on prepared adjacencies. Each runs in a separate process, so
that its peak memory is measured alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pymetis

from largeea.config import PartitionConfig
from largeea.execution.memory import peak_rss_mb
from largeea.experiments.bench import split
from largeea.formats import read
from largeea.graph import KnowledgeGraph, Links, Pair, Task
from largeea.structure.partition import partition
from largeea.structure.partition.adjacency import Adjacency, triple_ends
from largeea.structure.partition.quality import report

DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
DATASETS = ("ids15k_en_de_v1", "dbp15k_fr_en", "dbp15k_zh_en", "srprs_en_de", "d_w_15k_v1")
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
METHODS = ("metis-cps", "merged", "vps")
K_AT_SCALE = 20


def figures(task: Task, test: Links, method: str, k: int, seed: int) -> dict[str, Any]:
    started = time.perf_counter()
    assignment = partition(task, PartitionConfig(method=method, k=k), seed)
    return report(task, assignment, method, time.perf_counter() - started, test)


def quality(datasets: list[str], k: int, splits: int) -> None:
    print(f"K = {k}, mean of {splits} splits; lowest of them in brackets")
    print("dataset             direction  seeds  method      test          seeds  R_ec s  R_ec t  seconds")
    for name in datasets:
        pair = read(DATA / name)
        assert isinstance(pair, Pair)
        for direction, oriented in (("1->2", pair), ("2->1", pair.reversed())):
            for share in SHARES:
                for method in METHODS:
                    row = mean_figures(oriented, method, share, k, splits)
                    print(f"{name:<19} {direction:<10} {share:4.0%}   {method:<10} {row}", flush=True)


def mean_figures(pair: Pair, method: str, share: float, k: int, splits: int) -> str:
    rows = []
    for seed in range(splits):
        train, test = split(pair.links, share, seed)
        task = Task(pair.source, pair.target, train)
        found = figures(task, test, method, k, seed)
        same, cut = found["same_batch"], found["r_ec"]
        rows.append((same["test"], same["train"], cut["source"], cut["target"], found["seconds"]))
    test_share, seeds, source_cut, target_cut, seconds = np.mean(rows, axis=0)
    lowest = min(row[0] for row in rows)
    return (
        f"{test_share:.3f} ({lowest:.3f})  {seeds:.3f}  {source_cut:.3f}   {target_cut:.3f}   {seconds:6.2f}"
    )


def generate(shrink: int, seed: int = 0) -> dict[str, Any]:
    """Two samples of one graph with communities and popular entities: 1.2 M entities are in both."""
    random = np.random.default_rng(seed)
    whole, triples = 2_200_000 // shrink, 10_500_000 // shrink
    communities = max(whole // 1000, 1)
    head = random.integers(0, whole, triples)
    popular = random.random(triples) ** 3
    near = head % communities + communities * (popular * (whole // communities)).astype(np.int64)
    tail = np.where(
        random.random(triples) < 0.85, np.minimum(near, whole - 1), (popular * whole).astype(np.int64)
    )
    relation = random.integers(0, 400, triples)
    sides: dict[str, Any] = {}
    numbers = []
    for side, size, wanted in (("source", 1_900_000, 7_000_000), ("target", 1_400_000, 3_000_000)):
        number = np.full(whole, -1, np.int32)
        number[random.permutation(whole)[: size // shrink]] = np.arange(size // shrink)
        inside = np.flatnonzero((number[head] >= 0) & (number[tail] >= 0))
        inside = np.sort(random.permutation(inside)[: wanted // shrink])
        sides[side] = np.column_stack([number[head[inside]], relation[inside], number[tail[inside]]])
        sides[f"{side}_size"] = size // shrink
        numbers.append(number)
    both = np.flatnonzero((numbers[0] >= 0) & (numbers[1] >= 0))
    sides["links"] = np.column_stack([numbers[0][both], numbers[1][both]])
    return sides


def load(path: Path) -> tuple[Task, Links]:
    with np.load(path) as stored:
        graphs = []
        for side in ("source", "target"):
            entities = pa.array(np.arange(int(stored[f"{side}_size"]))).cast(pa.large_string())
            names = pa.nulls(len(entities), pa.large_string())
            relations = pa.array([f"r{i}" for i in range(400)], pa.large_string())
            graphs.append(KnowledgeGraph(entities, names, relations, stored[side]))
        train, test = split(Links(stored["links"]), 0.2, 0)
    return Task(graphs[0], graphs[1], train), test


def bare(task: Task) -> dict[str, Any]:
    """Two bare pymetis calls; building the adjacencies is not timed."""
    seconds = 0.0
    for graph in (task.source, task.target):
        adjacency = Adjacency.from_edges(graph.size, triple_ends(graph))
        csr = pymetis.CSRAdjacency(adjacency.indptr, adjacency.columns)
        started = time.perf_counter()
        pymetis.part_graph(K_AT_SCALE, csr)
        seconds += time.perf_counter() - started
    return {"seconds": seconds}


def measure(side: str, path: Path) -> dict[str, Any]:
    task, test = load(path)
    before = peak_rss_mb()
    found = bare(task) if side == "bare" else figures(task, test, side, K_AT_SCALE, 0)
    return found | {"peak_mb": peak_rss_mb(), "before_mb": before}


def scale(shrink: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.npz"
        np.savez(path, **generate(shrink))
        bare_seconds = 0.0
        for side in ("bare", *METHODS):
            command = [sys.executable, __file__, "measure", side, str(path)]
            found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            bare_seconds = bare_seconds or found["seconds"]
            print(
                f"{side:<10} {found['seconds']:6.1f} s  {found['seconds'] / bare_seconds:5.2f} x bare  "
                f"peak {found['peak_mb']:,.0f} MB (the graphs alone {found['before_mb']:,.0f} MB)",
                *(json.dumps(found[key]) for key in ("same_batch", "r_ec") if key in found),
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    on_real = commands.add_parser("quality")
    on_real.add_argument("datasets", nargs="*", default=list(DATASETS))
    on_real.add_argument("--k", type=int, default=5)
    on_real.add_argument("--splits", type=int, default=3)
    at_scale = commands.add_parser("scale")
    at_scale.add_argument("--shrink", type=int, default=1, help="divide all sizes by this")
    one = commands.add_parser("measure")
    one.add_argument("side")
    one.add_argument("path", type=Path)
    options = parser.parse_args()
    if options.command == "quality":
        quality(options.datasets, options.k, options.splits)
    elif options.command == "scale":
        scale(options.shrink)
    else:
        print(json.dumps(measure(options.side, options.path)))


if __name__ == "__main__":
    main()
