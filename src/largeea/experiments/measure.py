"""Measures one cell of an experiment: a whole alignment, or only the mini-batches."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from largeea.config import Config, PartitionConfig
from largeea.experiments.bench import bench, split
from largeea.experiments.datasets import DataSet, load_pair, twin
from largeea.experiments.machine import describe
from largeea.graph import Links, Pair, Task
from largeea.progress import step
from largeea.randomness import child_seed
from largeea.runs.folder import Run
from largeea.structure.partition import partition
from largeea.structure.partition.quality import report

Figures = dict[str, Any]
_WARMING = 200
"""Entities per side of the pair used to warm up."""


def align(
    dataset: DataSet, preset: str, config: Config, train: float, reverse: bool, folder: Path | None = None
) -> Figures:
    """Align a data set; returns the figures of `bench` and those of the structure channel's mini-batches.

    Stages stored in `folder` by another cell are reused; their seconds are included in the figures.
    """
    pair = load_pair(dataset, reverse)
    with Run(folder) as run:
        figures, outcome = bench(pair, dataset.name, preset, config, train, run=run)
        figures["seconds"]["stages"] = round(sum(run.seconds.values()), 3)
    figures["unlinked"] = unlinked(pair)
    if config.uses("structure"):
        seed = child_seed(child_seed(config.seed, "structure"), "partition")
        task = Task(pair.source, pair.target, outcome.seeds.value.canonical())
        _, test = split(pair.links, train, config.seed)
        figures["partition"] = batches(task, test, config.partition, seed)
    return figures | {"machine": describe()}


def unlinked(pair: Pair) -> int:
    """Number of entities of both sides that are in no link, i.e. have no counterpart."""
    sides = (pair.source, pair.links.source), (pair.target, pair.links.target)
    return sum(len(np.setdiff1d(np.flatnonzero(graph.linkable), linked)) for graph, linked in sides)


def warm_up(preset: str, config: Config) -> None:
    """Align a small twin for one epoch, so that libraries are loaded and code is compiled."""
    brief = config.structure.model_copy(update={"epochs": 1})
    config = config.model_copy(update={"structure": brief, "partition": PartitionConfig()})
    bench(twin(_WARMING).load(), "warming up", preset, config, train=0.5)


def quality(
    dataset: DataSet, preset: str, config: Config, train: float, reverse: bool, splits: int
) -> Figures:
    """Partition quality on each of `splits` random splits."""
    pair = load_pair(dataset, reverse)
    seeds = range(config.seed, config.seed + splits)
    found = [_one_split(pair, config.partition, train, seed) for seed in seeds]
    return {"splits": found, "machine": describe()}


def batches(task: Task, test: Links, how: PartitionConfig, seed: int) -> Figures:
    """Split a task into mini-batches and report edge cut (R_ec), pairs in one batch, sizes, seconds."""
    started = time.perf_counter()
    with step("partition"):
        assignment = partition(task, how, seed)
    return report(task, assignment, how.method, round(time.perf_counter() - started, 3), test)


def _one_split(pair: Pair, how: PartitionConfig, train: float, seed: int) -> Figures:
    seeds, test = split(pair.links, train, seed)
    return batches(Task(pair.source, pair.target, seeds), test, how, seed)
