"""The network of Universal Sentence Encoder multilingual v3 on CPU, in fp32: piece ids to vectors.

Each piece has an embedding (512) and three branches (256) of two convolutions each, over windows of 2, 3 and
5 pieces. Layer norm, the sum over a name's pieces and four dense layers follow. A convolution is a sum of one
matrix product per window position. Products are computed once per *distinct* piece (first convolution) or
distinct window (second convolution), and a name only adds up rows. This saves more than half of the
arithmetic; `benchmarks/encode.py` measures it against the package's own network.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from largeea.execution import current
from largeea.graph import Float32, Int32, Int64
from largeea.names.encoders.windows import convolve, distinct_windows, standardise, sums_of_runs
from largeea.plugins import optional

EMBEDDING, BRANCH, DENSE, OUTPUT = 512, 256, 320, 512
LEFT_CONTEXT = {2: 0, 3: 1, 5: 2}
"""Number of pieces in a window before its own piece, by window size."""
MARGIN = 2
"""Empty positions between two names, so that no window reaches into a neighbour."""
SHARDS = 17
"""The embedding table is stored in shards: piece i is row i // 17 of shard i % 17."""

_PIECES_PER_TASK = 1024
_TOKENS_PER_TASK = 2048
"""Work of one thread at a time; larger batches do not fit into its cache."""
_LEAST_ROWS = 16
"""Smaller matrices are padded: BLAS multiplies a few rows by other kernels, which round differently."""


@dataclass(frozen=True, eq=False)
class UseWeights:
    """Weights as stored.

    arrays: float32 arrays by their name in the archive.
    table: `uint8[pieces, 512]`, the embeddings, quantised to 6 bits.
    """

    arrays: dict[str, Float32]
    table: npt.NDArray[np.uint8]

    @classmethod
    def read(cls, path: Path) -> UseWeights:
        """Read from an `.npz` archive of plain arrays."""
        with np.load(path, allow_pickle=False) as archive:
            shards = [archive[f"q{i + 1}"] for i in range(SHARDS)]
            arrays = {name: archive[name] for name in archive.files if not name.startswith("q")}
        arrays["proj"] = np.hstack([arrays.pop(f"proj{n}") for n in LEFT_CONTEXT])
        for name in ("proj_b", "ln_g", "ln_b"):
            arrays[f"{name}_all"] = np.concatenate([arrays.pop(f"{name}{n}") for n in LEFT_CONTEXT])
        return cls(arrays, np.stack(shards, axis=1).reshape(-1, EMBEDDING))


class PieceRows(NamedTuple):
    """What depends on a piece alone: one row per distinct piece, and a last row of zeros for "no piece".

    embedding: `float32[pieces + 1, 512]`.
    branch: by window size n, `float32[pieces + 1, 256]`.
    products: by window size n, `float32[pieces + 1, n * 256]`; columns from k * 256 hold the product that the
    piece adds to the first convolution where it is at position k of the window.
    """

    embedding: Float32
    branch: dict[int, Float32]
    products: dict[int, Float32]

    @classmethod
    def zeros(cls, pieces: int) -> PieceRows:
        """Rows that are still to be computed."""

        def array(width: int) -> Float32:
            return np.zeros((pieces + 1, width), np.float32)

        branch = {n: array(BRANCH) for n in LEFT_CONTEXT}
        return cls(array(EMBEDDING), branch, {n: array(n * BRANCH) for n in LEFT_CONTEXT})


