"""Opening input files: decompressed on the fly, guarded against damaged files and decompression bombs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numpy as np

from largeea.errors import InputError
from largeea.execution import current
from largeea.formats.encodings import Utf8Stream
from largeea.formats.foreign import HEAD_BYTES, refuse_foreign
from largeea.formats.rejects import Rejects
from largeea.hashing import file_hash

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

T = TypeVar("T")
Result = TypeVar("Result")

BLOCK_BYTES = 8 << 20
MAX_LINE_BYTES = 64 << 20
MAX_EXPANSION = 300
"""A decompressed stream may be this many times larger than its file; genuine dumps stay below 50."""
EXPANSION_COUNTS_FROM = 64 << 20
"""Smaller outputs are harmless, whatever the ratio."""

_LINE_FEED = ord("\n")
_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": zstd.open,
}


def plain_suffix(path: Path) -> str:
    """The suffix that shows the format, in lower case: `.nt` for `dump.nt.bz2`."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if is_compressed(path) else suffix


def is_compressed(path: Path) -> bool:
    """Whether the suffix is that of a compressed file."""
    return path.suffix.lower() in _OPENERS


def open_bytes(path: Path) -> IO[bytes]:
    """The content of a file as a binary stream, decompressed if its suffix says so, and in UTF-8.

    Text in another encoding is decoded if a byte-order mark or an XML declaration says which. Every failure
    to open, read, decompress or decode it is an `InputError` that names the file.
    """
    raw = _opened(path, _OPENERS.get(path.suffix.lower(), open))
    limit = max(EXPANSION_COUNTS_FROM, path.stat().st_size * MAX_EXPANSION) if is_compressed(path) else None
    return cast(IO[bytes], io.BufferedReader(Utf8Stream(_Guarded(raw, path, limit), path), BLOCK_BYTES // 16))


def digest(path: Path) -> bytes:
    """SHA-256 of a file as it is on the disk, which may be empty; `InputError` where it cannot be read."""
    _opened(path, open, may_be_empty=True).close()
    return bytes.fromhex(file_hash(path))


def _opened(path: Path, opener: Callable[..., Any], may_be_empty: bool = False) -> Any:
    try:
        if path.is_dir():
            raise InputError("is a folder, but a file is needed here", path)
        if path.exists() and not path.is_file():
            raise InputError("is not a regular file; save its content to a file first", path)
        if path.stat().st_size == 0 and not may_be_empty:
            raise InputError("the file is empty", path)
        return opener(path, "rb")
    except FileNotFoundError:
        raise InputError("no such file; check the path", path) from None
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", path) from None


class _Guarded(io.RawIOBase):
    """Turns failures of reading into `InputError` and stops a stream that grows past its limit.

    A stream whose first bytes belong to an archive is refused too.
    """

    def __init__(self, raw: IO[bytes], path: Path, limit: int | None) -> None:
        self._raw, self._path, self._limit, self._seen = raw, path, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._raw.read(len(buffer))
        except EOFError:
            raise InputError("the compressed file is cut short; fetch it again", self._path) from None
        except (OSError, ValueError, zlib.error, lzma.LZMAError, zstd.ZstdError) as error:
            raise InputError(
                f"cannot be read: {error}; is it complete, and is its suffix right?", self._path
            ) from None
        except MemoryError:
            raise InputError("needs more memory to be decompressed than there is", self._path) from None
        if not self._seen:
            refuse_foreign(data[:HEAD_BYTES], self._path)
        self._seen += len(data)
        if self._limit is not None and self._seen > self._limit:
            raise InputError(
                f"decompresses to more than {MAX_EXPANSION} times its size, like a decompression bomb; "
                "if the file is genuine, decompress it yourself and give the plain file",
                self._path,
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._raw.close()
        super().close()


@dataclass(frozen=True)
class LineBlock:
    """Whole lines of a file: the number of the first line (from 1), and the text.

    `count` is the number of line ends counted in the file itself. `rejected` of these lines were not UTF-8
    and are empty in `text`; `raw` then has the lines as they are in the file.
    """

    first: int
    text: bytes
    rejected: int
    count: int
    raw: bytes = b""

    def reject_undecodable(self, path: Path, rejects: Rejects) -> None:
        """Count the lines, and add those that are not UTF-8 to `rejects`."""
        rejects.saw(self.count)
        if self.rejected:
            for number, line in enumerate(self.raw.split(b"\n"), self.first):
                if (wrong := _not_utf8(line)) is not None:
                    rejects.add(path, number, f"not UTF-8: byte 0x{line[wrong]:02x}", line)


def blocks_of_lines(path: Path, block_bytes: int = BLOCK_BYTES) -> Iterator[LineBlock]:
    """The file in blocks of whole UTF-8 lines.

    The last line gets a line end if it has none. A line in another encoding is left empty, so that line
    numbers stay right.
    """
    with open_bytes(path) as stream:
        line, rest = 1, b""
        while chunk := stream.read(block_bytes):
            count = int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == _LINE_FEED))
            end = chunk.rfind(b"\n") + 1
            if end:
                yield _utf8_only(rest + chunk[:end], line, count)
                line += count
                rest = chunk[end:]
            else:
                rest += chunk
            if len(rest) > MAX_LINE_BYTES:
                raise _endless_line(path, line, MAX_LINE_BYTES)
        if rest:
            yield _utf8_only(rest + b"\n", line, 1)


def limited_lines(path: Path, most_bytes: int = MAX_LINE_BYTES) -> Iterator[bytes]:
    """The lines of a file with their line ends, one by one; a line longer than `most_bytes` is an error."""
    with open_bytes(path) as stream:
        lines = iter(lambda: stream.readline(most_bytes + 1), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) > most_bytes:
                raise _endless_line(path, number, most_bytes)
            yield line


def _endless_line(path: Path, number: int, most_bytes: int) -> InputError:
    return InputError(f"a line is longer than {most_bytes >> 20} MB; is this text?", path, number)


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items; a second thread makes the next one while the caller works on this one."""
    with ThreadPoolExecutor(1) as worker:
        following = worker.submit(next, items, None)
        while (item := following.result()) is not None:
            following = worker.submit(next, items, None)
            yield item


def in_parallel(work: Callable[[T], Result], items: Iterable[T]) -> Iterator[Result]:
    """`work(item)` for all items on all threads, in the order of the items.

    The caller's thread takes the items, a few more than there are threads ahead of the results.
    """
    threads = current().thread_count
    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[Future[Result]] = deque()
        try:
            for item in items:
                under_way.append(pool.submit(copy_context().run, work, item))
                if len(under_way) > threads + 1:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


def _utf8_only(block: bytes, first: int, count: int) -> LineBlock:
    """The block with its lines in other encodings left empty."""
    if block.isascii() or _not_utf8(block) is None:
        return LineBlock(first, block, 0, count)
    lines = block.split(b"\n")
    kept = [line if _not_utf8(line) is None else None for line in lines]
    text = b"\n".join(line or b"" for line in kept)
    return LineBlock(first, text, kept.count(None), count, block)


def _not_utf8(text: bytes) -> int | None:
    """The position of the first byte that is not UTF-8, or None."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None
