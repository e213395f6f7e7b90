"""Writes what a finished run has found as Parquet or NumPy files for other tools.

Large matrices are written block by block: memory holds the matrices as stored and one row group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.exporting.files import ROW_GROUP, ArraysByName, Tables, text_array, write_npz, write_parquet
from largeea.exporting.inputs import load_name_rows, load_vectors
from largeea.finished import FinishedRun
from largeea.graph import Int32, Int64, KnowledgeGraph
from largeea.matching.cardinality import Cardinality
from largeea.runs.manifest import check_output
from largeea.similarity import Similarity

_NPZ = ("similarity", "embeddings")


def export(run: FinishedRun | Path | str, what: str, path: Path | str) -> int:
    """Write one kind of result of a finished run to a `.parquet` or `.npz` file; return the number of rows.

    `what` is `alignment` (all pairs of the answer), `candidates` (all pairs that were compared, with
    the score of each channel), `similarity` (the fused matrix), `embeddings` (vectors of names, if an encoder
    made some) or `names` (names and aliases).

    Example: `export("run", "candidates", "candidates.parquet")`.
    """
    run = run if isinstance(run, FinishedRun) else FinishedRun(Path(run))
    path = Path(path)
    if what not in KINDS:
        raise UsageError(f"cannot export {what!r}; there are: {', '.join(KINDS)}")
    suffixes = (".parquet", ".npz") if what in _NPZ else (".parquet",)
    if path.suffix.lower() not in suffixes:
        raise UsageError(f"{what} can be written to {' or '.join(suffixes)} files, not to {path.name!r}")
    check_output(run.folder, path)
    if path.suffix.lower() == ".npz":
        arrays = _similarity_arrays(run) if what == "similarity" else _vector_arrays(run)
        write_npz(path, arrays)
        return sum(
            len(arrays[name]) for name in ("data", "source_vectors", "target_vectors") if name in arrays
        )
    return write_parquet(path, KINDS[what](run))


def _alignment(run: FinishedRun) -> Tables:
    """All pairs of the answer, accepted and doubtful."""
    yield run.alignment.to_table()


def _candidates(run: FinishedRun) -> Tables:
    """Every pair that the fused matrix or a channel holds, with its scores; null where one lacks the pair."""
    matrices = {"score": run.fused} | {f"score_{kind}": matrix for kind, matrix in run.evidence.items()}
    targets = run.fused.shape[1]
    pairs = run.alignment.pairs.astype(np.int64)
    status = np.where(run.alignment.accepted, "accepted", "doubtful")
    if run.alignment.cardinality is Cardinality.WITHIN:  # either end is a source
        pairs, status = np.concatenate([pairs, pairs[:, ::-1]]), np.tile(status, 2)
    keys = pairs[:, 0] * targets + pairs[:, 1]
    order = np.argsort(keys)
    for first, last in _blocks(list(matrices.values())):
        found = {name: _entries(matrix, first, last) for name, matrix in matrices.items()}
        union = np.unique(np.concatenate([block for block, _ in found.values()]))
        scores = {name: _looked_up(union, *entries) for name, entries in found.items()}
        ends = (union // targets).astype(np.int32), (union % targets).astype(np.int32)
        yield _pairs_table(run, *ends, scores | {"status": _looked_up(union, keys[order], status[order])})


def _similarity(run: FinishedRun) -> Tables:
    """The entries of the fused matrix `M`."""
    targets = run.fused.shape[1]
    for first, last in _blocks([run.fused]):
        keys, scores = _entries(run.fused, first, last)
        ends = (keys // targets).astype(np.int32), (keys % targets).astype(np.int32)
        ids = {"source_id": pa.array(ends[0]), "target_id": pa.array(ends[1])}
        yield _pairs_table(run, *ends, ids | {"score": pa.array(scores)}, names=False)


def _names(run: FinishedRun) -> Tables:
    """All names that were compared, aliases included."""
    rows = load_name_rows(run)
    for side, graph in _sides(run):
        columns = _name_columns(graph, rows, side)
        yield pa.table({"side": pa.array([side] * len(columns["name"])), **columns}).filter(
            pc.is_valid(columns["name"])
        )


def _embeddings(run: FinishedRun) -> Tables:
    """The encoder's vector of each name."""
    vectors, rows = load_vectors(run), load_name_rows(run)
    for side, graph in _sides(run):
        columns = _name_columns(graph, rows, side)
        width = vectors[side].shape[1]
        at_once = max(1, ROW_GROUP // width)
        for start in range(0, len(vectors[side]), at_once):
            some = np.asarray(vectors[side][start : start + at_once], np.float32)
            flat = pa.array(some.ravel())
            table = pa.table(
                {
                    "side": pa.array([side] * len(some)),
                    **{name: column.slice(start, len(some)) for name, column in columns.items()},
                    "vector": pa.FixedSizeListArray.from_arrays(flat, width),
                }
            )
            yield table.filter(pc.is_valid(table["name"]))


KINDS: dict[str, Callable[[FinishedRun], Tables]] = {
    "alignment": _alignment,
    "candidates": _candidates,
    "similarity": _similarity,
    "embeddings": _embeddings,
    "names": _names,
}
"""What can be exported."""


def _similarity_arrays(run: FinishedRun) -> ArraysByName:
    """The fused matrix as `scipy.sparse.load_npz` reads it, and the IRIs of its rows and columns."""
    fused = run.fused
    return {
        "format": np.array(b"csr"),
        "shape": np.array(fused.shape),
        "data": fused.scores,
        "indices": fused.indices,
        "indptr": fused.indptr,
        "floor": np.array(fused.floor, np.float32),
        "source": text_array(run.source.entities),
        "target": text_array(run.target.entities),
    }


def _vector_arrays(run: FinishedRun) -> ArraysByName:
    """The vectors of each side `[names, width]`, and the IRI and the name that each row belongs to."""
    vectors, rows = load_vectors(run), load_name_rows(run)
    arrays: ArraysByName = {}
    for side, graph in _sides(run):
        columns = _name_columns(graph, rows, side)
        arrays |= {
            f"{side}_vectors": np.asarray(vectors[side], np.float32),
            side: text_array(columns["iri"]),
            f"{side}_name": text_array(pc.fill_null(columns["name"], "")),
        }
    return arrays


def _sides(run: FinishedRun) -> tuple[tuple[str, KnowledgeGraph], tuple[str, KnowledgeGraph]]:
    return ("source", run.source), ("target", run.target)


def _name_columns(graph: KnowledgeGraph, rows: dict[str, Any], side: str) -> dict[str, Any]:
    """IRI, name, whether it is an alias, and its weight, of each row of names."""
    entity = rows[f"{side}_entity"]
    return {
        "iri": graph.entities.take(pa.array(entity)),
        "name": rows[f"{side}_texts"],
        "alias": pa.array(np.arange(len(entity)) >= graph.size),
        "weight": pa.array(rows[f"{side}_weights"]),
    }


def _pairs_table(
    run: FinishedRun, source: Int32, target: Int32, columns: dict[str, Any], names: bool = True
) -> pa.Table:
    ends = {"source": run.source.entities.take(source), "target": run.target.entities.take(target)}
    if names:
        ends["source_name"] = run.source.names.take(source)
        ends["target_name"] = run.target.names.take(target)
    return pa.table(ends | columns)


def _blocks(matrices: list[Similarity]) -> Iterator[tuple[int, int]]:
    """Ranges of rows that hold about `ROW_GROUP` entries of all matrices together, at least one row each."""
    entries: Int64 = np.sum([matrix.indptr for matrix in matrices], axis=0)
    rows, first = matrices[0].shape[0], 0
    while first < rows:
        last = int(np.searchsorted(entries, entries[first] + ROW_GROUP, side="right")) - 1
        last = min(max(last, first + 1), rows)
        yield first, last
        first = last


def _entries(matrix: Similarity, first: int, last: int) -> tuple[Int64, npt.NDArray[Any]]:
    """The entries of some rows: `row * columns + column`, ascending, and their scores."""
    span = slice(int(matrix.indptr[first]), int(matrix.indptr[last]))
    rows = np.repeat(np.arange(first, last, dtype=np.int64), np.diff(matrix.indptr[first : last + 1]))
    return rows * matrix.shape[1] + matrix.indices[span], matrix.scores[span]


def _looked_up(wanted: Int64, keys: Int64, values: npt.NDArray[Any]) -> pa.Array:
    """The value of each wanted key, null where there is none; keys ascend."""
    at = np.searchsorted(keys, wanted)
    at[at == len(keys)] = 0
    missing = keys[at] != wanted if len(keys) else np.ones(len(wanted), bool)
    taken = values[at] if len(keys) else np.zeros(len(wanted), values.dtype)
    return pa.array(taken, mask=missing)
