"""Data sets of experiments: pair folders, the built-in demo, synthetic twins; each with an identity."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Protocol

from largeea.datasets.demo import demo_pair
from largeea.datasets.synth import TWINS, TwinSpec, find_twin, synthetic_pair
from largeea.errors import InputError, UsageError
from largeea.formats import ReadOptions, read
from largeea.graph import Pair
from largeea.hashing import file_hash
from largeea.progress import step

_GROWING = "ids100k-en-fr"
"""Default data set for twins: both sides have the same size, and every entity has a counterpart."""


class DataSet(Protocol):
    """A pair of graphs with known links that is generated or read on demand."""

    @property
    def name(self) -> str:
        """Name in tables."""

    @property
    def identity(self) -> str:
        """String that identifies the content."""

    def load(self) -> Pair:
        """Generate or read the pair."""

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class FolderSet:
    """A benchmark folder."""

    folder: Path
    language: str | None = None

    @property
    def name(self) -> str:
        """The folder's name, with the language if the folder holds several."""
        own = self.folder.resolve().name
        return own if self.language is None else f"{own}_{self.language}"

    @property
    def identity(self) -> str:
        """SHA-256 of all files, independent of the folder's location."""
        return _hash_of_folder(self.folder) + (self.language or "")

    def load(self) -> Pair:
        """Read the folder."""
        with step("read"):
            pair = read(self.folder, ReadOptions(pair_language=self.language))
        if not isinstance(pair, Pair):
            raise UsageError(f"{self.folder} is a single graph; give folders with two graphs and their links")
        return pair


@dataclass(frozen=True)
class DemoSet:
    """The built-in demo, English and French."""

    seed: int = 0
    name: str = "demo-en-fr"

    @property
    def identity(self) -> str:
        """The seed; the release, which also matters, is part of every cell's key."""
        return str(self)

    def load(self) -> Pair:
        """Generate the demo."""
        return demo_pair(("en", "fr"), self.seed)


@dataclass(frozen=True)
class TwinSet:
    """A synthetic twin of one of the paper's data sets, at another size."""

    spec: TwinSpec
    seed: int = 0

    @property
    def name(self) -> str:
        """Name in tables, such as twin-1000."""
        return f"twin-{self.spec.entities[0]}"

    @property
    def identity(self) -> str:
        """All parameters from which the twin is generated."""
        return str(self)

    def load(self) -> Pair:
        """Generate the twin."""
        return synthetic_pair(self.spec, self.seed)


def twin(entities: int, seed: int = 0, like: str = _GROWING) -> TwinSet:
    """The twin of `like` with `entities` entities on the source side."""
    spec = find_twin(like)
    return TwinSet(spec.scaled(entities / spec.entities[0]), seed)


def check(folder: Path) -> Path:
    """Return the folder; raises an error if it does not exist, before any measurement."""
    if not folder.is_dir():
        raise InputError(
            "is not a folder; --data needs pair folders (OpenEA, DBP15K or DBP1M layout)", folder
        )
    return folder


def known_to_paper(name: str) -> str | None:
    """The paper's data set that a folder is named after, such as ids15k-en-de for ids15k_en_de_v1."""
    plain = name.lower().replace("_", "-")
    return next((known for known in TWINS if plain.startswith(known)), None)


@lru_cache(maxsize=1)
def load_pair(dataset: DataSet, reverse: bool) -> Pair:
    """Load the pair in one direction; the last one is cached for the next cell."""
    pair = dataset.load()
    return pair.reversed() if reverse else pair


@cache
def _hash_of_folder(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\n{file_hash(path)}\n".encode())
    return digest.hexdigest()
