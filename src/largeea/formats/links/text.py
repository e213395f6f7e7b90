"""Text in bulk: an alignment as batches of columns, and columns as the bytes of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.links.model import Written
from largeea.graph import Bool, Strings, strings
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality

BATCH_ROWS = 1 << 16
C1_CONTROLS = range(0x7F, 0xA0)
"""Control characters U+0080 to U+009F, and the delete character; terminals obey them like those of C0."""


class Batches:
    """The rows of `Alignment.to_table()` in their order, at most `BATCH_ROWS` at once.

    They are counted as they pass: the doubtful pairs, and the distinct entities of each side in accepted
    and in doubtful pairs.
    """

    def __init__(self, alignment: Alignment, *, accepted_only: bool) -> None:
        self._alignment, self._accepted_only = alignment, accepted_only
        self._linked, self._doubted = _nobody(alignment), _nobody(alignment)
        self._doubtful = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for rows in self._spans():
            batch = part(self._alignment, rows)
            yield from batch.to_table().to_batches()
            self._doubtful += int((~batch.accepted).sum())
            for seen, rows_seen in ((self._linked, batch.accepted), (self._doubted, ~batch.accepted)):
                for side in (0, 1):
                    seen[side][batch.pairs[rows_seen, side]] = True

    def iris(self) -> Iterator[tuple[Strings, Strings]]:
        """The source and target columns of the batches alone; these rows are not counted."""
        both = self._alignment.source.entities, self._alignment.target.entities
        for rows in self._spans():
            source, target = self._alignment.pairs[rows].T
            yield both[0].take(pa.array(source)), both[1].take(pa.array(target))

    def _spans(self) -> Iterator[npt.NDArray[np.intp]]:
        """The rows of each batch."""
        accepted = self._alignment.accepted
        rows = np.flatnonzero(accepted) if self._accepted_only else np.arange(len(accepted))
        for start in range(0, len(rows), BATCH_ROWS):
            yield rows[start : start + BATCH_ROWS]

    def written(self, rows: int) -> Written:
        """The counts of a writer that has written this many rows."""
        return Written(rows - self._doubtful, _by_side(self._linked), _by_side(self._doubted))


def _nobody(alignment: Alignment) -> list[Bool]:
    """An empty mask of the entities of each side; the same mask for both within one graph."""
    if alignment.cardinality is Cardinality.WITHIN:
        return [np.zeros(alignment.source.size, bool)] * 2
    return [np.zeros(graph.size, bool) for graph in (alignment.source, alignment.target)]


def _by_side(seen: list[Bool]) -> dict[str, int]:
    return {side: int(mask.sum()) for side, mask in zip(("source", "target"), seen, strict=True)}


def part(alignment: Alignment, rows: npt.NDArray[np.intp]) -> Alignment:
    """The pairs of an alignment at `rows`, in that order."""
    return replace(
        alignment,
        pairs=alignment.pairs[rows],
        confidence=alignment.confidence[rows],
        accepted=alignment.accepted[rows],
        evidence={name: column[rows] for name, column in alignment.evidence.items()},
        given=alignment.given[rows],
    )


def joined(*parts: pa.Array | str, separator: str = "") -> Strings:
    """The parts of each row joined; a missing value counts as empty, and a str is the same in every row."""
    columns = [
        pa.scalar(p, pa.large_string()) if isinstance(p, str) else p.cast(pa.large_string()) for p in parts
    ]
    between = pa.scalar(separator, pa.large_string())
    return pc.binary_join_element_wise(*columns, between, null_handling="replace", null_replacement="")


def escaped(column: Strings, escapes: Mapping[int, str]) -> Strings:
    """The column with characters replaced by a `str.translate` table; other rows are not copied."""
    pattern = "[" + "".join(f"\\x{{{code:x}}}" for code in escapes) + "]"
    found = pc.match_substring_regex(column, pattern)
    rewritten = strings([text.translate(escapes) for text in column.filter(found).to_pylist()])
    return pc.replace_with_mask(column, found, rewritten)


def text_of(column: Strings) -> memoryview:
    """All rows of a column joined, in UTF-8, without a copy."""
    _, offsets, data = column.buffers()
    start, end = np.frombuffer(offsets, np.int64)[[column.offset, column.offset + len(column)]]
    return memoryview(data)[start:end] if data else memoryview(b"")


def first_line(head: bytes) -> bytes:
    """The first line in the beginning of a file that is neither blank nor a comment; else empty."""
    lines = (line.strip(b" \r") for line in head.split(b"\n"))
    return next((line for line in lines if line and not line.startswith(b"#")), b"")
