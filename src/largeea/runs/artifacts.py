"""Stage results on disk: one safetensors file each. Loading a file executes no code from it.

A result is a number, text, array, text column, one of `KINDS`, or a dictionary of those. It is flattened to
named arrays and a JSON description in the file's header; text columns become bytes and offsets. Arrays of a
loaded result are memory-mapped views of the file.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError
from largeea.graph import Arrays, Attributes, KnowledgeGraph, Links, ReadCounts, Strings
from largeea.graph.edges import Edges
from largeea.hashing import file_hash
from largeea.runs.files import atomic_write
from largeea.similarity import Similarity

FORMAT_VERSION = 2
HEADER = "largeea"
"""The only metadata entry; the order of several entries in safetensors would vary from run to run."""
KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Attributes, Edges, KnowledgeGraph, Links, ReadCounts, Similarity)
}
"""The types that a result may contain, by name."""
PIECE_BYTES = 16 << 20
"""A file is hashed in pieces of this size while they are written."""
_DTYPES = {"BOOL": np.dtype("?")} | {
    f"{kind}{8 * size}": np.dtype(f"{code}{size}")
    for kind, code, sizes in (("U", "u", (1, 2, 4, 8)), ("I", "i", (1, 2, 4, 8)), ("F", "f", (2, 4, 8)))
    for size in sizes
}

_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def save_artifact(value: Any, path: Path, durable: bool = True) -> str:
    """Write a result and return its SHA-256. Without `durable`, a power cut may destroy the file."""
    digest = hashlib.sha256()
    with atomic_write(path, durable) as file, ThreadPoolExecutor(1) as hashing:
        for part in _parts_of_file(value):
            for start in range(0, len(part), PIECE_BYTES):
                piece = part[start : start + PIECE_BYTES]
                hashed = hashing.submit(digest.update, piece)
                file.write(piece)
                hashed.result()
    return digest.hexdigest()


def load_artifact(path: Path, sha256: str | None = None, checked: bool = True) -> Any:
    """Load a result written by `save_artifact`; with `sha256`, check the file against it first.

    Without `checked`, the content is not validated: the caller knows that the file is intact.
    """
    try:
        if sha256 is not None and file_hash(path) != sha256:
            raise InputError("is not what was written there: it was damaged or replaced", path)
        header, arrays = _mapped(path)
        if header["format"] != FORMAT_VERSION:
            raise InputError(f"has format {header['format']}; this release reads {FORMAT_VERSION}", path)
        return _restore(header["value"], arrays, "", checked)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"is not a readable artifact: {error}", path) from None


def content_hash(value: Any) -> str:
    """Return the SHA-256 of a result's content, without writing it."""
    arrays: Arrays = {}
    digest = hashlib.sha256(json.dumps(_flatten(value, arrays, ""), sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"\n{name} {array.dtype} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _flatten(value: Any, arrays: Arrays, place: str) -> Any:
    """Add the arrays of a value to `arrays`, keyed by their place in it, and return its JSON description."""
    kind = type(value).__name__
    if place in arrays:
        raise ValueError(f"two parts of a result are called {place!r}")
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {"kind": "array"}
    if isinstance(value, pa.Array):
        _flatten_strings(value.cast(pa.large_string()), arrays, place)
        return {"kind": "strings"}
    if value is None or isinstance(value, bool | int | float | str):
        return {"kind": "plain", "value": value}
    if isinstance(value, list | tuple) and all(isinstance(item, bool | int | float | str) for item in value):
        return {"kind": "plain", "value": list(value)}
    if KINDS.get(kind) is type(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif not isinstance(value, dict):
        raise TypeError(f"a result of type {kind} cannot be stored")
    return {
        "kind": kind,
        "parts": {name: _flatten(part, arrays, f"{place}/{name}") for name, part in value.items()},
    }


def _restore(described: dict[str, Any], arrays: Arrays, place: str, checked: bool) -> Any:
    kind = described["kind"]
    if kind == "array":
        return arrays[place]
    if kind == "strings":
        return _restore_strings(arrays, place, checked)
    if kind == "plain":
        return described["value"]
    parts = {
        name: _restore(part, arrays, f"{place}/{name}", checked) for name, part in described["parts"].items()
    }
    if kind == "dict":
        return parts
    return KINDS[kind](**parts) if checked else _unchecked(KINDS[kind], parts)


def _unchecked(kind: type[Any], parts: dict[str, Any]) -> Any:
    """An object made of its fields as they were stored, without the checks of its constructor."""
    value = object.__new__(kind)
    for name, part in parts.items():
        object.__setattr__(value, name, tuple(part) if isinstance(part, list) else part)
    return value


def _flatten_strings(column: Strings, arrays: Arrays, place: str) -> None:
    column = pa.concat_arrays([column])
    filled = pc.fill_null(column, "")
    _, offsets, data = filled.buffers()
    arrays[f"{place}.offsets"] = (
        np.frombuffer(offsets, np.int64, len(column) + 1) if len(column) else np.zeros(1, np.int64)
    )
    arrays[f"{place}.bytes"] = np.frombuffer(data or b"", np.uint8)
    if column.null_count:
        arrays[f"{place}.valid"] = np.asarray(pc.is_valid(column))


def _restore_strings(arrays: Arrays, place: str, checked: bool) -> Strings:
    offsets = arrays[f"{place}.offsets"]
    column = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(arrays[f"{place}.bytes"])
    )
    if checked:
        column.validate(full=True)
    valid = arrays.get(f"{place}.valid")
    return column if valid is None else pc.if_else(pa.array(valid.astype(bool)), column, None)


def _parts_of_file(value: Any) -> Iterator[bytes | memoryview]:
    """Yield the content of an artifact array by array; the safetensors package would copy all of it.

    Arrays with the largest item size come first, so that every array is aligned.
    """
    arrays: Arrays = {}
    header = {"format": FORMAT_VERSION, "value": _flatten(value, arrays, "")}
    described: dict[str, Any] = {"__metadata__": {HEADER: json.dumps(header, sort_keys=True)}}
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    end = 0
    for name in order:
        array = arrays[name]
        facts = {"dtype": _NAMES[array.dtype], "shape": list(array.shape)}
        described[name] = facts | {"data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    text = json.dumps(described, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for name in order:
        yield np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data


def _mapped(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the header of an artifact, and its arrays as memory-mapped views of the file.

    The safetensors package would copy every array into memory.
    """
    with path.open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    start = 8 + int.from_bytes(content[:8], "little")
    if start > len(content):
        raise ValueError("its header is longer than the file")
    described = json.loads(bytes(content[8:start]))
    header = json.loads(described.pop("__metadata__")[HEADER])
    arrays = {}
    for name, facts in described.items():
        dtype, (first, last) = _DTYPES[facts["dtype"]], facts["data_offsets"]
        if not 0 <= first <= last <= len(content) - start:
            raise ValueError(f"the array {name!r} lies outside the file")
        array = np.frombuffer(content[start + first : start + last], dtype)
        arrays[name] = array.reshape(facts["shape"])
    return header, arrays
