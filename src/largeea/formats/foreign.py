"""Recognises by its first bytes what no reader can use: archives and compressed data."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from largeea.errors import InputError

T = TypeVar("T")

HEAD_BYTES = 512
"""Enough to recognise all of these; the mark of a tar archive is at byte 257."""

_ARCHIVES = {
    b"PK\x03\x04": "a ZIP archive",
    b"PK\x05\x06": "an empty ZIP archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
}
_TAR, _TAR_AT = b"ustar", 257
_COMPRESSED = {
    b"\x1f\x8b": ("gzip", ".gz"),
    **{b"BZh%d1AY&SY" % level: ("bzip2", ".bz2") for level in range(1, 10)},
    b"\xfd7zXZ\x00": ("xz", ".xz"),
    b"\x28\xb5\x2f\xfd": ("zstd", ".zst"),
}


def refuse_foreign(head: bytes, path: Path) -> None:
    """Raise if the content, after decompression, begins like an archive or is compressed again.

    Archives are never unpacked: their file names may lead out of a folder, and their sizes may be wrong.
    """
    archive = _found(head, _ARCHIVES) or ("a tar archive" if head.startswith(_TAR, _TAR_AT) else None)
    if archive:
        raise InputError(f"is {archive}; unpack it and give the file or folder inside", path)
    if compressed := _found(head, _COMPRESSED):
        method, suffix = compressed
        raise InputError(
            f"is compressed with {method} (twice?); give its name the suffix {suffix}, or decompress it", path
        )


def _found(head: bytes, marks: dict[bytes, T]) -> T | None:
    return next((what for mark, what in marks.items() if head.startswith(mark)), None)
