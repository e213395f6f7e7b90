"""The stored form of a dump: a Parquet file of the statements that a benchmark can use, and a summary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from largeea.errors import InputError, ResourceError
from largeea.graph import Strings

FORMAT_VERSION = 2
_SUMMARY = b"largeea"
ROWS_AT_ONCE = 1 << 16


class Kind(IntEnum):
    """The kind of a row. `subject` and `object` of a link are a source entity and a target entity."""

    TRIPLE, LABEL, LINK, REDIRECT = range(4)

    @property
    def word(self) -> str:
        """The name of the kind in counts."""
        return self.name.lower()


SCHEMA = pa.schema(
    [("kind", pa.int8()), *((term, pa.large_string()) for term in ("subject", "predicate", "object"))]
)


@dataclass(frozen=True)
class StoredDump:
    """A dump and the statements kept from it, as rows of `file`.

    `statements` is the number of statements read and `kept` the number stored, by kind. `subjects` counts
    statements by the language of their subject, `linked` counts links by the languages of their ends, such as
    `en-fr`.
    """

    dump: Path
    file: Path
    sha256: str
    statements: int
    rejected: int
    kept: dict[str, int]
    subjects: dict[str, int]
    linked: dict[str, int]


def rows_of(
    dumps: list[StoredDump], kind: Kind, at_once: int = ROWS_AT_ONCE
) -> Iterator[tuple[Strings, Strings, Strings]]:
    """Subjects, predicates and objects of one kind, in batches of at most `at_once` rows."""
    for stored in dumps:
        if not stored.kept[kind.word]:
            continue
        try:
            with pq.ParquetFile(stored.file, pre_buffer=False, page_checksum_verification=True) as parquet:
                for batch in parquet.iter_batches(at_once, use_threads=False):
                    rows = batch.filter(pc.equal(batch["kind"], int(kind)))
                    yield rows["subject"], rows["predicate"], rows["object"]
        except (OSError, ValueError) as error:
            raise InputError(
                f"is damaged ({error}); delete it and run the same command again", stored.file
            ) from None


@contextmanager
def parquet_writer(file: IO[bytes]) -> Iterator[pq.ParquetWriter]:
    """Open a Parquet writer with checksums on a file."""
    with pq.ParquetWriter(file, SCHEMA, compression="zstd", write_page_checksum=True) as writer:
        yield writer


def put_summary(writer: pq.ParquetWriter, summary: dict[str, Any]) -> None:
    """Add the summary to the metadata of the Parquet file."""
    writer.add_key_value_metadata({_SUMMARY: json.dumps(summary)})


def get_summary(file: Path) -> dict[str, Any] | None:
    """The summary of a stored dump; None if the file is absent or damaged."""
    try:
        with pq.ParquetFile(file) as parquet:
            summary: dict[str, Any] = json.loads(parquet.metadata.metadata[_SUMMARY])
        return summary
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a full disk into an error that says what to do; finished files are kept."""
    try:
        yield
    except OSError as error:
        raise ResourceError(
            f"cannot write {path}: {error.strerror or error}; free some space and run the same command "
            "again, what is finished is kept"
        ) from error
