"""SentencePiece unigram segmentation, compiled: a column of names in, piece ids out.

Normalises text with the model's character map and finds the best segmentation (Viterbi), on UTF-8 bytes: an
Arrow column is read where it lies. Same pieces as the reference implementation, ties included.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from largeea.compiled import compiled
from largeea.graph import Int32, Int64, Strings
from largeea.names.encoders.sentencepiece_model import SPACE_MARK, UInt8, UInt32, UnigramModel, child

UNKNOWN, BEGIN, END = 0, 1, 2
"""Ids of the pieces with a role of their own."""

_SPACE = 0x20
_LONGEST_PIECE = 64
"""Bytes of normalised text per allowed piece beyond which the rest of a name is not looked at."""


def segment(model: UnigramModel, names: Strings, max_pieces: int) -> tuple[Int32, Int64]:
    """`(ids, offsets)`: name i has `ids[offsets[i]:offsets[i + 1]]`, BEGIN first and END last.

    Of a longer name the first `max_pieces` are kept, both marks counted. A blank name is one UNKNOWN.
    """
    _, offsets, data = names.buffers()
    bounds = np.frombuffer(offsets, np.int64)[names.offset : names.offset + len(names) + 1]
    text = np.frombuffer(data, np.uint8) if data and data.size else np.empty(0, np.uint8)
    return _segment_all(model, text, bounds, max_pieces)


@compiled(nogil=True)
def _segment_all(model: UnigramModel, text: UInt8, bounds: Int64, max_pieces: int) -> tuple[Int32, Int64]:
    ids = np.empty(8 * len(bounds), np.int32)
    offsets = np.zeros(len(bounds), np.int64)
    enough = max_pieces * _LONGEST_PIECE
    clean = np.empty(enough + len(model.replacements), np.uint8)
    best = np.empty(len(clean) + 1, np.float64)
    origin = np.empty(len(clean) + 1, np.int32)
    piece = np.empty(len(clean) + 1, np.int32)
    for name in range(len(bounds) - 1):
        length = _normalise(model, text[bounds[name] : bounds[name + 1]], clean, enough)
        _viterbi(model, clean[:length], best, origin, piece)
        count = 0
        end = length
        while end > 0:
            count += 1
            end = origin[end]
        first = offsets[name]
        kept = min(max(count, 1), max_pieces - 2)
        if first + kept + 2 > len(ids):
            larger = np.empty(2 * len(ids) + kept, np.int32)
            larger[:first] = ids[:first]
            ids = larger
        ids[first] = BEGIN
        ids[first + 1] = UNKNOWN
        end = length
        for place in range(count - 1, -1, -1):
            if place < kept:
                ids[first + 1 + place] = piece[end]
            end = origin[end]
        ids[first + 1 + kept] = END
        offsets[name + 1] = first + kept + 2
    return ids[: offsets[-1]].copy(), offsets


@compiled(nogil=True)
def _normalise(model: UnigramModel, text: UInt8, clean: UInt8, enough: int) -> int:
    """Write the normalised text (spaces marked, runs of them made one) into `clean`; its length in bytes."""
    length = 0
    after_space = True
    at = 0
    while at < len(text) and length < enough:
        taken, leaf = _longest_match(model.char_map, text, at)
        if taken == 0 or leaf >= len(model.replacements):
            taken = min(_width(text[at]), len(text) - at)
            source, start, stop = text, np.int64(at), np.int64(at + taken)
        else:
            stop = leaf
            while model.replacements[stop] != 0:
                stop += 1
            source, start = model.replacements, leaf
        at += taken
        while after_space and start < stop and source[start] == _SPACE:
            start += 1
        if start == stop:
            continue
        if length == 0:
            length = _mark_space(clean, length)
        for i in range(start, stop):
            if source[i] == _SPACE:
                length = _mark_space(clean, length)
            else:
                clean[length] = source[i]
                length += 1
        after_space = source[stop - 1] == _SPACE
    while _ends_with_mark(clean, length):
        length -= len(SPACE_MARK)
    return length


@compiled(nogil=True)
def _viterbi(
    model: UnigramModel, text: UInt8, best: npt.NDArray[np.float64], origin: Int32, piece: Int32
) -> None:
    """Best segmentation: the last piece before `end` is `piece[end]` and starts at `origin[end]`.

    Ties go to the longer last piece. A character that is no piece by itself may be UNKNOWN.
    """
    best[0] = 0.0
    best[1 : len(text) + 1] = -np.inf
    start = 0
    while start < len(text):
        after_character = min(start + _width(text[start]), len(text))
        known = False
        node = np.int64(0)
        end = start
        while end < len(text):
            node = child(model.edges, node, text[end])
            if node < 0:
                break
            end += 1
            found = model.piece_of[node]
            if found >= 0:
                known |= end == after_character
                score = best[start] + np.float64(model.scores[found])
                if score > best[end]:
                    best[end], origin[end], piece[end] = score, start, found
        score = best[start] + model.unknown_score
        if not known and score > best[after_character]:
            best[after_character], origin[after_character], piece[after_character] = score, start, UNKNOWN
        start = after_character


@compiled(nogil=True)
def _longest_match(char_map: UInt32, text: UInt8, at: int) -> tuple[int, np.int64]:
    """Bytes of `text[at:]` matched by the character map and where the replacement starts; (0, 0) if none.

    A unit of the double array packs a label (8 bits), whether a leaf follows (bit 8) and the offset of its
    children (from bit 10, shifted by 8 more if bit 9 is set).
    """
    taken, leaf = 0, np.int64(0)
    place = _children_of(char_map[0])
    for i in range(at, len(text)):
        place ^= np.int64(text[i])
        if place >= len(char_map):
            break
        unit = char_map[place]
        if unit & np.uint32(0x800000FF) != text[i]:
            break
        place ^= _children_of(unit)
        if unit & np.uint32(0x100):
            taken, leaf = i + 1 - at, np.int64(char_map[place] & np.uint32(0x7FFFFFFF))
    return taken, leaf


@compiled(nogil=True)
def _children_of(unit: np.uint32) -> np.int64:
    return np.int64(unit >> np.uint32(10)) << np.int64((unit & np.uint32(0x200)) >> np.uint32(6))


@compiled(nogil=True)
def _width(lead: np.uint8) -> int:
    """Bytes of the UTF-8 character that starts with `lead`."""
    if lead < 0xC0:
        return 1
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@compiled(nogil=True)
def _mark_space(clean: UInt8, length: int) -> int:
    clean[length], clean[length + 1], clean[length + 2] = 0xE2, 0x96, 0x81
    return length + 3


@compiled(nogil=True)
def _ends_with_mark(clean: UInt8, length: int) -> bool:
    return (
        length >= 3 and clean[length - 3] == 0xE2 and clean[length - 2] == 0x96 and clean[length - 1] == 0x81
    )
