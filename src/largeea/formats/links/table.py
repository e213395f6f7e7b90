"""Plain tables of all pairs, accepted or for review, with names and evidence: as text and as Parquet."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from largeea.alignment import Alignment
from largeea.errors import InputError
from largeea.formats.links.model import LinkCollector, LinkFormat, LinkTable
from largeea.formats.links.text import batches, first_line, part
from largeea.formats.links.tsv import text_lines, tsv_rows, write_tsv
from largeea.formats.streams import open_bytes

_COLUMNS = ("source", "target", "confidence", "status", "source_name", "target_name")
_ACCEPTED = "accepted"


def write_text(alignment: Alignment, file: IO[bytes]) -> None:
    """Every pair as a line under a header."""
    columns = [*_COLUMNS, *(f"evidence_{name}" for name in alignment.evidence)]
    rows = batches(alignment, accepted_only=False)
    write_tsv(file, columns, ([batch[name] for name in columns] for batch in rows))


def write_parquet(alignment: Alignment, file: IO[bytes]) -> None:
    """Every pair, a row group a batch."""
    schema = part(alignment, np.empty(0, np.intp)).to_table().schema
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in batches(alignment, accepted_only=False):
            writer.write_batch(batch)


def recognises_text(head: bytes) -> bool:
    """Known by its header; without one, nothing tells it from other text."""
    return first_line(head).lower().startswith(b"source\ttarget")


def recognises_parquet(head: bytes) -> bool:
    """Known by its magic number."""
    return head.startswith(b"PAR1")


def read_text(path: Path) -> LinkTable:
    """Two columns of IRIs and perhaps a confidence, as they are; or any columns under a header.

    The header begins `source`, `target`; below it cells may be quoted, and where it names a `status`, only
    rows that are `accepted` are links.
    """
    lines = text_lines(path)
    first = next(lines, "")
    names = [name.strip().lower() for name in first.split("\t")]
    headed = names[:2] == ["source", "target"]
    rows = tsv_rows(itertools.chain([first], lines), path, quoted=headed)
    if headed:
        next(rows)
    elif len(names) in (2, 3):
        names = ["source", "target", "confidence"][: len(names)]
    else:
        raise InputError(
            f"has {len(names)} tab-separated columns; links are given as two (source and target) or three "
            "(and a confidence), or below a header line that begins with source and target",
            path,
            line=1,
        )
    confidence, status = (names.index(name) if name in names else None for name in ("confidence", "status"))
    links = LinkCollector(path)
    for line, row in rows:
        if status is not None and row[status] != _ACCEPTED:
            links.ignored += 1
        else:
            links.add(line, row[0], row[1], "" if confidence is None else row[confidence])
    return links.table()


def read_parquet(path: Path) -> LinkTable:
    """The columns `source` and `target`, and `confidence` and `status` where they are there."""
    open_bytes(path).close()
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if missing := [name for name in ("source", "target") if name not in names]:
                message = (
                    f"lacks the column {' and '.join(missing)} of a table of links; it has {', '.join(names)}"
                )
                raise InputError(message, path)
            wanted = ("source", "target", "confidence", "status")
            table = file.read(columns=[name for name in wanted if name in names])
            return _links_in(table, path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read as a Parquet table of links: {error}", path) from None


def _links_in(table: pa.Table, path: Path) -> LinkTable:
    rows = len(table)
    if "status" in table.column_names:
        table = table.filter(pc.equal(table["status"].cast(pa.large_string()), _ACCEPTED))
    source, target = (table[name].cast(pa.large_string()).combine_chunks() for name in ("source", "target"))
    if empty := source.null_count + target.null_count:
        raise InputError(f"the source or target of {empty} links is empty; remove them", path)
    weight = None
    if "confidence" in table.column_names:
        weight = np.asarray(pc.fill_null(table["confidence"].cast(pa.float32()), 1.0))
        if not ((weight >= 0) & (weight <= 1)).all():
            raise InputError("a confidence is not a number between 0 and 1", path)
    return LinkTable(path, source, target, weight, ignored=rows - len(table))


TSV = LinkFormat("tsv", "alignment.tsv", write_text, recognises_text, read_text)
PARQUET = LinkFormat("parquet", "alignment.parquet", write_parquet, recognises_parquet, read_parquet)
