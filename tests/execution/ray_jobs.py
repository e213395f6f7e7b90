"""Jobs for the tests of the Ray engine: workers import this module by its name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from largeea.errors import ResourceError
from largeea.execution import current
from largeea.similarity import Similarity


class Pair(NamedTuple):
    numbers: np.ndarray
    two: int


def sums(first: int, matrix: Similarity, columns: dict, pair: Pair) -> dict[str, np.ndarray]:
    characters = pc.sum(pc.utf8_length(columns["names"])).as_py()
    return {"sums": np.array([matrix.scores.sum() + pair.numbers.sum(), characters, pair.two], np.int64)}


def squares(first: int, last: int, numbers: np.ndarray) -> dict[str, np.ndarray]:
    return {"squares": numbers[first:last] ** 2}


def slow_squares(first: int, last: int, numbers: np.ndarray, folder: str) -> dict[str, np.ndarray]:
    """Leaves a note who works on it, and takes a while."""
    Path(folder, f"{first}-{os.getpid()}").touch()
    time.sleep(0.6)
    return squares(first, last, numbers)


def refused(first: int) -> dict[str, np.ndarray]:
    if first == 2:
        raise ResourceError("job 2 has no room")
    return {}


def refused_beside_another(first: int, folder: str) -> dict[str, np.ndarray]:
    """Job 0 fails as soon as job 1 is under way."""
    if first == 1:
        Path(folder, f"{first}-{os.getpid()}").touch()
        time.sleep(60)
    while not list(Path(folder).iterdir()):
        time.sleep(0.02)
    raise ResourceError("job 0 has no room")


def deadly(first: int) -> dict[str, np.ndarray]:
    os.kill(os.getpid(), 9)
    return {}


def settings(first: int) -> dict[str, np.ndarray]:
    return {"threads": np.array([current().thread_count, current().engine == "local"])}


def read_nothing(path: str) -> str:
    """A node that does not see the driver's folder."""
    return ""
