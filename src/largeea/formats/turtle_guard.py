"""Checks Turtle, TriG and N-Triples before pyoxigraph, which crashes or exhausts memory on deep nesting."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.formats.guard import MAX_NAME_BYTES
from largeea.graph import Int64
from largeea.graph.interning import Bytes

MAX_DEPTH = 256

_STATE, _QUOTE, _DEPTH, _LENGTH, _CLOSING, _DEEPEST, _LONGEST = range(7)
_OUTSIDE, _ANGLE, _IRI, _COMMENT, _ESCAPE = 0, 1, 2, 3, 4
_OPENED, _OPENED_TWICE, _SHORT, _SHORT_ESCAPE = 5, 6, 7, 8
_LONG, _LONG_ESCAPE, _CLOSED_ONCE, _CLOSED_TWICE = 9, 10, 11, 12


class TurtleCheck:
    """Follows brackets and IRIs through the blocks of a text: a `check` for `Guard`.

    Brackets are `[`, `(`, `{` and `<<` (statements about statements) outside strings.
    """

    def __init__(self) -> None:
        self._memory = np.zeros(7, np.int64)

    def __call__(self, block: bytes) -> str | None:
        """Why the block is refused, or None."""
        _follow(np.frombuffer(block, np.uint8), self._memory)
        if self._memory[_DEEPEST] > MAX_DEPTH:
            return f"nests more than {MAX_DEPTH} deep"
        if self._memory[_LONGEST] > MAX_NAME_BYTES:
            return f"has an IRI longer than {MAX_NAME_BYTES >> 10} KB"
        return None


@njit(cache=True, nogil=True)
def _follow(data: Bytes, memory: Int64) -> None:
    """Continue with `data` from the state in `memory[7]`, and update it."""
    state, quote, depth = memory[_STATE], memory[_QUOTE], memory[_DEPTH]
    length, closing = memory[_LENGTH], memory[_CLOSING]
    for byte in data:
        if state == _ANGLE:
            state, length = _IRI, 0
            if byte == 60:
                state, depth = _OUTSIDE, depth + 1
                memory[_DEEPEST] = max(memory[_DEEPEST], depth)
                continue
        elif state == _OPENED:
            state = _OPENED_TWICE if byte == quote else _SHORT
            if state == _OPENED_TWICE:
                continue
        elif state == _OPENED_TWICE:
            state = _LONG if byte == quote else _OUTSIDE
            if state == _LONG:
                continue
        if state == _OUTSIDE:
            if byte == 62:
                depth, closing = max(depth - closing, 0), 1 - closing
                continue
            closing = 0
            if byte == 60:
                state = _ANGLE
            elif byte == 34 or byte == 39:
                state, quote = _OPENED, byte
            elif byte == 35:
                state = _COMMENT
            elif byte == 92:
                state = _ESCAPE
            elif byte == 91 or byte == 40 or byte == 123:
                depth += 1
                memory[_DEEPEST] = max(memory[_DEEPEST], depth)
            elif byte == 93 or byte == 41 or byte == 125:
                depth = max(depth - 1, 0)
        elif state == _IRI:
            length += 1
            if byte == 62:
                state = _OUTSIDE
                memory[_LONGEST] = max(memory[_LONGEST], length)
        elif state == _COMMENT:
            state = _OUTSIDE if byte == 10 or byte == 13 else _COMMENT
        elif state == _SHORT:
            state = _SHORT_ESCAPE if byte == 92 else _OUTSIDE if byte == quote else _SHORT
        elif state == _ESCAPE:
            state = _OUTSIDE
        elif state == _SHORT_ESCAPE:
            state = _SHORT
        elif state == _LONG_ESCAPE:
            state = _LONG
        elif byte == quote:
            state = _OUTSIDE if state == _CLOSED_TWICE else max(state + 1, _CLOSED_ONCE)
        else:
            state = _LONG_ESCAPE if byte == 92 else _LONG
    if state == _IRI:
        memory[_LONGEST] = max(memory[_LONGEST], length)
    memory[_STATE], memory[_QUOTE], memory[_DEPTH] = state, quote, depth
    memory[_LENGTH], memory[_CLOSING] = length, closing
