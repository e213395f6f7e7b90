"""A SentencePiece unigram model as flat arrays that compiled code can walk: vocabulary and character map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from largeea.compiled import compiled
from largeea.graph import Float32, Int32, Int64

UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]

SPACE_MARK = "\N{LOWER ONE EIGHTH BLOCK}".encode()
"""How SentencePiece writes a space inside a piece."""


class UnigramModel(NamedTuple):
    """Vocabulary and character map as flat arrays, ready for compiled code.

    The vocabulary is a trie over bytes: the child of `node` by `byte` is in an open-addressing hash table
    `edges[capacity, 2]` of (node * 256 + byte, child). `piece_of[node]` is -1 where no piece ends.
    The character map is a double array (`char_map`) whose leaves point into NUL-terminated `replacements`.
    """

    edges: Int32
    piece_of: Int32
    scores: Float32
    unknown_score: float
    space_piece: int
    char_map: UInt32
    replacements: UInt8


def read_unigram_model(path: Path) -> UnigramModel:
    """From a SentencePiece `.model` file (protobuf: field 1 are the pieces, field 3 the normaliser)."""
    data = np.fromfile(path, np.uint8)
    spans, scores = _read_pieces(data)
    edges, piece_of = _build_trie(data, spans)
    normalizer = next((span for field, *span in _fields(data, 0, len(data)) if field == 3))
    start, stop = next((span for field, *span in _fields(data, *normalizer) if field == 2))
    leaves = start + 4 + int(data[start : start + 4].view(np.uint32)[0])
    mark = np.frombuffer(SPACE_MARK, np.uint8)
    return UnigramModel(
        edges,
        piece_of,
        scores,
        float(scores.min()) - 10.0,
        int(piece_of[_walk(edges, mark)]),
        data[start + 4 : leaves].copy().view(np.uint32),
        data[leaves:stop].copy(),
    )


@compiled(nogil=True)
def _edge(node: np.int64, byte: np.uint8) -> np.int64:
    return node * np.int64(256) + np.int64(byte)


@compiled(nogil=True)
def _slot(edges: Int32, key: np.int64) -> np.int64:
    """Where the edge `key` is in the hash table, or the free slot where it belongs."""
    mask = np.int64(len(edges) - 1)
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while edges[slot, 0] != key and edges[slot, 0] >= 0:
        slot = (slot + 1) & mask
    return slot


@compiled(nogil=True)
def child(edges: Int32, node: np.int64, byte: np.uint8) -> np.int64:
    """The node below `node` by `byte`, -1 if there is none."""
    return np.int64(edges[_slot(edges, _edge(node, byte)), 1])


@compiled(nogil=True)
def _walk(edges: Int32, text: UInt8) -> np.int64:
    node = np.int64(0)
    for byte in text:
        node = child(edges, node, byte)
    return node


@compiled()
def _build_trie(data: UInt8, spans: Int64) -> tuple[Int32, Int32]:
    size = int((spans[:, 1] - spans[:, 0]).sum())
    capacity = 1
    while capacity < size:
        capacity *= 2
    edges = np.full((capacity, 2), -1, np.int32)
    piece_of = np.full(size + 1, -1, np.int32)
    nodes = 1
    for piece in range(len(spans)):
        node = np.int64(0)
        for at in range(spans[piece, 0], spans[piece, 1]):
            key = _edge(node, data[at])
            slot = _slot(edges, key)
            if edges[slot, 0] < 0:
                edges[slot, 0], edges[slot, 1] = key, nodes
                nodes += 1
            node = np.int64(edges[slot, 1])
        piece_of[node] = piece
    return edges, piece_of[:nodes].copy()


@compiled()
def _read_pieces(data: UInt8) -> tuple[Int64, Float32]:
    """Where the text of each piece lies in the file, `[n, 2]`, and its score, `[n]`."""
    count = 0
    for field, _, _ in _fields(data, 0, len(data)):
        count += field == 1
    spans = np.zeros((count, 2), np.int64)
    scores = np.zeros(count, np.float32)
    piece = 0
    for field, start, stop in _fields(data, 0, len(data)):
        if field == 1:
            for part, begin, end in _fields(data, start, stop):
                if part == 1:
                    spans[piece, 0], spans[piece, 1] = begin, end
                elif part == 2:
                    scores[piece] = data[begin:end].view(np.float32)[0]
            piece += 1
    return spans, scores


@compiled()
def _fields(data: UInt8, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """(number, begin, end) of each field of the protobuf message in `data[start:stop]`."""
    at = start
    while at < stop:
        tag, at = _varint(data, at)
        wire = tag & 7
        size = 8 if wire == 1 else 4
        if wire == 0:
            _, end = _varint(data, at)
            size = end - at
        elif wire == 2:
            size, at = _varint(data, at)
        yield tag >> 3, at, at + size
        at += size


@compiled()
def _varint(data: UInt8, at: int) -> tuple[int, int]:
    value, shift = np.int64(0), 0
    while True:
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return int(value), at
