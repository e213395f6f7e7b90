"""The clusters that accepted pairs make, as tab-separated text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np
import pyarrow as pa

from largeea.formats.links.text import BATCH_ROWS
from largeea.formats.links.tsv import write_header, write_rows
from largeea.matching.alignment import Alignment


def write(alignment: Alignment, file: IO[bytes]) -> int:
    """Write cluster, side, IRI and name of each entity in an accepted pair; the number of clusters.

    Entities of a cluster stand together, those of the source graph first. Clusters are numbered from 1.
    """
    write_header(file, ("cluster", "side", "entity", "name"))
    number = alignment.clusters
    entities = np.flatnonzero(number >= 0)
    order = entities[np.argsort(number[entities], kind="stable")]

    def rows() -> Iterator[list[pa.Array]]:
        sources = alignment.source.size
        both = [
            pa.concat_arrays([getattr(graph, column) for graph in (alignment.source, alignment.target)])
            for column in ("entities", "names")
        ]
        for start in range(0, len(order), BATCH_ROWS):
            some = order[start : start + BATCH_ROWS]
            sides = pa.array(np.where(some < sources, "source", "target"))
            yield [pa.array(number[some] + 1), sides, *(column.take(pa.array(some)) for column in both)]

    write_rows(file, rows())
    return int(number.max(initial=-1)) + 1
