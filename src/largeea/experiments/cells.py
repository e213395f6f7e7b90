"""`Cell`: one measurement of an experiment. A cell that was measured once is not measured again."""

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
"""Align; align in a process of its own, so that memory is its own; only split into mini-batches."""


@dataclass(frozen=True)
class Cell:
    """What is measured, and how its row of the table is labelled.

    `splits` is the number of random splits that a measurement of mini-batches is repeated on.
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
        """Tells this measurement from any other, whatever the row is called."""
        what = self.dataset.identity, self.config.model_dump(mode="json")
        return _hash(*what, self.train, self.reverse, self.how, self.splits, version())

    @property
    def task_key(self) -> str:
        """The same for all cells that align the same graphs with the same seeds: they may share stages."""
        return _hash(self.dataset.identity, self.train, self.reverse, self.config.seed)


class Store:
    """Figures of finished cells as JSON files; stages of unfinished ones in `work`, to go on from.

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
        """The figures of a cell: read if it is done, else measured and stored.

        A method that cannot do what a cell asks leaves `{"error": why}`, and is asked again next time.
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
        """Drop stages that no cell needs any more."""
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
        """Before the first cell of a preset, so that its seconds are those of the work."""
        if cell.preset not in self._warm:
            warm_up(cell.preset, cell.config)
            self._warm.add(cell.preset)


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON that people can read too."""
    with atomic_write(path) as file:
        file.write(json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]
