"""Values cut into tokens: numbered words, weighted by how rare they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from largeea.evidence.attributes import token_kernels as kernels
from largeea.evidence.attributes.texts import characters
from largeea.graph import Int64, Strings

BUCKETS = 1 << 23
"""Counters of tokens; two tokens that fall into the same one count as equally frequent."""
LONG = 20
"""A text of more tokens is compared by its rarest tokens alone."""
MAX_TOKENS = 32
"""Tokens kept of a long text: the rarest ones."""


def cut(texts: Strings, used: Int64) -> dict[str, Any]:
    """The tokens of each text, `used[n]` times in all: the columns of `ValueTable` that are about tokens.

    A token of weight `log(1 + facts / facts with the token)`.
    """
    if not len(texts):
        return {
            "long": np.zeros(0, bool),
            "token": np.zeros(0, np.int32),
            "token_pointers": np.zeros(1, np.int64),
            "token_weight": np.zeros(0, np.float32),
        }
    text, pointers = characters(texts)
    buckets = np.zeros(BUCKETS, np.int64)
    sizes = np.empty(len(texts), np.int64)
    kernels.count_tokens(text, pointers, used, buckets, sizes)
    long = sizes > LONG
    room = np.concatenate([[0], np.cumsum(np.minimum(sizes, MAX_TOKENS))])
    codes = np.empty(room[-1], np.uint64)
    kernels.choose_tokens(text, pointers, buckets, room, codes, sizes)
    kept = np.arange(len(codes)) - np.repeat(room[:-1], np.diff(room)) < np.repeat(sizes, np.diff(room))
    vocabulary, token = np.unique(codes[kept], return_inverse=True)
    facts = np.maximum(buckets[(vocabulary % np.uint64(BUCKETS)).astype(np.int64)], 1)
    return {
        "long": long,
        "token": token.astype(np.int32),
        "token_pointers": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "token_weight": np.log(1 + used.sum() / facts).astype(np.float32),
    }
