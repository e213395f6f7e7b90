"""`same_iri.tsv`: the entities that both graphs have under the same IRI, as tab-separated text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.links.text import BATCH_ROWS
from largeea.formats.links.tsv import write_header, write_rows
from largeea.matching.alignment import Alignment


def write(alignment: Alignment, file: IO[bytes]) -> dict[str, int]:
    """Write IRI and name of each pair with equal IRIs; the number of linkable entities of each side."""
    same = alignment.same
    write_header(file, ("entity", "name"))
    write_rows(file, _rows(alignment))
    return {
        "source": int(alignment.source.linkable[same.source].sum()),
        "target": int(alignment.target.linkable[same.target].sum()),
    }


def _rows(alignment: Alignment) -> Iterator[list[pa.Array]]:
    same = alignment.same
    for start in range(0, len(same), BATCH_ROWS):
        source, target = (pa.array(side[start : start + BATCH_ROWS]) for side in (same.source, same.target))
        names = pc.coalesce(alignment.source.names.take(source), alignment.target.names.take(target))
        yield [alignment.source.entities.take(source), names]
