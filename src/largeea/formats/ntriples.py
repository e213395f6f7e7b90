"""N-Triples and N-Quads, scanned line by line in compiled code.

A general parser creates a Python object per term; this scanner takes a fraction of the time and memory
(`benchmarks/read.py`). It accepts the plain bulk of the grammar. A line that it does not recognise is left to
pyoxigraph, which accepts or rejects it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.formats import scanner
from largeea.graph import Int64
from largeea.graph.interning import Bytes


@dataclass(frozen=True)
class Scanned:
    """The terms of a block of lines, as positions in the block, without brackets or quotes.

    `triples[6, t]` and `literals[8, l]` hold the start and end of every term. A blank node keeps its `_:`; an
    absent tag is empty. `unsure[u]` are the lines left to pyoxigraph, `nothing` is the number of blank lines
    and comments, and `lines[n + 1]` is where each line starts.
    """

    triples: Int64
    literals: Int64
    unsure: Int64
    nothing: int
    lines: Int64


def scan_lines(block: bytes, triples_only: bool = False) -> Scanned:
    """Find the terms in a block of whole lines.

    With `triples_only`, a line with anything after its three terms and its dot is left to pyoxigraph.
    """
    data = np.frombuffer(block, np.uint8)
    lines = np.concatenate([[0], np.flatnonzero(data == 10) + 1])
    triples = np.empty((6, len(lines) - 1), np.int64)
    literals = np.empty((8, len(lines) - 1), np.int64)
    unsure = np.empty(len(lines) - 1, np.int64)
    counts = np.zeros(4, np.int64)
    span = np.empty(8, np.int64)
    scanner.scan(data, lines, scanner.CLASSES, span, triples, literals, unsure, counts, triples_only)
    nothing, found_triples, found_literals, found_unsure = counts.tolist()
    return Scanned(
        triples[:, :found_triples], literals[:, :found_literals], unsure[:found_unsure], nothing, lines
    )


def unescape(data: Bytes, starts: Int64, ends: Int64) -> tuple[Bytes, Int64]:
    """Copies of scanned literals with their escapes resolved: `(bytes, offsets[n + 1])`."""
    text = np.empty(int((ends - starts).sum()), np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int64)
    scanner.unescape(data, starts, ends, scanner.ESCAPED, text, offsets)
    return text[: offsets[-1]], offsets
