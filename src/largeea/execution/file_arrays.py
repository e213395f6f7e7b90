"""Arrays that are views of files, as descriptions: another process maps the file instead of getting a copy.

Stored results are memory-mapped, so most large arrays of a resumed or long run are such views. `/proc` tells
the file and the offset behind an address; elsewhere, and for arrays in memory, there is no description.
"""

from __future__ import annotations

import bisect
import mmap
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LEAST_BYTES = 1 << 20
"""Smaller arrays are sent: mapping a file takes as long."""
_MAPS = Path("/proc/self/maps")
_not_restored: list[str] = []


class NotVisible(Exception):  # noqa: N818
    """A worker cannot map a file that its task needs."""


class FileArray(NamedTuple):
    """Where the content of an array lies, and the state in which the file was."""

    path: str
    offset: int
    dtype: str
    shape: tuple[int, ...]
    size: int
    modified: int


class FileViews:
    """The files that are mapped into this process right now, by address."""

    def __init__(self) -> None:
        self._areas: list[tuple[int, int, int, str]] | None = None

    def describe(self, array: Array) -> FileArray | None:
        """The file behind an array; None if the array is small, not contiguous, or not a view of a file."""
        if array.nbytes < LEAST_BYTES or not array.flags.c_contiguous or _is_in_memory(array):
            return None
        if self._areas is None:
            self._areas = _mapped_areas()
        first = array.__array_interface__["data"][0]
        place = bisect.bisect_right(self._areas, first, key=lambda area: area[0]) - 1
        if place < 0:
            return None
        start, end, offset, path = self._areas[place]
        try:
            facts = Path(path).stat()
        except OSError:
            return None
        if first + array.nbytes > end or (last := offset + first - start) + array.nbytes > facts.st_size:
            return None
        return FileArray(path, last, array.dtype.str, array.shape, facts.st_size, facts.st_mtime_ns)


def restored(described: FileArray) -> Array:
    """The array, as a view of the file in this process.

    Where the file is missing or another one, the array has any content and `check_restored` raises an error:
    what unpacks the arguments of a task must not.
    """
    try:
        content = _mapped(described.path, described.size, described.modified)
    except (OSError, ValueError):
        _not_restored.append(described.path)
        return np.empty(described.shape, described.dtype)
    count = int(np.prod(described.shape))
    return np.frombuffer(content, described.dtype, count, described.offset).reshape(described.shape)


def check_restored() -> None:
    """An error if a file was not there since the last check."""
    if _not_restored:
        path = _not_restored[0]
        _not_restored.clear()
        raise NotVisible(path)


@lru_cache(maxsize=16)
def _mapped(path: str, size: int, modified: int) -> mmap.mmap:
    """A file in memory. The last ones are held, because a worker's tasks use the same files."""
    with Path(path).open("rb") as file:
        facts = Path(path).stat()
        if (facts.st_size, facts.st_mtime_ns) != (size, modified):
            raise ValueError(f"{path} is another file")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _is_in_memory(array: Array) -> bool:
    """Whether numpy itself has allocated the array's memory."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.base is None:
            return True
        owner = owner.base
    return False


def _mapped_areas() -> list[tuple[int, int, int, str]]:
    """`(first address, last address, offset in the file, path)` of all files mapped now, ascending."""
    try:
        lines = _MAPS.read_text().splitlines()
    except OSError:
        return []
    areas = []
    for line in lines:
        addresses, _, offset, _, inode, *path = line.split(maxsplit=5)
        if path and inode != "0" and not path[0].endswith(" (deleted)"):
            start, end = (int(address, 16) for address in addresses.split("-"))
            areas.append((start, end, int(offset, 16), path[0]))
    return sorted(areas)
