"""The entities without a counterpart, as tab-separated text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.links.text import BATCH_ROWS, joined
from largeea.formats.links.tsv import write_header, write_rows
from largeea.formats.streams import in_parallel
from largeea.graph import Bool, Int32, KnowledgeGraph, Strings
from largeea.graph.lookup import places_in
from largeea.matching.alignment import Alignment

NO_NAME = "no name"
NO_FREE_CANDIDATE = "no likely candidate, or all are in other pairs"


def write(alignment: Alignment, file: IO[bytes]) -> dict[str, int]:
    """Write side, IRI, name and reason of each unmatched entity; the number of rows of each side."""
    write_header(file, ("side", "entity", "name", "reason"))
    graphs = alignment.source, alignment.target
    unmatched = alignment.unmatched_source_ids, alignment.unmatched_target_ids

    def reasons_of(side: int) -> Strings:
        taken = np.zeros(graphs[1 - side].size, bool)
        for pairs in (alignment.pairs, alignment.same.pairs):
            taken[pairs[:, 1 - side]] = True
        return _reasons(graphs[side], unmatched[side], graphs[1 - side], taken)

    reasons = in_parallel(reasons_of, (0, 1))
    return {
        name: write_rows(file, _rows(name, graph, ids, next(reasons)))
        for name, graph, ids in zip(("source", "target"), graphs, unmatched, strict=True)
    }


def _rows(side: str, graph: KnowledgeGraph, unmatched: Int32, reasons: Strings) -> Iterator[list[pa.Array]]:
    for start in range(0, len(unmatched), BATCH_ROWS):
        ids = pa.array(unmatched[start : start + BATCH_ROWS])
        columns = graph.entities.take(ids), graph.names.take(ids), reasons.slice(start, len(ids))
        yield [pa.repeat(pa.scalar(side, pa.large_string()), len(ids)), *columns]


def _reasons(graph: KnowledgeGraph, unmatched: Int32, other: KnowledgeGraph, taken: Bool) -> Strings:
    """Why each entity is unmatched, `[n]`, as far as the pairs show it.

    `taken` is the mask of the entities of the other graph that are in a pair. The first of them by id that
    has the same name is named.
    """
    rivals = pa.array(np.flatnonzero(taken))
    names = graph.names.take(pa.array(unmatched))
    found = places_in(names, other.names.take(rivals))
    place = pa.array(found, mask=found < 0)
    rival = other.entities.take(rivals.take(place))
    same_name = joined("same name as ", rival, ", which is in another pair")
    otherwise = pc.if_else(pc.is_valid(names), NO_FREE_CANDIDATE, NO_NAME).cast(pa.large_string())
    return pc.if_else(pc.is_valid(place), same_name, otherwise)
