"""The scope of an experiment: its data sets, and the values of what it varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from largeea.config import PRESETS, Config, load
from largeea.experiments.datasets import DataSet, DemoSet, FolderSet, check, twin


@dataclass(frozen=True)
class Scope:
    """The values that experiments iterate over.

    `settings` apply to every configuration. `batched` are the data sets for experiments on mini-batches
    alone, `dissected` the presets whose components are measured one by one.
    """

    datasets: tuple[DataSet, ...]
    batched: tuple[DataSet, ...]
    settings: tuple[str, ...] = ()
    seed: int = 0
    train: float = 0.2
    presets: tuple[str, ...] = tuple(PRESETS)
    dissected: tuple[str, ...] = ("default", "largeea-r")
    directions: tuple[bool, ...] = (False, True)
    sizes: tuple[int, ...] = (2000, 4000, 8000, 16_000, 32_000)
    shares: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5)
    batches: tuple[int, ...] = (5, 10, 15, 20, 25, 30)
    overlaps: tuple[int, ...] = (1, 2, 3, 4, 5)
    splits: int = 3

    def config(self, preset: str, *settings: str, without: tuple[str, ...] = ()) -> Config:
        """Configuration of a preset with the settings common to all cells and those of one cell."""
        return load(preset, None, (*self.settings, *settings), seed=self.seed, without=without or None)

    @property
    def structural(self) -> str:
        """The preset for experiments on the structure channel alone; by default the paper's choice."""
        return next((preset for preset in self.presets if self.config(preset).uses("structure")), "largeea-r")


QUICK_SETTINGS = ("structure.epochs=20", "names.encoder=ngram")
_QUICK_ENTITIES, _SMALL_ENTITIES = 1000, 5000


def make_scope(
    folders: Sequence[Path] = (),
    quick: bool = False,
    settings: Sequence[str] = (),
    seed: int = 0,
    language: str | None = None,
    presets: Sequence[str] = (),
    train: float = 0.2,
) -> Scope:
    """Scope with all values, or with few in `quick` mode; without folders, on the demo and a twin."""
    small = twin(_QUICK_ENTITIES if quick else _SMALL_ENTITIES, seed)
    given = tuple(FolderSet(check(folder), language) for folder in folders)
    datasets: tuple[DataSet, ...] = given or (DemoSet(seed), small)
    scope = Scope(datasets, datasets, tuple(settings), seed, train)
    if presets:
        scope = replace(scope, presets=tuple(presets), dissected=tuple(presets))
    for preset in scope.presets:
        scope.config(preset)  # report a mistake now, not after hours
    if not quick:
        return scope
    return replace(
        scope,
        batched=datasets[-1:],
        settings=(*QUICK_SETTINGS, *settings),
        directions=(False,),
        sizes=(400, 800, 1600),
        shares=(0.1, 0.3, 0.5),
        batches=(2, 4, 8),
        overlaps=(1, 2, 3),
        splits=1,
    )
