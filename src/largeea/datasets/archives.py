"""Safe unpacking of downloaded archives: no path traversal, no links, no decompression bombs."""

from __future__ import annotations

import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from largeea.errors import InputError, ResourceError

MAX_FILES = 100_000
MAX_EXPANSION = 100
"""Largest allowed ratio of unpacked to packed size; triples as text stay below 20."""
EXPANSION_COUNTS_FROM = 256 << 20
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_UNFINISHED = ".unfinished"
_CHUNK = 1 << 20
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError),
    *(NotImplementedError, RuntimeError, UnicodeDecodeError),
)
"""What the standard library raises for archives that are damaged, encrypted or packed by unknown methods."""


@dataclass(frozen=True)
class _Member:
    """A file in an archive."""

    name: str
    open: Callable[[], IO[bytes]]


def can_unpack(archive: Path) -> bool:
    """Whether the standard library can unpack archives with this suffix."""
    return archive.name.lower().endswith((".zip", *_TAR_SUFFIXES))


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive into a new folder, which appears only once unpacking is complete."""
    members = _zip_members(archive) if archive.name.lower().endswith(".zip") else _tar_members(archive)
    limit = max(EXPANSION_COUNTS_FROM, archive.stat().st_size * MAX_EXPANSION)
    unfinished = folder.with_name(f".{folder.name}{_UNFINISHED}")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        for count, member in enumerate(members, start=1):
            if count > MAX_FILES:
                raise InputError(f"holds more than {MAX_FILES:,} files; not unpacked", archive)
            path = unfinished.joinpath(*_safe_parts(member.name, archive))
            path.parent.mkdir(parents=True, exist_ok=True)
            with member.open() as source, path.open("xb") as target:
                limit -= _copy(source, target, limit, archive)
        unfinished.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    except _DAMAGED as error:
        raise _damaged(archive, error) from None
    except FileExistsError:
        raise InputError("holds two files of the same name; not unpacked", archive) from None
    except OSError as error:
        if error.errno is None:  # of gzip and bz2
            raise _damaged(archive, error) from None
        raise ResourceError(f"cannot unpack {archive}: {error.strerror or error}; free some space") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _damaged(archive: Path, error: Exception) -> InputError:
    return InputError(f"cannot be unpacked: {error}; delete it and fetch it again", archive)


def is_unfinished(folder: Path) -> bool:
    """Whether a folder is what a killed process has unpacked so far."""
    return folder.name.startswith(".") and folder.name.endswith(_UNFINISHED)


def _copy(source: IO[bytes], target: IO[bytes], room: int, archive: Path) -> int:
    written = 0
    while chunk := source.read(_CHUNK):
        written += len(chunk)
        if written > room:
            raise InputError(
                f"unpacks to more than {MAX_EXPANSION} times its size, like a bomb; not unpacked", archive
            )
        target.write(chunk)
    return written


def _safe_parts(name: str, archive: Path) -> tuple[str, ...]:
    """Path components of a member; raises an error for paths that could lead outside the folder."""
    path = PurePosixPath(name)
    strange = "\\" in name or "\0" in name or ":" in path.parts[0] if path.parts else True
    if strange or path.is_absolute() or ".." in path.parts:
        raise InputError(f"holds a file with the path {name!r}, which leads out of the folder", archive)
    return path.parts


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            if (entry.external_attr >> 16) & 0o170000 == 0o120000:
                raise InputError(f"holds a link ({entry.filename!r}); not unpacked", archive)
            if not entry.is_dir():
                yield _Member(entry.filename, partial(opened.open, entry))


def _tar_members(archive: Path) -> Iterator[_Member]:
    with tarfile.open(archive, "r:*") as opened:
        for entry in opened:
            if entry.isdir():
                continue
            if not entry.isfile():
                raise InputError(f"holds a link or device ({entry.name!r}); not unpacked", archive)
            yield _Member(entry.name, partial(_extracted, opened, entry))
        assert opened.fileobj is not None
        if len(opened.fileobj.read(_CHUNK)) == _CHUNK:  # a checksum of gzip is only compared at the end
            raise tarfile.ReadError("there is more behind its end")


def _extracted(opened: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    stream = opened.extractfile(entry)
    if stream is None:
        raise tarfile.ReadError(f"{entry.name!r} has no content")
    return stream
