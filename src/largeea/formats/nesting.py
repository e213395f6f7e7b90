"""Looks how deep JSON-LD and Turtle nest before pyoxigraph does: beyond a depth it eats memory or crashes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numba
import numpy as np

from largeea.errors import InputError
from largeea.formats.interning import Bytes

MAX_DEPTH = 64
_TRIPLE_TERM = re.compile(rb"<<\(|\)>>")
_OUTSIDE, _INSIDE, _ESCAPED = 0, 1, 2


class NestingGuard(io.RawIOBase):
    """Passes a stream on, block by block, while `depth` finds it no deeper than `MAX_DEPTH`."""

    def __init__(self, stream: IO[bytes], path: Path, depth: Callable[[bytes], int]) -> None:
        self._stream, self._path, self._depth = stream, path, depth

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read, look, pass on."""
        data = self._stream.read(len(buffer))
        if self._depth(data) > MAX_DEPTH:
            raise InputError(f"nests more than {MAX_DEPTH} deep, which is refused for safety", self._path)
        buffer[: len(data)] = data
        return len(data)


class JsonDepth:
    """How deep the objects and arrays of a JSON text get within its next block."""

    def __init__(self) -> None:
        self._depth, self._state = 0, _OUTSIDE

    def __call__(self, block: bytes) -> int:
        """The greatest depth in this block."""
        data = np.frombuffer(block, np.uint8)
        deepest, self._depth, self._state = _json_depth(data, self._depth, self._state)
        return int(deepest)


class TripleTermDepth:
    """How deep the triple terms `<<( ... )>>` of a Turtle text get within its next block."""

    def __init__(self) -> None:
        self._depth, self._rest = 0, b""

    def __call__(self, block: bytes) -> int:
        """The greatest depth in this block; a bracket torn apart counts in the next one."""
        deepest, text, end = self._depth, self._rest + block, 0
        for bracket in _TRIPLE_TERM.finditer(text):
            self._depth = max(self._depth + (1 if bracket[0] == b"<<(" else -1), 0)
            deepest, end = max(deepest, self._depth), bracket.end()
        self._rest = text[max(end, len(text) - 2) :]
        return deepest


@numba.njit(cache=True)
def _json_depth(data: Bytes, depth: int, state: int) -> tuple[int, int, int]:
    deepest = depth
    for byte in data:
        if state == _ESCAPED:
            state = _INSIDE
        elif state == _INSIDE:
            state = _ESCAPED if byte == 92 else _OUTSIDE if byte == 34 else _INSIDE
        elif byte == 34:
            state = _INSIDE
        elif byte == 91 or byte == 123:
            depth += 1
            deepest = max(deepest, depth)
        elif byte == 93 or byte == 125:
            depth -= 1
    return deepest, depth, state
