"""The network of Universal Sentence Encoder multilingual v3 on CPU, in fp32: piece ids in, vectors out.

Per piece an embedding (512) and three branches (256) of two convolutions each, over 2, 3 and 5 pieces; then
layer norm, the sum over a name's pieces, and four dense layers. A convolution is a sum of one matrix product
for each place in its window. So products are made once per *distinct* piece (first convolution) or distinct
window (second), and names merely add up rows: more than half of the arithmetic is saved, to the same end.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from largeea.compiled import thread_count
from largeea.graph import Float32, Int32, Int64
from largeea.names.encoders.base import optional
from largeea.names.encoders.windows import convolve, distinct_windows, standardise, sums_of_runs

EMBEDDING, BRANCH, DENSE, OUTPUT = 512, 256, 320, 512
LEFT_CONTEXT = {2: 0, 3: 1, 5: 2}
"""How many pieces of a window are before its own piece, by the size of the window."""
MARGIN = 2
"""Places of nothing between two names, so that no window sees a neighbour."""
SHARDS = 17

_PIECES_PER_TASK = 1024
_TOKENS_PER_TASK = 2048
"""What a core computes at once; larger batches fall out of its cache."""


@dataclass(frozen=True, eq=False)
class UseWeights:
    """`arrays` by their name in the archive; `table[pieces, 512]`: the embeddings, quantised to 6 bits."""

    arrays: dict[str, Float32]
    table: npt.NDArray[np.uint8]

    @classmethod
    def read(cls, path: Path) -> UseWeights:
        """From an `.npz` archive of plain arrays; piece i is row i // 17 of shard i % 17."""
        with np.load(path, allow_pickle=False) as archive:
            shards = [archive[f"q{i + 1}"] for i in range(SHARDS)]
            arrays = {name: archive[name] for name in archive.files if not name.startswith("q")}
        arrays["proj"] = np.hstack([arrays.pop(f"proj{n}") for n in LEFT_CONTEXT])
        for name in ("proj_b", "ln_g", "ln_b"):
            arrays[f"{name}_all"] = np.concatenate([arrays.pop(f"{name}{n}") for n in LEFT_CONTEXT])
        return cls(arrays, np.stack(shards, axis=1).reshape(-1, EMBEDDING))


class PieceRows(NamedTuple):
    """What depends on a piece alone: a row for each distinct piece, and a last row of zeros for "no piece".

    `embedding[u, 512]`; by window size n `branch[n][u, 256]` and `shares[n][u, n * 256]`, of which columns
    k * 256... are the piece's share in the first convolution of a window where it has place k.
    """

    embedding: Float32
    branch: dict[int, Float32]
    shares: dict[int, Float32]

    @classmethod
    def zeros(cls, pieces: int) -> PieceRows:
        """Rows to be filled."""

        def array(width: int) -> Float32:
            return np.zeros((pieces + 1, width), np.float32)

        branch = {n: array(BRANCH) for n in LEFT_CONTEXT}
        return cls(array(EMBEDDING), branch, {n: array(n * BRANCH) for n in LEFT_CONTEXT})


class UseNetwork:
    """Runs on as many threads as numba may use.

    Each thread computes its own batches with BLAS on one thread: BLAS threads that wait for each other waste
    most of their time on matrices as small as these, and nearly all of it on a busy machine.
    """

    def __init__(self, weights: UseWeights) -> None:
        w = weights.arrays
        self._weights, self._table = w, weights.table
        self._epsilon = np.float32(w["eps"])
        self._limit_blas = optional("threadpoolctl", "multilingual").threadpool_limits
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

        with self._limit_blas(limits=1, user_api="blas"), ThreadPoolExecutor(thread_count()) as pool:
            list(pool.map(prepare, *cuts(np.arange(len(pieces) + 1), _PIECES_PER_TASK)))
            list(pool.map(compute, *cuts(offsets, _TOKENS_PER_TASK)))
        return vectors

    def _fill(self, rows: PieceRows, pieces: Int32, span: slice) -> None:
        """Compute the rows of `pieces[span]`."""
        w = self._weights
        shard = pieces[span] % SHARDS
        embedding = w["scale"][shard, None] * self._table[pieces[span]] + w["lo"][shard, None]
        wide = np.asarray(embedding @ w["proj"] + w["proj_b_all"], np.float32)
        standardise(wide, self._epsilon)
        wide *= w["ln_g_all"]
        wide += w["ln_b_all"]
        rows.embedding[span] = embedding
        for n, branch in zip(LEFT_CONTEXT, np.split(wide, len(LEFT_CONTEXT), axis=1), strict=True):
            rows.branch[n][span] = branch
            np.matmul(branch, self._convolutions[1, n], out=rows.shares[n][span])

    def _encode(self, rows: PieceRows, tokens: Int64, offsets: Int64) -> Float32:
        """Vectors of names whose tokens are given as positions in `rows`."""
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
            convolve(hidden, 0, first, line, left, rows.shares[n], rows.branch[n], w[f"b1_{n}"])
            shares = hidden @ self._convolutions[2, n]
            convolve(features, start, places, window, left, shares, hidden, w[f"b2_{n}"])
        standardise(features, self._epsilon)
        return self._dense(sums_of_runs(features, offsets), np.sqrt(lengths, dtype=np.float32)[:, None])

    def _dense(self, sums: Float32, root_of_length: Float32) -> Float32:
        w, (matrix, bias) = self._weights, self._to_dense
        hidden = (sums / root_of_length) @ matrix + root_of_length * bias
        deep = np.maximum(hidden[:, :DENSE], 0)
        skip = np.maximum(hidden[:, DENSE:] + deep @ w["d1"], 0)
        deep = np.maximum(skip @ w["d2"], 0)
        vectors = np.tanh(skip @ w["p3"] + deep @ w["d3"])
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _side_by_side(convolution: Float32) -> Float32:
    """`[n * 256, 256]`, a matrix below another for each place of the window, to `[256, n * 256]`."""
    return np.hstack(list(convolution.reshape(-1, BRANCH, BRANCH)))


def _linear_part(w: dict[str, Float32]) -> tuple[Float32, Float32]:
    """Matrix `[1280, 640]` and bias `[640]`: all that is linear between the layer norm and the first ReLU."""
    dense = np.hstack([w["d0"], w["p1"]]).astype(np.float64)
    matrix = w["ln_g"][:, None] * (w["cnn_W"] @ dense)
    bias = (w["cnn_b"] + w["ln_b"] @ w["cnn_W"]) @ dense
    return matrix.astype(np.float32), bias.astype(np.float32)


def cuts(offsets: Int64, size: int) -> tuple[list[int], list[int]]:
    """First and last positions of runs that are about `size` long by the running total `offsets`."""
    cuts = np.searchsorted(offsets, np.arange(size, offsets[-1], size))
    bounds = np.unique(np.concatenate([[0], cuts, [len(offsets) - 1]])).tolist()
    return bounds[:-1], bounds[1:]
