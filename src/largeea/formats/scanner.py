"""The compiled loops of the N-Triples scanner.

Every line ends in a line feed, which no term may hold: that is what keeps the loops inside the block.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Int64
from largeea.graph.interning import Bytes

SUBJECT, PREDICATE, OBJECT, TAG = 0, 2, 4, 6
"""Rows of a term's starts; the next row holds its ends. A tag is `@language` or a datatype IRI."""

_GRAPH = 6
_NOTHING, _TRIPLE, _LITERAL, _UNSURE = 0, 1, 2, 3
_IRI, _LETTER, _DIGIT, _SCHEME, _LABEL, _BLANK, _ESCAPE = 1, 2, 4, 8, 16, 32, 64
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def _byte_classes() -> Bytes:
    """The classes each byte belongs to, `uint8[256]`: bits of the constants above."""
    classes = np.zeros(256, np.uint8)
    members = {
        _LETTER: b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        _DIGIT: b"0123456789",
        _SCHEME: b"+-.",
        _LABEL: b"_-",
        _BLANK: b" \t",
        _ESCAPE: "".join(_ESCAPES).encode(),
    }
    for name, characters in members.items():
        classes[list(characters)] |= name
    no_iri = {*range(0x21), *b'<>"{}|^`\\', 0x7F, 0xC2}
    classes[[byte for byte in range(256) if byte not in no_iri]] |= _IRI
    return classes


def _escaped_bytes() -> Bytes:
    """The byte that a backslash and a byte stand for, `uint8[256]`."""
    escaped = np.zeros(256, np.uint8)
    for written, meant in _ESCAPES.items():
        escaped[ord(written)] = ord(meant)
    return escaped


CLASSES = _byte_classes()
ESCAPED = _escaped_bytes()


@njit(cache=True, nogil=True)
def _iri_end(data: Bytes, at: int, classes: Bytes) -> int:
    """Position of the `>` that closes the absolute, plain IRI starting at `at`; -1 if there is none."""
    if not classes[data[at]] & _LETTER:
        return -1
    while classes[data[at]] & (_LETTER | _DIGIT | _SCHEME):
        at += 1
    if data[at] != 58:
        return -1
    while classes[data[at]] & _IRI or (data[at] == 0xC2 and data[at + 1] >= 0xA0):
        at += 1
    return at if data[at] == 62 else -1


@njit(cache=True, nogil=True)
def _node(data: Bytes, at: int, classes: Bytes) -> tuple[int, int, int]:
    """`(start, end, next)` of the IRI or blank node at `at`; start is -1 if there is none."""
    if data[at] == 60:
        end = _iri_end(data, at + 1, classes)
        return (at + 1, end, end + 1) if end >= 0 else (-1, -1, at)
    if data[at] == 95 and data[at + 1] == 58 and classes[data[at + 2]] & (_LETTER | _DIGIT):
        end = at + 3
        while classes[data[end]] & (_LETTER | _DIGIT | _LABEL):
            end += 1
        return at, end, end
    return -1, -1, at


@njit(cache=True, nogil=True)
def _code_point(data: Bytes, at: int) -> tuple[int, int]:
    """The character written `uXXXX` or `UXXXXXXXX` at `at` (-1 if invalid), and the position of its end."""
    code = 0
    for _ in range(4 if data[at] == 117 else 8):
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


@njit(cache=True, nogil=True)
def _literal(data: Bytes, at: int, classes: Bytes, span: Int64) -> int:
    """Fill the spans of value and tag of the literal at `at`; the position after it, or -1."""
    at += 1
    span[OBJECT] = at
    while data[at] != 34:
        if data[at] == 10 or data[at] == 13:
            return -1
        if data[at] == 92:
            at += 1
            if data[at] == 117 or data[at] == 85:
                code, at = _code_point(data, at)
                if code < 0:
                    return -1
            elif not classes[data[at]] & _ESCAPE:
                return -1
        at += 1
    span[OBJECT + 1] = at
    at += 1
    span[TAG] = span[TAG + 1] = at
    if data[at] == 64:
        at += 1
        if not classes[data[at]] & _LETTER:
            return -1
        while classes[data[at]] & (_LETTER | _DIGIT) or (data[at] == 45 and data[at + 1] != 45):
            at += 1
        span[TAG + 1] = at
        return at if data[at - 1] != 45 else -1
    if data[at] == 94 and data[at + 1] == 94 and data[at + 2] == 60:
        end = _iri_end(data, at + 3, classes)
        span[TAG], span[TAG + 1] = at + 3, end
        return end + 1 if end >= 0 else -1
    return at


