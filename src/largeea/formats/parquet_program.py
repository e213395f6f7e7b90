"""Reads a Parquet file as a program of its own, with limits on memory and time; writes an Arrow IPC stream.

`parquet.py` runs this file, so it imports nothing of LargeEA but `child`. The sizes that a Parquet file
declares, in its footer and before each page, need not be true, and some encodings expand without bound: only
a limit on the process holds in all cases.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from largeea.child import OUT_OF_MEMORY, TOO_MUCH_TEXT, is_out_of_memory, limit, refuse

ROWS_AT_ONCE = 1 << 14
BATCH_BYTES = 256 << 20
"""Text of one batch of rows; genuine tables have less."""
_TRIPLE_BYTES = 12
_PREFIXED = "DELTA_BYTE_ARRAY"


def claimed_bytes(metadata: Any) -> int:
    """The bytes that a file declares to hold."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    return int(max(metadata.num_rows * _TRIPLE_BYTES, sum(group.total_byte_size for group in groups)))


def batches(file: Any) -> Iterator[pa.RecordBatch]:
    """The rows of a file."""
    rows = 0
    for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, use_threads=False):
        rows += len(batch)
        yield batch
    if rows != file.metadata.num_rows:
        raise ValueError(f"{rows} rows instead of {file.metadata.num_rows}")


def text_bytes(column: pa.Array) -> int:
    """The length of a column as text."""
    if isinstance(column, pa.DictionaryArray) and pa.types.is_string(column.dictionary.type):
        return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0
    return int(column.nbytes)


def decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch without dictionaries: each one would be written with the dictionary of its whole row group."""
    columns = [
        one.dictionary_decode() if isinstance(one, pa.DictionaryArray) else one for one in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def empty(file: Any) -> pa.RecordBatch:
    """A batch of the columns of a file without rows."""
    return pa.RecordBatch.from_pylist([], file.schema_arrow)


def opened(source: Any) -> Any:
    """A Parquet file whose columns of text are dictionary-encoded, where its encodings allow that."""
    metadata = pq.read_metadata(source)
    prefixed = {
        column.path_in_schema
        for i in range(metadata.num_row_groups)
        for column in (metadata.row_group(i).column(j) for j in range(metadata.num_columns))
        if _PREFIXED in column.encodings
    }
    schema = metadata.schema.to_arrow_schema()
    texts = [one.name for one in schema if pa.types.is_string(one.type) and one.name not in prefixed]
    return pq.ParquetFile(source, metadata=metadata, read_dictionary=texts)


def main(memory: int, most_text: int, seconds: int) -> int:
    """Write the rows of the file at standard input to standard output, and return the exit code."""
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_DATA, memory)
    limit(resource.RLIMIT_CPU, seconds)
    what, text = "not a readable", 0
    try:
        file = opened(sys.stdin.buffer)
        if claimed_bytes(file.metadata) > most_text:
            return TOO_MUCH_TEXT
        what = "a damaged"
        with pa.ipc.new_stream(sys.stdout.buffer, decoded(empty(file)).schema) as sink:
            for batch in batches(file):
                found = sum(map(text_bytes, batch.columns))
                text += found
                if found > BATCH_BYTES or text > most_text:
                    return TOO_MUCH_TEXT
                sink.write_batch(decoded(batch))
        sys.stdout.buffer.flush()
    except (pa.ArrowException, MemoryError, OSError, ValueError) as error:
        if is_out_of_memory(error):
            return OUT_OF_MEMORY
        return refuse(f"is {what} Parquet file: {error}")
    return 0


if __name__ == "__main__":
    ended_with = main(*map(int, sys.argv[1:]))
    sys.stderr.flush()
    os._exit(ended_with)  # threads of Arrow that are still starting would abort an ordinary exit
