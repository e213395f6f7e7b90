"""Stage results on disk: one safetensors file each, readable without running any code from it.

A value is flattened to named arrays plus a few plain settings; text columns become bytes and offsets.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from largeea.errors import InputError
from largeea.graph import Arrays, Attributes, KnowledgeGraph, Links, ReadCounts, Strings, Task
from largeea.runs.files import atomic_write, sha256_of
from largeea.similarity import Similarity

FORMAT_VERSION = 1
HEADER = "largeea"
"""The one metadata entry; safetensors would write several in an order that changes from run to run."""


def save_artifact(value: Any, path: Path) -> str:
    """Write a value of a known kind; its SHA-256 comes back."""
    kind = type(value).__name__
    arrays, settings = _FLATTEN[kind](value)
    header = json.dumps({"kind": kind, "format": FORMAT_VERSION, "settings": settings}, sort_keys=True)
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, {HEADER: header})
    with atomic_write(path) as file:
        file.write(content)
    return hashlib.sha256(content).hexdigest()


def load_artifact(path: Path, sha256: str | None = None) -> Any:
    """Read back what `save_artifact` wrote; with its SHA-256, only if not a bit has changed."""
    try:
        if sha256 is not None and sha256_of(path) != sha256:
            raise InputError("is not what was written there: it was damaged or replaced", path)
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[HEADER])
            if header["format"] != FORMAT_VERSION:
                raise InputError(f"has format {header['format']}; this release reads {FORMAT_VERSION}", path)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return _RESTORE[header["kind"]](arrays, header["settings"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"is not a readable artifact: {error}", path) from None


def content_hash(value: Any) -> str:
    """SHA-256 of what a value holds, whether it was ever written or not."""
    arrays, settings = _FLATTEN[type(value).__name__](value)
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"\n{name} {array.dtype} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _flatten_strings(prefix: str, column: Strings) -> Arrays:
    column = pa.concat_arrays([column])
    filled = pc.fill_null(column, "")
    _, offsets, data = filled.buffers()
    length = np.frombuffer(offsets, np.int64, len(column) + 1) if len(column) else np.zeros(1, np.int64)
    arrays: Arrays = {f"{prefix}.offsets": length, f"{prefix}.bytes": np.frombuffer(data or b"", np.uint8)}
    if column.null_count:
        arrays[f"{prefix}.valid"] = np.asarray(pc.is_valid(column))
    return arrays


def _restore_strings(prefix: str, arrays: Arrays) -> Strings:
    offsets = arrays[f"{prefix}.offsets"]
    column = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(arrays[f"{prefix}.bytes"])
    )
    column.validate(full=True)
    valid = arrays.get(f"{prefix}.valid")
    return column if valid is None else pc.if_else(pa.array(valid.astype(bool)), column, None)


def _flatten_graph(graph: KnowledgeGraph) -> tuple[Arrays, dict[str, Any]]:
    columns = {
        "entities": graph.entities,
        "names": graph.names,
        "relations": graph.relations,
        "attribute_predicates": graph.attributes.predicates,
        "attribute_values": graph.attributes.values,
        "attribute_tags": graph.attributes.tags,
    }
    arrays: Arrays = {"triples": graph.triples, "attributes": graph.attributes.rows}
    for name, column in columns.items():
        arrays |= _flatten_strings(name, column)
    return arrays, {"counts": vars(graph.counts)}


def _restore_graph(arrays: Arrays, settings: dict[str, Any]) -> KnowledgeGraph:
    words = {
        name.removesuffix(".offsets"): _restore_strings(name.removesuffix(".offsets"), arrays)
        for name in arrays
        if name.endswith(".offsets")
    }
    attributes = Attributes(
        arrays["attributes"],
        words["attribute_predicates"],
        words["attribute_values"],
        words["attribute_tags"],
    )
    return KnowledgeGraph(
        words["entities"],
        words["names"],
        words["relations"],
        arrays["triples"],
        attributes,
        ReadCounts(**settings["counts"]),
    )


def _flatten_links(links: Links) -> tuple[Arrays, dict[str, Any]]:
    arrays: Arrays = {"pairs": links.pairs}
    if links.weight is not None:
        arrays["weight"] = links.weight
    return arrays, {}


def _restore_links(arrays: Arrays, settings: dict[str, Any]) -> Links:
    return Links(arrays["pairs"], arrays.get("weight"))


def _flatten_similarity(similarity: Similarity) -> tuple[Arrays, dict[str, Any]]:
    arrays: Arrays = {"indptr": similarity.indptr, "indices": similarity.indices, "scores": similarity.scores}
    return arrays, {"shape": similarity.shape, "floor": similarity.floor}


def _restore_similarity(arrays: Arrays, settings: dict[str, Any]) -> Similarity:
    shape = settings["shape"][0], settings["shape"][1]
    return Similarity(shape, arrays["indptr"], arrays["indices"], arrays["scores"], settings["floor"])


def _flatten_task(task: Task) -> tuple[Arrays, dict[str, Any]]:
    parts = {
        "source": _flatten_graph(task.source),
        "target": _flatten_graph(task.target),
        "seeds": _flatten_links(task.seeds),
    }
    arrays = {f"{part}/{name}": array for part, (found, _) in parts.items() for name, array in found.items()}
    return arrays, {part: settings for part, (_, settings) in parts.items()}


def _restore_task(arrays: Arrays, settings: dict[str, Any]) -> Task:
    def part(name: str) -> Arrays:
        return {
            key.removeprefix(f"{name}/"): array for key, array in arrays.items() if key.startswith(f"{name}/")
        }

    return Task(
        _restore_graph(part("source"), settings["source"]),
        _restore_graph(part("target"), settings["target"]),
        _restore_links(part("seeds"), settings["seeds"]),
    )


def _flatten_arrays(arrays: Arrays) -> tuple[Arrays, dict[str, Any]]:
    return arrays, {}


def _restore_arrays(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
    return arrays


_FLATTEN: dict[str, Any] = {
    "dict": _flatten_arrays,
    "Links": _flatten_links,
    "Similarity": _flatten_similarity,
    "Task": _flatten_task,
}
_RESTORE: dict[str, Any] = {
    "dict": _restore_arrays,
    "Links": _restore_links,
    "Similarity": _restore_similarity,
    "Task": _restore_task,
}
