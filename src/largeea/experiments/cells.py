"""`Cell`: one measurement of an experiment, and the store that caches its figures."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, Self

from largeea.config import Config
from largeea.errors import ResourceError, UsageError
from largeea.experiments.datasets import DataSet
from largeea.experiments.machine import version
from largeea.experiments.measure import Figures, align, quality, warm_up
from largeea.progress import note
from largeea.runs.files import atomic_write, explaining, make_folder
from largeea.runs.lock import hold, release

Value = str | float | int | None
Labels = Mapping[str, Value]
How = Literal["align", "align alone", "partition"]
"""Align; align in a separate process, to measure its memory alone; only split into mini-batches."""


@dataclass(frozen=True)
class Cell:
    """One measurement and the labels of its row in the table.

    `splits` is the number of random splits over which a measurement of mini-batches is repeated.
    """

    labels: Labels
    dataset: DataSet
    preset: str
    config: Config
    train: float = 0.2
    reverse: bool = False
    how: How = "align"
    splits: int = 1

    @property
    def key(self) -> str:
        """Key that identifies this measurement, independent of the row's labels."""
        what = self.dataset.identity, self.config.model_dump(mode="json")
        return _hash(*what, self.train, self.reverse, self.how, self.splits, version())

    @property
    def task_key(self) -> str:
        """Key common to all cells that align the same graphs with the same seeds; they share stages."""
        return _hash(self.dataset.identity, self.train, self.reverse, self.config.seed)


class Store:
    """Figures of finished cells as JSON files, and stages of unfinished cells in `work`, for resuming.

    One process at a time may use a folder: `with Store(folder) as store: store.figures(cell)`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cells, self._work = folder / "cells", folder / "work"
        self._warm: set[str] = set()

    def __enter__(self) -> Self:
        with explaining(self._folder):
            make_folder(self._folder)
        self._place = hold(self._folder)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        release(self._place)

    def figures(self, cell: Cell) -> Figures:
        """The figures of a cell: read if already measured, otherwise measured and stored.

        If the method cannot do what a cell asks, the figures are `{"error": why}`; the next call tries again.
        """
        path = self._cells / f"{cell.key}.json"
        if path.is_file():
            return dict(json.loads(path.read_text("utf-8")))
        try:
            figures = self._measured(cell)
        except (UsageError, ResourceError) as error:
            note(f"cannot be measured: {error}")
            return {"error": str(error)}
        write_json(path, figures)
        return figures

    def clear_work(self) -> None:
        """Delete stored stages that no cell needs any more."""
        shutil.rmtree(self._work, ignore_errors=True)

    def _measured(self, cell: Cell) -> Figures:
        given = cell.dataset, cell.preset, cell.config, cell.train, cell.reverse
        if cell.how == "partition":
            return quality(*given, cell.splits)
        if cell.how == "align alone":
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                return process.submit(align, *given).result()
        self._warm_up(cell)
        return align(*given, self._work / cell.task_key)

    def _warm_up(self, cell: Cell) -> None:
        """Warm up before the first cell of a preset, so that its seconds exclude imports and compilation."""
        if cell.preset not in self._warm:
            warm_up(cell.preset, cell.config)
            self._warm.add(cell.preset)


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON."""
    with atomic_write(path) as file:
        file.write(json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]
