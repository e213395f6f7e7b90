"""The file of a merged graph: its suffix says the syntax and the compression."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from largeea.errors import UsageError
from largeea.formats.streams import is_compressed, plain_suffix
from largeea.runs.files import atomic_write

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TRIPLES, QUADS = (".nt", ".ttl"), (".nq",)
"""Suffixes for triples and for quads. Every N-Triples file is Turtle as well."""
_COMPRESSED: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115
    ".zst": lambda file: zstd.ZstdFile(file, "wb"),
}


def check_output(path: Path, quads: bool, inputs: Iterable[Path]) -> None:
    """Raise `UsageError` unless a merged graph can be written to this path.

    `quads` says that statements have named graphs, which only N-Quads can hold.
    """
    if plain_suffix(path) not in (*TRIPLES, *QUADS):
        known = ", ".join((*TRIPLES, *QUADS))
        raise UsageError(
            f"{path} does not end in a known suffix; end it with {known}, plain or compressed "
            f"({', '.join(_COMPRESSED)}), such as merged.nt.zst"
        )
    if quads and plain_suffix(path) not in QUADS:
        raise UsageError(f"named graphs need N-Quads, but {path} is not; end it with .nq, such as merged.nq")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give a file, such as {path / 'merged.nt.zst'}")
    if path.resolve() in {file.resolve() for file in inputs}:
        raise UsageError(f"{path} is an input of the run; write the merged graph to another file")


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """Write a file whole or not at all, compressed if its suffix says so."""
    with atomic_write(path) as file:
        if is_compressed(path):
            with _COMPRESSED[path.suffix.lower()](file) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield file
