"""`bert:PATH_OR_ID`: any BERT-like checkpoint of Hugging Face, max-pooled over the name's own tokens.

The paper's semantic encoder (SENS): BERT tokens, max-pooling, unit length. Special tokens are left out of the
pooling. Only names of equal length share a batch, so there is no padding inside a name's row. While the model
works on one piece of the names, the next is tokenized.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from largeea.errors import UsageError
from largeea.execution.devices import torch_device
from largeea.graph import Bool, Float32, Int32, Int64
from largeea.names.encoders.base import (
    EncoderSettings,
    Float16,
    content_hash,
    flatten,
    halving_batches,
    torch_dtype,
    torch_threads,
)
from largeea.names.encoders.checkpoint import (
    checkpoint_files,
    checkpoint_folder,
    checkpoint_width,
    loading_checkpoint,
)
from largeea.plugins import optional

_LEAST_TOKENS = 64
"""Smaller batches are filled up with copies: matrix products of a few rows round differently."""
_PIECE = {"cpu": 1 << 14, "cuda": 1 << 17}
"""Names that are tokenized at a time, by device: of more names, more have equal length and share a batch."""


class Tokens(NamedTuple):
    """Token ids of names: name i has `ids[offsets[i]:offsets[i + 1]]`; `own` is false for special tokens."""

    ids: Int32
    own: Bool
    offsets: Int64


class TransformerEncoder:
    """A transformer on CPU or CUDA. On CUDA and in bf16 a vector varies with its batch by rounding."""

    def __init__(self, argument: str, settings: EncoderSettings) -> None:
        folder = checkpoint_folder(argument)
        self._torch = optional("torch", "encoders", "the encoder bert")
        self._argument, self._settings = argument, settings
        self._device = torch_device("encoders")
        self._tokenizer, self._model = _read_checkpoint(folder, torch_dtype(settings, self._device))
        self._model.to(self._device).eval()
        layers = self._model.config.num_hidden_layers
        if not -layers - 1 <= settings.layer <= layers:
            raise UsageError(
                f"layer = {settings.layer}: {folder} has layers 0 (embeddings) to {layers}; "
                "give one of these, or -1 for the last"
            )
        self._is_last_layer = settings.layer in (-1, layers)
        self._max_tokens = min(settings.max_tokens, self._tokenizer.model_max_length)
        if self._tokenizer.is_fast:
            self._tokenizer.backend_tokenizer.no_padding()
            self._tokenizer.backend_tokenizer.enable_truncation(self._max_tokens)

    @staticmethod
    def fingerprint_of(argument: str, settings: EncoderSettings) -> str:
        """Hash of the checkpoint's files and of the settings that change vectors; loads no model."""
        files = checkpoint_files(checkpoint_folder(argument))
        return content_hash(
            files, "bert", settings.dtype, settings.pooling, settings.layer, settings.max_tokens
        )

    @cached_property
    def fingerprint(self) -> str:
        """See `fingerprint_of`."""
        return self.fingerprint_of(self._argument, self._settings)

    @staticmethod
    def dimension_of(argument: str) -> int | None:
        """Width of the transformer, read from a checkpoint on this machine; loads no model."""
        return checkpoint_width(argument)

    @property
    def dimension(self) -> int:
        """Width of the transformer, 768 for the base size."""
        return int(self._model.config.hidden_size)

    def encode(self, names: Sequence[str]) -> Float32 | Float16:
        """Unit vectors `[n, dimension]`, on CUDA in float16; zeros for a name without a known token."""
        dtype = np.float16 if self._device.type == "cuda" else np.float32
        vectors: Any = np.empty((len(names), self.dimension), dtype)
        with torch_threads():
            for first, tokens in self._tokenized(names):
                piece = vectors[first : first + len(tokens.offsets) - 1]
                self._torch.from_numpy(piece).copy_(self._encode(tokens))
        found: Float32 | Float16 = vectors
        return found

    def _tokenized(self, names: Sequence[str]) -> Iterator[tuple[int, Tokens]]:
        """Pieces of the names as tokens, with the place of their first name."""
        size = _PIECE[self._device.type]
        pieces = [names[first : first + size] for first in range(0, len(names), size)]
        with ThreadPoolExecutor(1) as other_thread:
            under_way = [other_thread.submit(self._tokenize, piece) for piece in pieces[:1]]
            for number in range(len(pieces)):
                tokens = under_way.pop().result()
                under_way += [
                    other_thread.submit(self._tokenize, piece) for piece in pieces[number + 1 : number + 2]
                ]
                yield number * size, tokens

    def _encode(self, tokens: Tokens) -> Any:
        """Vectors `[n, dimension]` on the device; nothing waits for it between batches."""
        torch, device = self._torch, self._device
        size = self._settings.tokens_at_once(device.type)
        ids, own, offsets = (torch.from_numpy(column).to(device) for column in tokens)
        dtype = torch.float16 if device.type == "cuda" else torch.float32
        vectors = torch.zeros((len(offsets) - 1, self.dimension), dtype=dtype, device=device)
        order, batches = _equal_length_batches(tokens, self._tokenizer.unk_token_id, size)
        order = torch.from_numpy(order).to(device)
        for start, end, length in batches:
            batch = order[start:end]

            def fill(first: int, last: int, batch: Any = batch, length: int = length) -> None:
                rows = batch[first:last]
                vectors[rows] = self._forward(ids, own, offsets[rows], length).to(dtype)

            halving_batches(fill, end - start)
        return vectors

    def _tokenize(self, names: Sequence[str]) -> Tokens:
        ids, offsets = flatten(self._ids_of(self._settings.cut(names)))
        own = np.ones(len(ids), bool)
        for special in set(self._tokenizer.all_special_ids) - {self._tokenizer.unk_token_id}:
            own &= ids != special
        return Tokens(ids, own, offsets)

    def _ids_of(self, names: list[str]) -> list[list[int]]:
        """Token ids with special tokens. A compiled tokenizer is called without its slow Python wrapper."""
        if not names:
            return []
        if self._tokenizer.is_fast:
            return [encoding.ids for encoding in self._tokenizer.backend_tokenizer.encode_batch_fast(names)]
        encoded = self._tokenizer(names, truncation=True, max_length=self._max_tokens)
        return list(encoded["input_ids"])

    def _forward(self, ids: Any, own: Any, starts: Any, length: int) -> Any:
        """Vectors `[batch, dimension]` of names with tokens `ids[start : start + length]`."""
        torch = self._torch
        rows = max(len(starts), -(-_LEAST_TOKENS // length))
        filled = starts[torch.arange(rows, device=self._device) % len(starts)]
        places = filled[:, None] + torch.arange(length, device=self._device)
        with torch.inference_mode():
            hidden = self._hidden(ids[places].long()).float()
            pooled = _POOLING[self._settings.pooling](hidden, own[places][..., None])
            return torch.nn.functional.normalize(pooled)[: len(starts)]

    def _hidden(self, ids: Any) -> Any:
        """Hidden states of the chosen layer, `[batch, length, dimension]`."""
        if self._is_last_layer:
            return self._model(ids).last_hidden_state
        return self._model(ids, output_hidden_states=True).hidden_states[self._settings.layer]


_POOLING = {
    "max": lambda hidden, own: hidden.masked_fill(~own, float("-inf")).amax(dim=1),
    "mean": lambda hidden, own: (hidden * own).sum(dim=1) / own.sum(dim=1),
    "cls": lambda hidden, own: hidden[:, 0],
}
"""From hidden states `[batch, length, dimension]`; `own[batch, length, 1]` marks the name's own tokens."""


def _equal_length_batches(
    tokens: Tokens, unknown: int | None, size: int
) -> tuple[Int64, list[tuple[int, int, int]]]:
    """The readable names by length, and `(start, end, length)` of batches of at most `size` tokens."""
    known = np.concatenate([[0], np.cumsum(tokens.own & (tokens.ids != unknown))])
    readable = np.flatnonzero(np.diff(known[tokens.offsets]) > 0)
    lengths = np.diff(tokens.offsets)[readable]
    order = np.argsort(lengths, kind="stable")
    bounds = np.searchsorted(lengths[order], np.arange(lengths.max(initial=0) + 2))
    batches = []
    for length, (first, last) in enumerate(pairwise(bounds.tolist())):
        rows = max(1, size // max(length, 1))
        batches += [(start, min(start + rows, last), length) for start in range(first, last, rows)]
    return readable[order], batches


def _read_checkpoint(folder: Path, dtype: Any) -> tuple[Any, Any]:
    """Tokenizer and model; a checkpoint that lacks weights is refused."""
    transformers = optional("transformers", "encoders", "the encoder bert")
    with loading_checkpoint(folder):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, report = transformers.AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=dtype, output_loading_info=True
        )
        missing = [name for name in report["missing_keys"] if "pooler" not in name]
        if missing:
            raise ValueError(f"{len(missing)} weights are missing, such as {min(missing)}")
    return tokenizer, model
