"""The cells of each experiment."""

from __future__ import annotations

from collections.abc import Iterator

from largeea.config import PARTS
from largeea.experiments import columns as c
from largeea.experiments.cells import Cell, Labels
from largeea.experiments.datasets import DataSet, twin
from largeea.experiments.scope import Scope


def overall(scope: Scope) -> Iterator[Cell]:
    """Every preset on every data set, both directions."""
    for dataset, reverse in _oriented(scope):
        for preset in scope.presets:
            labels: Labels = {"data set": dataset.name, "direction": _arrow(reverse), "method": preset}
            yield Cell(labels, dataset, preset, scope.config(preset), scope.train, reverse)


def scalability(scope: Scope) -> Iterator[Cell]:
    """Twins of doubling size."""
    for preset in scope.dissected:
        for size in scope.sizes:
            labels: Labels = {"method": preset, c.SIZE: size}
            yield Cell(labels, twin(size, scope.seed), preset, scope.config(preset), scope.train)


INGREDIENTS = {
    "one round": "evidence.rounds=1",
    "without neighbours": "evidence.neighbour_weight=0",
    "without surroundings": "evidence.surroundings_weight=0",
    "without literals": "evidence.literals=false",
    "without new candidates": "evidence.candidates_per_round=0",
    "without Sinkhorn": "evidence.sinkhorn_iterations=0",
    "anchors without margin": "evidence.margin=0",
    "without aliases": "names.max_aliases=0",
    "brackets count in full": "names.discount_brackets=false",
}
"""Ingredients of the default method beyond its parts, and the setting that disables each."""


def ablation(scope: Scope) -> Iterator[Cell]:
    """The complete method, then each part removed in turn; with evidence, also each of its ingredients."""
    for preset in scope.dissected:
        whole = scope.config(preset)
        variants = {"complete": whole}
        for part in PARTS:
            if whole.uses(part):
                variants[f"without {part}"] = scope.config(preset, without=(part,))
        if whole.uses("evidence"):
            variants |= {name: scope.config(preset, setting) for name, setting in INGREDIENTS.items()}
        for dataset in scope.datasets:
            for variant, config in variants.items():
                labels: Labels = {"method": preset, "data set": dataset.name, "variant": variant}
                yield Cell(labels, dataset, preset, config, scope.train)


def seeds(scope: Scope) -> Iterator[Cell]:
    """Structure alone, with an increasing share of seeds."""
    for dataset in scope.batched:
        for method in ("metis-cps", "vps", "none"):
            for share in scope.shares:
                labels: Labels = {"partition": method}
                yield _structure_alone(scope, labels, dataset, share, f"partition.method={method}")


def batches(scope: Scope) -> Iterator[Cell]:
    """Structure alone, with an increasing number K of mini-batches."""
    for dataset in scope.batched:
        for method in ("metis-cps", "vps"):
            for k in scope.batches:
                labels: Labels = {"partition": method, c.K: k}
                settings = f"partition.method={method}", f"partition.k={k}"
                yield _structure_alone(scope, labels, dataset, scope.train, *settings)


def overlap(scope: Scope) -> Iterator[Cell]:
    """Structure alone, with an increasing overlap D_ov of mini-batches."""
    k = max(scope.overlaps)
    for dataset in scope.batched:
        for degree in scope.overlaps:
            labels: Labels = {"partition": "metis-cps", c.OVERLAP: degree}
            settings = f"partition.k={max(k, 5)}", f"partition.overlap={degree}"
            yield _structure_alone(scope, labels, dataset, scope.train, *settings)


def partition_quality(scope: Scope) -> Iterator[Cell]:
    """Every partition method, both directions, without training."""
    for dataset, reverse in _oriented(scope):
        for method in ("metis-cps", "merged", "vps"):
            labels: Labels = {"data set": dataset.name, "direction": _arrow(reverse), "partition": method}
            config = scope.config(scope.structural, f"partition.method={method}")
            yield Cell(
                labels,
                dataset,
                scope.structural,
                config,
                scope.train,
                reverse,
                how="partition",
                splits=scope.splits,
            )


def unsupervised(scope: Scope) -> Iterator[Cell]:
    """Every preset, without and with seeds."""
    for dataset, reverse in _oriented(scope):
        for preset in scope.presets:
            for train in dict.fromkeys((0.0, scope.train)):
                labels: Labels = {
                    "data set": dataset.name,
                    "direction": _arrow(reverse),
                    "method": preset,
                }
                yield Cell(labels, dataset, preset, scope.config(preset), train, reverse)


def memory(scope: Scope) -> Iterator[Cell]:
    """Every preset, and both models without a partition."""
    for dataset in scope.batched:
        for preset in scope.presets:
            methods = ("metis-cps", "none") if scope.config(preset).uses("structure") else ("",)
            for method in methods:
                settings = (f"partition.method={method}",) if method else ()
                labels: Labels = {
                    "data set": dataset.name,
                    "method": preset,
                    "partition": method or "no batches",
                }
                yield Cell(
                    labels, dataset, preset, scope.config(preset, *settings), scope.train, how="align alone"
                )


def _structure_alone(scope: Scope, labels: Labels, dataset: DataSet, train: float, *settings: str) -> Cell:
    config = scope.config(scope.structural, *settings, without=("names",))
    named = {"data set": dataset.name, "method": scope.structural, **labels}
    return Cell(named, dataset, scope.structural, config, train)


def _oriented(scope: Scope) -> Iterator[tuple[DataSet, bool]]:
    for dataset in scope.datasets:
        for reverse in scope.directions:
            yield dataset, reverse


def _arrow(reverse: bool) -> str:
    return "2→1" if reverse else "1→2"
