"""Tables of all pairs, accepted or doubtful, with names and evidence: as TSV and as Parquet."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError
from largeea.formats import parquet
from largeea.formats.links.about import NOTHING, About
from largeea.formats.links.model import LinkCollector, LinkFormat, LinkTable, Written
from largeea.formats.links.text import Batches, first_line, part
from largeea.formats.links.tsv import text_lines, tsv_rows, write_header, write_rows
from largeea.graph import Float32, Strings, strings
from largeea.matching.alignment import Alignment

_COLUMNS = ("source", "target", "confidence", "status", "source_name", "target_name")
_ACCEPTED = "accepted"


def write_text(alignment: Alignment, file: IO[bytes], about: About = NOTHING) -> Written:
    """Write every pair as a line below a header. Tables have no predicates."""
    columns = [*_COLUMNS, *(f"evidence_{name}" for name in alignment.evidence)]
    batches = Batches(alignment, accepted_only=False)
    write_header(file, columns)
    return batches.written(write_rows(file, ([batch[name] for name in columns] for batch in batches)))


def write_doubtful(alignment: Alignment, file: IO[bytes]) -> Written:
    """Write the doubtful pairs like `write_text`.

    As a link file, it holds no links until a reader of it sets the status of a pair to `accepted`.
    """
    return write_text(part(alignment, np.flatnonzero(~alignment.accepted)), file)


def write_parquet(alignment: Alignment, file: IO[bytes], about: About = NOTHING) -> Written:
    """Write every pair, with a row group for each batch. Tables have no predicates."""
    import pyarrow.parquet as pq  # imported lazily: slow to import, and most answers are text

    schema = part(alignment, np.empty(0, np.intp)).to_table().schema
    batches = Batches(alignment, accepted_only=False)
    footers: list[pq.FileMetaData] = []
    with pq.ParquetWriter(file, schema, compression="zstd", metadata_collector=footers) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return batches.written(sum(footer.num_rows for footer in footers))


def recognises_text(head: bytes) -> bool:
    """Recognised by its header; without one it cannot be told from other text."""
    return first_line(head).lower().startswith(b"source\ttarget")


def recognises_parquet(head: bytes) -> bool:
    """Recognised by its magic number."""
    return head.startswith(b"PAR1")


def read_text(path: Path) -> LinkTable:
    """Links from two columns of IRIs and an optional confidence, or from any columns below a header.

    The header begins with `source` and `target`. Below it, cells may be quoted; if it has a `status`, only
    `accepted` rows are links.
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
    """Links from the columns `source` and `target`, and `confidence` and `status` if they exist."""
    names, batches = parquet.read_parquet(path)
    if missing := [name for name in ("source", "target") if name not in names]:
        message = f"lacks the column {' and '.join(missing)} of a table of links; it has {', '.join(names)}"
        raise InputError(message, path)
    place = {name: names.index(name) for name in _COLUMNS[:4] if name in names}
    if repeated := [name for name in place if names.count(name) > 1]:
        raise InputError(f"has more than one column {repeated[0]!r}; give them different names", path)
    parts: list[tuple[Strings, Strings, Float32]] = []
    rows = 0
    for batch in batches:
        source, target, weight = _links_in({name: batch[at] for name, at in place.items()}, path)
        parts.append((source, target, weight))
        rows += len(batch)
    sources, targets, weights = zip(*parts, strict=True) if parts else ((), (), ())
    return LinkTable(
        path,
        pa.concat_arrays([strings(), *sources]),
        pa.concat_arrays([strings(), *targets]),
        np.concatenate([np.empty(0, np.float32), *weights]) if "confidence" in place else None,
        ignored=rows - sum(map(len, sources)),
    )


def _links_in(cells: dict[str, pa.Array], path: Path) -> tuple[Strings, Strings, Float32]:
    """Sources, targets and confidences (1 where there is none) of the accepted rows."""
    rows = pa.RecordBatch.from_pydict(
        {
            name: (parquet.validated if name == "confidence" else parquet.text_column)(column, name, path)
            for name, column in cells.items()
        }
    )
    if "status" in cells:
        rows = rows.filter(pc.equal(rows["status"], _ACCEPTED))
    source, target = rows["source"], rows["target"]
    if empty := source.null_count + target.null_count:
        raise InputError(f"the source or target of {empty} links is empty; remove them", path)
    weight = np.ones(len(rows), np.float32)
    if "confidence" in cells:
        try:
            weight = np.asarray(pc.fill_null(rows["confidence"].cast(pa.float32()), 1.0))
        except pa.ArrowException as error:
            raise InputError(f"its confidences are not numbers: {error}", path) from None
        if not ((weight >= 0) & (weight <= 1)).all():
            raise InputError("a confidence is not a number between 0 and 1", path)
    return source, target, weight


TSV = LinkFormat("tsv", "alignment.tsv", write_text, recognises_text, read_text)
PARQUET = LinkFormat("parquet", "alignment.parquet", write_parquet, recognises_parquet, read_parquet)
