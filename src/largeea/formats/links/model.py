"""What the formats of links share: the table that is read, its collector, and what a format consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from largeea.errors import InputError
from largeea.formats.links.about import About
from largeea.formats.vocabularies import IDENTITIES, OWL
from largeea.graph import Float32, Int64, Strings, frozen, strings
from largeea.matching.alignment import Alignment

SAME_AS = OWL + "sameAs"
EQUIVALENCES = frozenset(IDENTITIES)
"""Predicates which state that subject and object are the same thing."""

CHUNK_ROWS = 1 << 16
MAX_LINE_BYTES = 16 << 20


@dataclass(frozen=True, eq=False)
class LinkTable:
    """Links of a file by IRI: `source[n]`, `target[n]`, with the line of each.

    `weight` is the confidence (None if the file has none); `line` counts from 1 (None if the file has no
    lines); `ignored` is the number of rows left out because they do not state that both ends are the same.
    `negated` are the rows which state that they are not, where a format can say so.
    """

    path: Path
    source: Strings
    target: Strings
    weight: Float32 | None = None
    line: Int64 | None = None
    ignored: int = 0
    negated: LinkTable | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("weight", np.float32), ("line", np.int64)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), dtype))

    def __len__(self) -> int:
        return len(self.source)

    def place(self, row: int) -> str:
        """Where a row is in the file, in the form of an error message."""
        return f"{self.path}, row {row + 1}" if self.line is None else f"{self.path}:{self.line[row]}"


class LinkCollector:
    """Takes links one by one and keeps them as Arrow columns, a chunk of rows at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ignored = 0
        self._weighted = False
        self._rows: list[tuple[str, str, float, int]] = []
        self._chunks: list[tuple[Strings, Strings, Float32, Int64]] = []

    def add(self, line: int, source: str, target: str, confidence: str = "") -> None:
        """Add a link. If other links have a confidence, one without it counts as certain."""
        if not source or not target:
            raise InputError(f"the {'target' if source else 'source'} of this link is empty", self.path, line)
        weight = 1.0
        if confidence:
            weight = self._confidence(confidence, line)
            self._weighted = True
        self._rows.append((source, target, weight, line))
        if len(self._rows) == CHUNK_ROWS:
            self._flush()

    def table(self) -> LinkTable:
        """All links; the collector cannot be used again."""
        self._flush()
        source, target, weight, line = zip(*self._chunks, strict=True) if self._chunks else ((), (), (), ())
        return LinkTable(
            self.path,
            pa.concat_arrays([strings(), *source]),
            pa.concat_arrays([strings(), *target]),
            np.concatenate(weight) if self._weighted else None,
            np.concatenate([np.empty(0, np.int64), *line]),
            self.ignored,
        )

    def _flush(self) -> None:
        if self._rows:
            source, target, weight, line = zip(*self._rows, strict=True)
            columns = np.array(weight, np.float32), np.array(line, np.int64)
            self._chunks.append((strings(source), strings(target), *columns))
            self._rows.clear()

    def _confidence(self, text: str, line: int) -> float:
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not 0 <= value <= 1:
            raise InputError(f"the confidence {text!r} is not a number between 0 and 1", self.path, line)
        return value


@dataclass(frozen=True)
class Written:
    """What a writer counted: the accepted pairs in the file, and distinct entities of each side.

    `linked` counts those in accepted pairs, `doubtful` those in doubtful pairs.
    """

    pairs: int
    linked: dict[str, int]
    doubtful: dict[str, int]


@dataclass(frozen=True)
class LinkFormat:
    """A file format of links: its name, its usual file name, and how it is written, recognised and read.

    `write` takes what is to be said about the links; a format ignores what it cannot say. `recognises` is
    called with the first bytes of a file, decompressed.
    """

    name: str
    file_name: str
    write: Callable[[Alignment, IO[bytes], About], Written]
    recognises: Callable[[bytes], bool]
    read: Callable[[Path], LinkTable]
