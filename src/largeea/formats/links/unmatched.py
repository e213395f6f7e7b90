"""The entities without a counterpart, as tab-separated text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from largeea.alignment import Alignment
from largeea.formats.links.text import BATCH_ROWS
from largeea.formats.links.tsv import write_tsv
from largeea.graph import strings

FILE_NAME = "unmatched.tsv"


def write(alignment: Alignment, file: IO[bytes]) -> None:
    """A line for each entity in no accepted pair: its side (source or target), IRI and name."""
    write_tsv(file, ("side", "entity", "name"), _rows(alignment))


def _rows(alignment: Alignment) -> Iterator[list[pa.Array]]:
    sides = (
        ("source", alignment.source, alignment.unmatched_source),
        ("target", alignment.target, alignment.unmatched_target),
    )
    for side, graph, unmatched in sides:
        for start in range(0, len(unmatched), BATCH_ROWS):
            ids = pa.array(unmatched[start : start + BATCH_ROWS])
            yield [strings([side] * len(ids)), graph.entities.take(ids), graph.names.take(ids)]
