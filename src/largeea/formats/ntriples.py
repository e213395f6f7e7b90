"""N-Triples and N-Quads, line by line, in compiled code.

Ours, because a general parser hands over one Python object per term: this scanner takes a fraction of the
time and memory (`benchmarks/read.py`). It accepts the plain bulk of the grammar; a line it is not sure of is
left to pyoxigraph, whose verdict counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from largeea.compiled import compiled
from largeea.formats.interning import Bytes
from largeea.graph import Int64

SUBJECT, PREDICATE, OBJECT, TAG = 0, 2, 4, 6
"""Terms of a statement: the row of its starts; the next row has its ends. TAG: `@language` or datatype."""

_NOTHING, _TRIPLE, _LITERAL, _UNSURE = 0, 1, 2, 3


@dataclass(frozen=True)
class Scanned:
    """A block of lines cut into terms, as places in the block, without their brackets or quotes.

    `triples[6, t]` and `literals[8, l]` hold starts and ends of every term; a blank node keeps its `_:`; an
    absent tag is empty. `unsure[u]` are lines left to pyoxigraph; `lines[n + 1]` is where each line starts.
    """

    triples: Int64
    literals: Int64
    unsure: Int64
    lines: Int64


def scan_lines(block: bytes) -> Scanned:
    """Cut a block of whole lines into terms."""
    data = np.frombuffer(block, np.uint8)
    lines = np.concatenate([[0], np.flatnonzero(data == 10) + 1])
    triples = np.empty((6, len(lines) - 1), np.int64)
    literals = np.empty((8, len(lines) - 1), np.int64)
    unsure = np.empty(len(lines) - 1, np.int64)
    counts = _scan(data, lines, triples, literals, unsure, _IRI_BYTES)
    return Scanned(triples[:, : counts[0]], literals[:, : counts[1]], unsure[: counts[2]], lines)


def _iri_bytes() -> npt.NDArray[np.bool_]:
    allowed = np.ones(256, bool)
    allowed[:0x21] = False
    allowed[[ord(c) for c in '<>"{}|^`\\'] + [0x7F, 0xC2]] = False
    return allowed


_IRI_BYTES = _iri_bytes()


@compiled(nogil=True)
def _blank(byte: int) -> bool:
    return byte == 32 or byte == 9


@compiled(nogil=True)
def _alphanumeric(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


@compiled(nogil=True)
def _skip_blanks(data: Bytes, at: int) -> int:
    while _blank(data[at]):
        at += 1
    return at


@compiled(nogil=True)
def _iri_end(data: Bytes, at: int, iri_bytes: npt.NDArray[np.bool_]) -> int:
    """Position of the `>` closing an absolute, plain IRI that starts at `at`; -1 if it is not one."""
    if not (65 <= data[at] <= 90 or 97 <= data[at] <= 122):
        return -1
    while data[at] != 58:
        if not (_alphanumeric(data[at]) or data[at] == 43 or data[at] == 45 or data[at] == 46):
            return -1
        at += 1
    while True:
        while iri_bytes[data[at]]:
            at += 1
        if data[at] != 0xC2 or data[at + 1] < 0xA0:
            break
        at += 2
    return at if data[at] == 62 else -1


@compiled(nogil=True)
def _node(data: Bytes, at: int, iri_bytes: npt.NDArray[np.bool_]) -> tuple[int, int, int]:
    """`(start, end, next)` of an IRI or blank node at `at`; start -1 if it is neither or not plain."""
    if data[at] == 60:
        end = _iri_end(data, at + 1, iri_bytes)
        return (at + 1, end, end + 1) if end >= 0 else (-1, -1, at)
    if data[at] == 95 and data[at + 1] == 58 and _alphanumeric(data[at + 2]):
        end = at + 3
        while _alphanumeric(data[end]) or data[end] == 95 or data[end] == 45:
            end += 1
        return at, end, end
    return -1, -1, at


@compiled(nogil=True)
def _plain_escape(byte: int) -> int:
    """The character that a backslash and `byte` stand for; 0 if nothing."""
    if byte == 116:
        return 9
    if byte == 110:
        return 10
    if byte == 114:
        return 13
    if byte == 98:
        return 8
    if byte == 102:
        return 12
    return byte if byte == 34 or byte == 39 or byte == 92 else 0


@compiled(nogil=True)
def _code_point(data: Bytes, at: int) -> tuple[int, int]:
    """The character written `uXXXX` or `UXXXXXXXX` at `at` (-1 if it is none), and where it ends."""
    digits = 4 if data[at] == 117 else 8
    code = 0
    for _ in range(digits):
        at += 1
        byte = data[at]
        if 48 <= byte <= 57:
            code = code * 16 + byte - 48
        elif 65 <= byte <= 70 or 97 <= byte <= 102:
            code = code * 16 + (byte | 32) - 87
        else:
            return -1, at
    valid = code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return (code if valid else -1), at


@compiled(nogil=True)
def unescape(data: Bytes, starts: Int64, ends: Int64) -> tuple[Any, Any]:
    """Copies of scanned literals with their escapes resolved: `(bytes, offsets[n + 1])`."""
    out = np.empty((ends - starts).sum(), np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int64)
    n = 0
    for i in range(len(starts)):
        at = starts[i]
        while at < ends[i]:
            byte = data[at]
            if byte != 92:
                out[n] = byte
                n += 1
            elif data[at + 1] == 117 or data[at + 1] == 85:
                code, at = _code_point(data, at + 1)
                n = _put_utf8(out, n, code)
            else:
                at += 1
                out[n] = _plain_escape(data[at])
                n += 1
            at += 1
        offsets[i + 1] = n
    return out[:n], offsets


@compiled(nogil=True)
def _put_utf8(out: Bytes, n: int, code: int) -> int:
    if code < 0x80:
        out[n] = code
        return n + 1
    tail = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    lead = 0xC0 if tail == 1 else 0xE0 if tail == 2 else 0xF0
    out[n] = lead | code >> 6 * tail
    for i in range(tail):
        out[n + 1 + i] = 0x80 | (code >> 6 * (tail - 1 - i) & 0x3F)
    return n + 1 + tail


@compiled(nogil=True)
def _literal(data: Bytes, at: int, span: Int64, iri_bytes: npt.NDArray[np.bool_]) -> int:
    """Fill value and tag spans of the literal at `at`; the position after it, or -1."""
    end = at + 1
    while data[end] != 34:
        if data[end] == 10 or data[end] == 13:
            return -1
        if data[end] == 92:
            end += 1
            escape = data[end]
            if escape == 117 or escape == 85:
                code, end = _code_point(data, end)
                if code < 0:
                    return -1
            elif _plain_escape(escape) == 0:
                return -1
        end += 1
    span[OBJECT], span[OBJECT + 1] = at + 1, end
    at = end + 1
    if data[at] == 64:
        end = at + 1
        while _alphanumeric(data[end]) or (data[end] == 45 and data[end + 1] != 45):
            end += 1
        if end == at + 1 or data[end - 1] == 45 or data[at + 1] < 65:
            return -1
        span[TAG], span[TAG + 1] = at, end
        return end
    if data[at] == 94 and data[at + 1] == 94 and data[at + 2] == 60:
        end = _iri_end(data, at + 3, iri_bytes)
        if end < 0:
            return -1
        span[TAG], span[TAG + 1] = at + 3, end
        return end + 1
    span[TAG] = span[TAG + 1] = at
    return at


@compiled(nogil=True)
def _statement(data: Bytes, at: int, span: Int64, iri_bytes: npt.NDArray[np.bool_]) -> int:
    """Fill the spans of the statement that starts at `at`; what kind of line it is."""
    at = _skip_blanks(data, at)
    if _ends_line(data, at):
        return _NOTHING
    span[SUBJECT], span[SUBJECT + 1], at = _node(data, at, iri_bytes)
    if span[SUBJECT] < 0:
        return _UNSURE
    at = _skip_blanks(data, at)
    if data[at] != 60:
        return _UNSURE
    span[PREDICATE], span[PREDICATE + 1], at = _node(data, at, iri_bytes)
    if span[PREDICATE] < 0:
        return _UNSURE
    at = _skip_blanks(data, at)
    kind = _TRIPLE
    if data[at] == 34:
        kind = _LITERAL
        at = _literal(data, at, span, iri_bytes)
        if at < 0:
            return _UNSURE
    else:
        span[OBJECT], span[OBJECT + 1], at = _node(data, at, iri_bytes)
        if span[OBJECT] < 0:
            return _UNSURE
    at = _skip_blanks(data, at)
    if data[at] == 60 or data[at] == 95:
        graph, _, at = _node(data, at, iri_bytes)
        if graph < 0:
            return _UNSURE
        at = _skip_blanks(data, at)
    if data[at] != 46 or not _ends_line(data, _skip_blanks(data, at + 1)):
        return _UNSURE
    return kind


@compiled(nogil=True)
def _ends_line(data: Bytes, at: int) -> bool:
    return bool(data[at] == 10 or data[at] == 35 or (data[at] == 13 and data[at + 1] == 10))


@compiled(nogil=True)
def _scan(
    data: Bytes,
    lines: Int64,
    triples: Int64,
    literals: Int64,
    unsure: Int64,
    iri_bytes: npt.NDArray[np.bool_],
) -> tuple[int, int, int]:
    found_triples = found_literals = found_unsure = 0
    span = np.empty(8, np.int64)
    for line in range(len(lines) - 1):
        kind = _statement(data, lines[line], span, iri_bytes)
        if kind == _TRIPLE:
            for i in range(6):
                triples[i, found_triples] = span[i]
            found_triples += 1
        elif kind == _LITERAL:
            for i in range(8):
                literals[i, found_literals] = span[i]
            found_literals += 1
        elif kind == _UNSURE:
            unsure[found_unsure] = line
            found_unsure += 1
    return found_triples, found_literals, found_unsure
