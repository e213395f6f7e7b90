"""The entities without a counterpart, as tab-separated text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from largeea.formats.links.text import BATCH_ROWS
from largeea.formats.links.tsv import write_header, write_rows
from largeea.graph import Int32, KnowledgeGraph, strings
from largeea.matching.alignment import Alignment

FILE_NAME = "unmatched.tsv"


def write(alignment: Alignment, file: IO[bytes]) -> dict[str, int]:
    """Write side, IRI and name of each entity in no accepted pair; the number of rows of each side."""
    write_header(file, ("side", "entity", "name"))
    return {
        "source": write_rows(file, _rows("source", alignment.source, alignment.unmatched_source_ids)),
        "target": write_rows(file, _rows("target", alignment.target, alignment.unmatched_target_ids)),
    }


def _rows(side: str, graph: KnowledgeGraph, unmatched: Int32) -> Iterator[list[pa.Array]]:
    for start in range(0, len(unmatched), BATCH_ROWS):
        ids = pa.array(unmatched[start : start + BATCH_ROWS])
        yield [strings([side] * len(ids)), graph.entities.take(ids), graph.names.take(ids)]