class UseNetwork:
    """Runs on the threads of the execution settings.

    Each thread computes its own batches, with BLAS limited to one thread: on matrices this small, BLAS
    threads spend most of their time waiting for each other.
    """

    def __init__(self, weights: UseWeights) -> None:
        w = weights.arrays
        self._weights, self._table = w, weights.table
        self._epsilon = np.float32(w["eps"])
        self._limit_blas = optional(
            "threadpoolctl", "multilingual", "the encoder use-multilingual"
        ).threadpool_limits
        self._convolutions = {
            (layer, n): _side_by_side(w[f"w{layer}_{n}"]) for layer in (1, 2) for n in LEFT_CONTEXT
        }
        self._to_dense = _linear_part(w)

    def encode(self, ids: Int32, offsets: Int64) -> Float32:
        """Unit vectors `[n, 512]`; name i has the pieces `ids[offsets[i]:offsets[i + 1]]`."""
        pieces, tokens = np.unique(ids, return_inverse=True)
        rows = PieceRows.zeros(len(pieces))
        vectors = np.empty((len(offsets) - 1, OUTPUT), np.float32)

        def prepare(first: int, last: int) -> None:
            self._fill(rows, pieces, slice(first, last))

        def compute(first: int, last: int) -> None:
            inside = tokens[offsets[first] : offsets[last]]
            vectors[first:last] = self._encode(rows, inside, offsets[first : last + 1] - offsets[first])

        threads = current().thread_count
        with self._limit_blas(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            list(pool.map(prepare, *cuts(np.arange(len(pieces) + 1), _PIECES_PER_TASK)))
            list(pool.map(compute, *cuts(offsets, _TOKENS_PER_TASK)))
        return vectors

    def _fill(self, rows: PieceRows, pieces: Int32, span: slice) -> None:
        """Compute the rows of `pieces[span]`."""
        w = self._weights
        shard = pieces[span] % SHARDS
        embedding = w["scale"][shard, None] * self._table[pieces[span]] + w["lo"][shard, None]
        wide = np.asarray(_product(embedding, w["proj"]) + w["proj_b_all"], np.float32)
        standardise(wide, self._epsilon)
        wide *= w["ln_g_all"]
        wide += w["ln_b_all"]
        rows.embedding[span] = embedding
        for n, branch in zip(LEFT_CONTEXT, np.split(wide, len(LEFT_CONTEXT), axis=1), strict=True):
            rows.branch[n][span] = branch
            rows.products[n][span] = _product(branch, self._convolutions[1, n])

    def _encode(self, rows: PieceRows, tokens: Int64, offsets: Int64) -> Float32:
        """Vectors of names whose tokens are row numbers in `rows`."""
        w = self._weights
        lengths = np.diff(offsets)
        places = np.arange(len(tokens)) + MARGIN * np.repeat(np.arange(1, len(offsets)), lengths)
        line = np.full(len(tokens) + MARGIN * len(offsets), len(rows.embedding) - 1, np.int64)
        line[places] = tokens
        features = np.empty((len(tokens), EMBEDDING + BRANCH * len(LEFT_CONTEXT)), np.float32)
        features[:, :EMBEDDING] = rows.embedding[tokens]
        for column, (n, (window, first)) in enumerate(distinct_windows(line, places).items()):
            left, start = LEFT_CONTEXT[n], EMBEDDING + column * BRANCH
            hidden = np.zeros((len(first) + 1, BRANCH), np.float32)
            convolve(hidden, 0, first, line, left, rows.products[n], rows.branch[n], w[f"b1_{n}"])
            products = _product(hidden, self._convolutions[2, n])
            convolve(features, start, places, window, left, products, hidden, w[f"b2_{n}"])
        standardise(features, self._epsilon)
        return self._dense(sums_of_runs(features, offsets), np.sqrt(lengths, dtype=np.float32)[:, None])

    def _dense(self, sums: Float32, root_of_length: Float32) -> Float32:
        """Unit vectors `[n, 512]` from the sums `[n, 1280]` of standardised features."""
        w, (matrix, bias) = self._weights, self._to_dense
        hidden = _product(sums / root_of_length, matrix) + root_of_length * bias
        deep = np.maximum(hidden[:, :DENSE], 0)
        skip = np.maximum(hidden[:, DENSE:] + _product(deep, w["d1"]), 0)
        deep = np.maximum(_product(skip, w["d2"]), 0)
        vectors = np.tanh(_product(skip, w["p3"]) + _product(deep, w["d3"]))
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _product(rows: Float32, matrix: Float32) -> Float32:
    """`rows @ matrix`, never with so few rows that BLAS switches to other kernels.

    A row of the result then does not depend on the other rows: to the last bit with OpenBLAS's AVX-512
    kernels, up to rounding (4e-7 in a vector) with its AVX2 kernels.
    """
    if len(rows) >= _LEAST_ROWS:
        return np.asarray(rows @ matrix)
    padded = np.zeros((_LEAST_ROWS, rows.shape[1]), np.float32)
    padded[: len(rows)] = rows
    return np.asarray((padded @ matrix)[: len(rows)])


def _side_by_side(convolution: Float32) -> Float32:
    """The matrices of a window's positions, stacked as `[n * 256, 256]`, side by side: `[256, n * 256]`."""
    return np.hstack(list(convolution.reshape(-1, BRANCH, BRANCH)))


def _linear_part(w: dict[str, Float32]) -> tuple[Float32, Float32]:
    """Matrix `[1280, 640]` and bias `[640]`: the linear steps between layer norm and first ReLU as one."""
    dense = np.hstack([w["d0"], w["p1"]]).astype(np.float64)
    matrix = w["ln_g"][:, None] * (w["cnn_W"] @ dense)
    bias = (w["cnn_b"] + w["ln_b"] @ w["cnn_W"]) @ dense
    return matrix.astype(np.float32), bias.astype(np.float32)


def cuts(offsets: Int64, size: int) -> tuple[list[int], list[int]]:
    """First and last positions of runs of about `size` tokens; `offsets` is the running token count."""
    cuts = np.searchsorted(offsets, np.arange(size, offsets[-1], size))
    bounds = np.unique(np.concatenate([[0], cuts, [len(offsets) - 1]])).tolist()
    return bounds[:-1], bounds[1:]
