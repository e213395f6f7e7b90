"""`bert:PATH_OR_ID`: any BERT-like checkpoint of Hugging Face, max-pooled over the name's own tokens.

The paper's semantic encoder (SENS): BERT tokens, max-pooling, unit length. Special tokens are left out of the
pooling. Only names of equal length share a batch, so there is no padding inside a name's row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from largeea.errors import UsageError
from largeea.execution.devices import torch_device
from largeea.graph import Bool, Float32, Int32, Int64
from largeea.names.encoders.base import EncoderSettings, content_hash, flatten, torch_dtype, torch_threads
from largeea.names.encoders.checkpoint import checkpoint_files, checkpoint_folder, loading_checkpoint
from largeea.plugins import optional

_LEAST_TOKENS = 64
"""Smaller batches are filled up with copies: matrix products of a few rows round differently."""


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
        self._tokenizer, self._model = _read_checkpoint(folder, torch_dtype(settings.dtype))
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

    @property
    def dimension(self) -> int:
        """Width of the transformer, 768 for the base size."""
        return int(self._model.config.hidden_size)

    def encode(self, names: Sequence[str]) -> Float32:
        """Unit vectors `[n, dimension]`; zeros for a name without a known token."""
        vectors = np.zeros((len(names), self.dimension), np.float32)
        tokens = self._tokenize(names)
        size = self._settings.tokens_at_once(self._device.type)
        with torch_threads():
            for batch in _equal_length_batches(tokens, self._tokenizer.unk_token_id, size):
                vectors[batch] = self._forward(tokens, batch)
        return vectors

    def _tokenize(self, names: Sequence[str]) -> Tokens:
        ids, offsets = flatten(self._ids_of(self._settings.cut(names)))
        special = set(self._tokenizer.all_special_ids) - {self._tokenizer.unk_token_id}
        return Tokens(ids, ~np.isin(ids, list(special)), offsets)

    def _ids_of(self, names: list[str]) -> list[list[int]]:
        """Token ids with special tokens. A compiled tokenizer is called without its slow Python wrapper."""
        if not names:
            return []
        if self._tokenizer.is_fast:
            return [encoding.ids for encoding in self._tokenizer.backend_tokenizer.encode_batch_fast(names)]
        encoded = self._tokenizer(names, truncation=True, max_length=self._max_tokens)
        return list(encoded["input_ids"])

    def _forward(self, tokens: Tokens, batch: Int64) -> Float32:
        """Vectors `[batch, dimension]` of names that have equal numbers of tokens."""
        torch = self._torch
        length = int(tokens.offsets[batch[0] + 1] - tokens.offsets[batch[0]])
        rows = np.resize(batch, max(len(batch), -(-_LEAST_TOKENS // length)))
        places = tokens.offsets[rows][:, None] + np.arange(length)
        ids = torch.from_numpy(tokens.ids[places]).to(self._device, torch.int64)
        own = torch.from_numpy(tokens.own[places]).to(self._device)[..., None]
        with torch.inference_mode():
            pooled = _POOLING[self._settings.pooling](self._hidden(ids).float(), own)
            vectors: Float32 = torch.nn.functional.normalize(pooled).cpu().numpy()
        return vectors[: len(batch)]

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


def _equal_length_batches(tokens: Tokens, unknown: int | None, size: int) -> Iterator[Int64]:
    """Positions of names with equal numbers of tokens, at most `size` tokens a batch; no unreadable names."""
    known = np.concatenate([[0], np.cumsum(tokens.own & (tokens.ids != unknown))])
    readable = np.diff(known[tokens.offsets]) > 0
    lengths = np.diff(tokens.offsets)
    for length in np.unique(lengths[readable]):
        names = np.flatnonzero(readable & (lengths == length))
        rows = max(1, size // int(length))
        yield from (names[start : start + rows] for start in range(0, len(names), rows))


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
