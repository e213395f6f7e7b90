"""A watchman before a parser: every block of a file is looked at before the parser gets it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import IO

from largeea.errors import InputError
from largeea.formats.streams import MAX_EXPANSION

MAX_NAME_BYTES = 1 << 15
"""No honest IRI or namespace is longer; one that is could be repeated until memory ends."""
BLOCK_BYTES = 1 << 18
_HARMLESS_BYTES = 256 << 20


def growth_allowed(seen: int) -> int:
    """How many bytes a parser may make of as many as it has seen."""
    return max(_HARMLESS_BYTES, MAX_EXPANSION * seen)


class Guard(io.RawIOBase):
    """Passes a stream on in blocks in which `look` finds nothing dangerous, and counts the bytes in `seen`.

    `look` is given each block, and at the end an empty one; it returns why a block is refused, or None.
    """

    def __init__(self, stream: IO[bytes], path: Path, look: Callable[[bytes], str | None]) -> None:
        self._stream, self._path, self._look, self._left = stream, path, look, memoryview(b"")
        self.seen = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Pass on what is left of the last block, or the beginning of the next."""
        if not self._left:
            block = self._stream.read(BLOCK_BYTES)
            self.seen += len(block)
            if reason := self._look(block):
                raise InputError(f"{reason}, which is refused for safety", self._path)
            self._left = memoryview(block)
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)
