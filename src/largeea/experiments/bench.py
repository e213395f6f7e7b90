"""Benchmark runs: split known links, align with the seeds alone, evaluate on the rest."""

from __future__ import annotations

import time
from typing import Any

from largeea.config import Config
from largeea.errors import UsageError
from largeea.evaluation import evaluate, known_links, protocols, pseudo_seeds
from largeea.execution.memory import peak_gpu_mb, peak_rss_mb
from largeea.graph import Links, Pair
from largeea.inputs import given_inputs
from largeea.pipeline import Outcome, run_method
from largeea.randomness import generator
from largeea.runs.folder import Run


def split(links: Links, train: float, seed: int) -> tuple[Links, Links]:
    """Split links at random into seeds (a share `train`) and test links; deterministic in `seed`."""
    order = generator(seed, "split").permutation(len(links))
    count = round(train * len(links))
    return links.take(order[:count]).canonical(), links.take(order[count:]).canonical()


def seeds_and_test(
    pair: Pair, dataset: str, train: float, fold: str | None, seed: int
) -> tuple[Links, Links]:
    """Seeds and test links: those of an official fold, or a random split if `fold` is None."""
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
    """Align a benchmark with the seeds and return its figures and outcome.

    The test links are used only after the run has ended. A stage that is reused from an earlier run keeps the
    seconds and peak memory measured when it was computed.
    """
    seeds, test = seeds_and_test(pair, dataset, train, fold, config.seed)
    run = run or Run()
    started = time.perf_counter()
    outcome = run_method(given_inputs(run, pair.source, pair.target, seeds), config, run)
    alignment = outcome.alignment
    run.finish(outcome.parts)
    total = round(time.perf_counter() - started, 3)
    figures = {
        "dataset": dataset,
        "preset": preset,
        "train": train if fold is None else f"fold {fold}",
        "seeds": len(seeds),
        "protocols": protocols(
            outcome.fused.value, test, known_links(alignment, seeds), pair.target.linkable
        ),
        **evaluate(alignment, test, seeds),
        "augmentation": pseudo_seeds(outcome.seeds.value, test, seeds),
        "seconds": {"total": total, **run.seconds},
        "memory_mb": run.memory_mb,
        "peak_rss_mb": peak_rss_mb(),
        "peak_gpu_mb": peak_gpu_mb(),
    }
    return figures, outcome
