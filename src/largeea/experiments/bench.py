"""Benchmark runs: split known links, align with the seeds alone, evaluate on the rest."""

from __future__ import annotations

import time
from typing import Any

from largeea.config import Config
from largeea.errors import UsageError
from largeea.evaluate import evaluate, protocols, pseudo_seeds
from largeea.graph import Links, Pair, Task
from largeea.pipeline import Outcome, run_stages
from largeea.randomness import generator
from largeea.runs import Run
from largeea.runs.artifacts import content_hash
from largeea.runs.memory import peak_gpu_mb, peak_rss_mb


def split(links: Links, train: float, seed: int) -> tuple[Links, Links]:
    """A share of the links as seeds, the rest for testing; the same for the same seed."""
    order = generator(seed, "split").permutation(len(links))
    count = round(train * len(links))
    return links.take(order[:count]).canonical(), links.take(order[count:]).canonical()


def seeds_and_test(
    pair: Pair, dataset: str, train: float, fold: str | None, seed: int
) -> tuple[Links, Links]:
    """The links of an official fold, or a random split."""
    if fold is None:
        return split(pair.links, train, seed)
    if fold not in pair.folds:
        known = ", ".join(pair.folds) or "none"
        raise UsageError(f"{dataset} has no official fold {fold!r}; it has: {known}")
    return pair.folds[fold]


def bench(
    pair: Pair,
    dataset: str,
    preset: str,
    config: Config,
    train: float,
    fold: str | None = None,
    run: Run | None = None,
) -> tuple[dict[str, Any], Outcome]:
    """Align a benchmark and measure the answer. The test links are used only after the run has ended.

    Seconds and peak memory of stages are those of the time when they were computed.
    """
    seeds, test = seeds_and_test(pair, dataset, train, fold, config.seed)
    task = Task(pair.source, pair.target, seeds)
    run = run or Run()
    started = time.perf_counter()
    outcome = run_stages(lambda: task, content_hash(task), config, run)
    total = round(time.perf_counter() - started, 3)
    figures = {
        "dataset": dataset,
        "preset": preset,
        "train": train if fold is None else f"fold {fold}",
        "seeds": len(seeds),
        "protocols": protocols(outcome.fused, test, seeds),
        **evaluate(outcome.alignment, test, seeds),
        "augmentation": pseudo_seeds(outcome.seeds, test, seeds),
        "seconds": {"total": total, **run.seconds},
        "memory_mb": run.memory_mb,
        "peak_rss_mb": peak_rss_mb(),
        "peak_gpu_mb": peak_gpu_mb(),
    }
    return figures, outcome