@njit(cache=True, nogil=True)
def _next_term(data: Bytes, at: int, classes: Bytes) -> int:
    """The first position from `at` on that is neither a space nor a tab."""
    while classes[data[at]] & _BLANK:
        at += 1
    return at


@njit(cache=True, nogil=True)
def _ends_line(data: Bytes, at: int) -> bool:
    """Whether the line ends at `at`, or only a comment follows."""
    return bool(data[at] == 10 or data[at] == 35 or (data[at] == 13 and data[at + 1] == 10))


@njit(cache=True, nogil=True)
def _statement(data: Bytes, at: int, classes: Bytes, span: Int64, triples_only: bool) -> int:
    """Fill the spans of the statement on the line that starts at `at`; the kind of the line.

    With `triples_only`, a line with a graph name or a comment after the statement is left undecided.
    """
    kind = _TRIPLE
    for term in range(SUBJECT, _GRAPH + 2, 2):
        at = _next_term(data, at, classes)
        if term == SUBJECT and _ends_line(data, at):
            return _NOTHING
        if term == OBJECT and data[at] == 34:
            kind = _LITERAL
            at = _literal(data, at, classes, span)
            if at < 0:
                return _UNSURE
        elif term == PREDICATE and data[at] != 60:
            return _UNSURE
        elif term != _GRAPH or data[at] != 46:
            if term == _GRAPH and triples_only:
                return _UNSURE
            start, end, at = _node(data, at, classes)
            if start < 0:
                return _UNSURE
            if term != _GRAPH:
                span[term], span[term + 1] = start, end
    at = _next_term(data, at, classes)
    if data[at] != 46 or (triples_only and data[at + 1] != 10):
        return _UNSURE
    return kind if _ends_line(data, _next_term(data, at + 1, classes)) else _UNSURE


@njit(cache=True, nogil=True)
def scan(
    data: Bytes,
    lines: Int64,
    classes: Bytes,
    span: Int64,
    triples: Int64,
    literals: Int64,
    unsure: Int64,
    counts: Int64,
    triples_only: bool,
) -> None:
    """Fill `triples`, `literals` and `unsure` and count each kind of line in `counts[4]`."""
    for line in range(len(lines) - 1):
        kind = _statement(data, lines[line], classes, span, triples_only)
        if kind == _TRIPLE:
            for i in range(6):
                triples[i, counts[kind]] = span[i]
        elif kind == _LITERAL:
            for i in range(8):
                literals[i, counts[kind]] = span[i]
        elif kind == _UNSURE:
            unsure[counts[kind]] = line
        counts[kind] += 1


@njit(cache=True, nogil=True)
def _put_utf8(text: Bytes, n: int, code: int) -> int:
    """Write a character as UTF-8 at `n`; the position after it."""
    if code < 0x80:
        text[n] = code
        return n + 1
    tail = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    lead = 0xC0 if tail == 1 else 0xE0 if tail == 2 else 0xF0
    text[n] = lead | code >> 6 * tail
    for i in range(tail):
        text[n + 1 + i] = 0x80 | (code >> 6 * (tail - 1 - i) & 0x3F)
    return n + 1 + tail


@njit(cache=True, nogil=True)
def unescape(data: Bytes, starts: Int64, ends: Int64, escaped: Bytes, text: Bytes, offsets: Int64) -> None:
    """Fill `text` with the spans of `data`, their escapes resolved, and `offsets[n + 1]` with their ends."""
    n = offsets[0]
    for i in range(len(starts)):
        at = starts[i]
        while at < ends[i]:
            if data[at] != 92:
                text[n] = data[at]
                n += 1
            elif data[at + 1] == 117 or data[at + 1] == 85:
                code, at = _code_point(data, at + 1)
                n = _put_utf8(text, n, code)
            else:
                at += 1
                text[n] = escaped[data[at]]
                n += 1
            at += 1
        offsets[i + 1] = n
