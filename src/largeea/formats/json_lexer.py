"""Follows JSON text, block by block, in compiled code: its depth, its names, where its contexts are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from largeea.compiled import compiled
from largeea.formats.interning import Bytes
from largeea.graph import Int64

DEPTH, DEEPEST, LONGEST_NAME, REPEATED, EXPANSION, OWNER_DEPTH, COST_PER_OBJECT, COST = range(8)
_STATE, _ROLE, _LENGTH, _NAME_ENDED, _NAME_LENGTH, _CONTEXT_DEPTH, _CODE, _TOP_DEPTH = range(8, 16)
_VALUES, _LONGEST_HERE = 16, 17
"""Places in the memory. `REPEATED` is the most bytes of names that the values of one top-level item have,
if each had the longest name: pyoxigraph keeps all statements of one before it hands over the first."""

END_OF_BLOCK, CONTEXT_BEGINS, CONTEXT_ENDED, OWNER_ENDED = range(4)
_OUTSIDE, _STRING, _ESCAPE, _HEX = 0, 1, 2, 3
_NO_ROLE, _CONTEXT, _IDENTIFIER = 0, 1, 2
_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3

Hashes = npt.NDArray[np.uint64]


def new_memory() -> tuple[Int64, Hashes]:
    """What is known at the beginning of a text: numbers by place, and the hashes of the last two names."""
    memory = np.zeros(18, np.int64)
    memory[_CONTEXT_DEPTH] = -1
    return memory, np.zeros(2, np.uint64)


def name_hash(name: str) -> int:
    """The hash by which the lexer knows a name (FNV-1a of its UTF-8 bytes)."""
    value = _BASIS
    for byte in name.encode("utf-8", "surrogatepass"):
        value = (value ^ byte) * _PRIME & 0xFFFFFFFFFFFFFFFF
    return value


_CONTEXT_HASH = np.uint64(name_hash("@context"))


@compiled()
def _hashed(value: np.uint64, byte: int) -> np.uint64:
    return (value ^ np.uint64(byte)) * np.uint64(_PRIME)


@compiled()
def _hashed_code(value: np.uint64, code: int) -> np.uint64:
    """The hash continued with a character below U+10000 as UTF-8."""
    if code < 0x80:
        return _hashed(value, code)
    if code < 0x800:
        return _hashed(_hashed(value, 0xC0 | code >> 6), 0x80 | code & 0x3F)
    value = _hashed(_hashed(value, 0xE0 | code >> 12), 0x80 | code >> 6 & 0x3F)
    return _hashed(value, 0x80 | code & 0x3F)


@compiled()
def _digit(byte: int) -> int:
    return byte - 48 if byte <= 57 else (byte | 32) - 87


@compiled()
def _inside_string(byte: int, memory: Int64, hashes: Hashes) -> bool:
    """Go on by one byte of a string; whether it ends with that byte. `\\u0040` counts as `@`."""
    state = memory[_STATE]
    if state == _STRING:
        if byte == 34:
            memory[_STATE] = _OUTSIDE
            return True
        if byte == 92:
            memory[_STATE] = _ESCAPE
        else:
            hashes[0] = _hashed(hashes[0], byte)
            memory[_LENGTH] += 1
    elif state == _ESCAPE:
        memory[_STATE], memory[_CODE] = (_HEX, 0) if byte == 117 else (_STRING, 0)
        if byte != 117:
            hashes[0] = _hashed(hashes[0], byte)
            memory[_LENGTH] += 1
    else:
        memory[_CODE] = memory[_CODE] * 16 + _digit(byte)
        memory[_STATE] += 1
        if memory[_STATE] == _HEX + 4:
            hashes[0] = _hashed_code(hashes[0], memory[_CODE] & 0xFFFF)
            memory[_LENGTH] += 3
            memory[_STATE] = _STRING
    return False


@compiled()
def _role_of(name: np.uint64, identifiers: Hashes) -> int:
    if name == _CONTEXT_HASH:
        return _CONTEXT
    for identifier in identifiers:
        if name == identifier:
            return _IDENTIFIER
    return _NO_ROLE


@compiled()
def _note_name(memory: Int64, length: int) -> None:
    memory[LONGEST_NAME] = max(memory[LONGEST_NAME], length)
    memory[_LONGEST_HERE] = max(memory[_LONGEST_HERE], length)
    memory[REPEATED] = max(memory[REPEATED], (memory[_LONGEST_HERE] + memory[EXPANSION]) * memory[_VALUES])


@compiled()
def _note_value(memory: Int64) -> None:
    memory[_VALUES] += 1
    memory[REPEATED] = max(memory[REPEATED], (memory[_LONGEST_HERE] + memory[EXPANSION]) * memory[_VALUES])


@compiled()
def follow(data: Bytes, at: int, memory: Int64, hashes: Hashes, identifiers: Hashes) -> tuple[int, int]:
    """Go on from `at` to the next event: which one, and the place after it.

    A context begins before its value and has ended after it; an owner has ended when the object at
    `OWNER_DEPTH` is closed. `identifiers` are hashes of the keys under which an IRI stands.
    """
    while at < len(data):
        byte = data[at]
        in_context = memory[_CONTEXT_DEPTH] >= 0
        if memory[_STATE] != _OUTSIDE:
            at += 1
            if _inside_string(byte, memory, hashes):
                hashes[1], memory[_NAME_LENGTH], memory[_NAME_ENDED] = hashes[0], memory[_LENGTH], 1
                if memory[_ROLE] == _IDENTIFIER and not in_context:
                    _note_name(memory, memory[_LENGTH])
                memory[_ROLE] = _NO_ROLE
                if in_context and memory[DEPTH] == memory[_CONTEXT_DEPTH]:
                    memory[_CONTEXT_DEPTH] = -1
                    return CONTEXT_ENDED, at
            continue
        if byte == 32 or byte == 9 or byte == 10 or byte == 13:
            at += 1
            continue
        opens = byte == 123 or byte == 91
        if memory[_ROLE] == _CONTEXT and not in_context and (opens or byte == 34):
            memory[_CONTEXT_DEPTH] = memory[DEPTH]
            memory[_ROLE] = _NO_ROLE
            return CONTEXT_BEGINS, at
        at += 1
        if byte == 34:
            memory[_STATE], memory[_LENGTH] = _STRING, 0
            hashes[0] = np.uint64(_BASIS)
        elif byte == 58:
            if memory[_NAME_ENDED] and not in_context:
                _note_name(memory, memory[_NAME_LENGTH])
                memory[_ROLE] = _role_of(hashes[1], identifiers)
        elif opens:
            if memory[DEPTH] == 0 and byte == 91:
                memory[_TOP_DEPTH] = 1
            memory[DEPTH] += 1
            memory[DEEPEST] = max(memory[DEEPEST], memory[DEPTH])
            _note_value(memory)
            if byte == 123:
                memory[COST] += memory[COST_PER_OBJECT]
        elif byte == 125 or byte == 93:
            memory[DEPTH] -= 1
            if in_context and memory[DEPTH] == memory[_CONTEXT_DEPTH]:
                memory[_CONTEXT_DEPTH] = -1
                return CONTEXT_ENDED, at
            if memory[DEPTH] <= memory[_TOP_DEPTH]:
                memory[_VALUES] = memory[_LONGEST_HERE] = memory[EXPANSION] = 0
            if memory[DEPTH] < memory[OWNER_DEPTH]:
                return OWNER_ENDED, at
        elif byte == 44:
            _note_value(memory)
            memory[_ROLE] = _NO_ROLE
        memory[_NAME_ENDED] = 0
    return END_OF_BLOCK, at
