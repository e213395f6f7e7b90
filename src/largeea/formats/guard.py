"""A guard before a parser: every block of a file is checked before the parser gets it."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO

from largeea.errors import InputError
from largeea.formats.streams import MAX_EXPANSION

MAX_NAME_BYTES = 1 << 15
"""Genuine IRIs and namespaces are shorter; a longer one could be repeated until memory is exhausted."""
BLOCK_BYTES = 1 << 18
_REMEMBERED_BLOCKS = 4
HARMLESS_BYTES = 256 << 20
"""A parser may use this much memory, or write this much, whatever the size of the file."""


def growth_allowed(seen: int) -> int:
    """The number of bytes that a parser may make of `seen` bytes of input."""
    return max(HARMLESS_BYTES, MAX_EXPANSION * seen)


class Guard(io.RawIOBase):
    """Passes a stream on block by block after `check` has accepted the block; `seen` counts the bytes.

    `check` is called with each block, and with an empty one at the end. It returns None, or why the block is
    refused.
    """

    def __init__(self, stream: IO[bytes], path: Path, check: Callable[[bytes], str | None]) -> None:
        self._stream, self._path, self._check, self._left = stream, path, check, memoryview(b"")
        self.seen = 0
        self._passed: deque[tuple[int, bytes]] = deque(maxlen=_REMEMBERED_BLOCKS)
        self._line = 1

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Pass on the rest of the last block, or the beginning of the next."""
        if not self._left:
            block = self._stream.read(BLOCK_BYTES)
            self.seen += len(block)
            if reason := self._check(block):
                raise InputError(f"{reason}, which is refused for safety", self._path)
            self._left = memoryview(block)
            self._passed.append((self._line, block))
            self._line += block.count(b"\n")
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def line(self, number: int | None) -> bytes:
        """The text of a line among those passed on last, or its beginning; empty if it is not among them."""
        following = b""
        for first, block in reversed(self._passed):
            if number is not None and first <= number <= first + block.count(b"\n"):
                found = block.split(b"\n", number - first + 1)[number - first :]
                return found[0] if len(found) > 1 else found[0] + following.partition(b"\n")[0]
            following = block
        return b""
