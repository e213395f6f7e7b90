"""`bert:PATH_OR_ID`: any BERT-like checkpoint of Hugging Face, max-pooled over the name's own tokens.

The paper's semantic encoder (SENS): BERT tokens, max-pooling, length 1. Special tokens are left out of the
pooling, and only names of equal length share a batch, so nothing is ever padded: a name's vector does not
depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from largeea.errors import UsageError
from largeea.graph import Bool, Float32, Int32, Int64
from largeea.names.encoders.base import (
    EncoderSettings,
    content_hash,
    optional,
    prepared_blocks,
    torch_device,
    torch_dtype,
)
from largeea.names.encoders.checkpoint import checkpoint_files, checkpoint_folder, usable_checkpoint

_BLOCK = 524_288
"""Names that are batched together: many, so that those of a rare length still find company."""
_NAMES_PER_CALL = 16_384
"""Names the tokenizer gets at once; what it makes of them is a hundred times as large as the ids alone."""


def load(argument: str, settings: EncoderSettings) -> TransformerEncoder:
    """The encoder of a checkpoint given by path or id."""
    return TransformerEncoder(checkpoint_folder(argument), settings)


class Tokens(NamedTuple):
    """Token ids of names: name i has `ids[offsets[i]:offsets[i + 1]]`; `own` is false for special tokens."""

    ids: Int32
    own: Bool
    offsets: Int64


class TransformerEncoder:
    """A transformer on CPU or CUDA, in fp32 or bf16 (then neighbours may shift a vector by its rounding)."""

    def __init__(self, folder: Path, settings: EncoderSettings) -> None:
        self._torch = optional("torch", "encoders")
        self._folder, self._settings = folder, settings
        self._device = torch_device(settings.device)
        self._tokenizer, self._model = _read_checkpoint(folder, torch_dtype(settings.precision))
        self._model.to(self._device).eval()
        layers = self._model.config.num_hidden_layers
        if not -layers - 1 <= settings.layer <= layers:
            raise UsageError(
                f"layer {settings.layer} is not there: {folder} has layers 0 (embeddings) to {layers}"
            )
        self._is_last_layer = settings.layer in (-1, layers)
        self._max_tokens = min(settings.max_tokens, self._tokenizer.model_max_length)
        if self._tokenizer.is_fast:
            self._tokenizer.backend_tokenizer.no_padding()
            self._tokenizer.backend_tokenizer.enable_truncation(self._max_tokens)

    @property
    def dimension(self) -> int:
        """Width of the transformer, 768 for the base size."""
        return int(self._model.config.hidden_size)

    @cached_property
    def fingerprint(self) -> str:
        """Hash over the checkpoint's files and the settings that change vectors."""
        chosen = self._settings
        settings = ("bert", chosen.precision, chosen.pooling, chosen.layer, self._max_tokens)
        return content_hash(checkpoint_files(self._folder), *settings)

    def encode(self, names: Sequence[str]) -> Float32:
        """Unit vectors `[n, dimension]`; zeros for a name without a single known token."""
        vectors = np.zeros((len(names), self.dimension), np.float32)
        size = self._settings.tokens_at_once(self._device.type)
        for block, tokens in prepared_blocks(names, _BLOCK, self._tokenise):
            for batch in _equal_length_batches(tokens, self._tokenizer.unk_token_id, size):
                vectors[block][batch] = self._forward(tokens, batch)
        return vectors

    def _tokenise(self, names: Sequence[str]) -> Tokens:
        ids, lengths = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
        for start in range(0, len(names), _NAMES_PER_CALL):
            lists = self._ids_of(self._settings.cut(names[start : start + _NAMES_PER_CALL]))
            lengths.append(np.fromiter(map(len, lists), np.int64, len(lists)))
            ids.append(np.fromiter(chain.from_iterable(lists), np.int32, lengths[-1].sum()))
        flat = np.concatenate(ids)
        special = set(self._tokenizer.all_special_ids) - {self._tokenizer.unk_token_id}
        return Tokens(flat, ~np.isin(flat, list(special)), np.cumsum(np.concatenate(lengths)))

    def _ids_of(self, names: list[str]) -> list[list[int]]:
        """Token ids with special tokens; compiled tokenizers are asked directly, past their slow wrapper."""
        if self._tokenizer.is_fast:
            return [encoding.ids for encoding in self._tokenizer.backend_tokenizer.encode_batch_fast(names)]
        encoded = self._tokenizer(names, truncation=True, max_length=self._max_tokens)
        return list(encoded["input_ids"])

    def _forward(self, tokens: Tokens, batch: Int64) -> Float32:
        """Vectors `[batch, dimension]` of names that are all of one length."""
        torch = self._torch
        length = tokens.offsets[batch[0] + 1] - tokens.offsets[batch[0]]
        places = tokens.offsets[batch][:, None] + np.arange(length)
        ids = torch.from_numpy(tokens.ids[places]).to(self._device, torch.int64)
        own = torch.from_numpy(tokens.own[places]).to(self._device)[..., None]
        with torch.inference_mode():
            pooled = _POOLING[self._settings.pooling](self._hidden(ids).float(), own)
            vectors: Float32 = torch.nn.functional.normalize(pooled).cpu().numpy()
        return vectors

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
"""Of hidden states `[batch, length, dimension]`; `own[batch, length, 1]` are the name's own tokens."""


def _equal_length_batches(tokens: Tokens, unknown: int | None, size: int) -> Iterator[Int64]:
    """Positions of names of equal length, at most `size` tokens together; unreadable names are in none."""
    known = np.concatenate([[0], np.cumsum(tokens.own & (tokens.ids != unknown))])
    readable = np.diff(known[tokens.offsets]) > 0
    lengths = np.diff(tokens.offsets)
    for length in np.unique(lengths[readable]):
        names = np.flatnonzero(readable & (lengths == length))
        rows = max(1, size // int(length))
        yield from (names[start : start + rows] for start in range(0, len(names), rows))


def _read_checkpoint(folder: Path, dtype: Any) -> tuple[Any, Any]:
    transformers = optional("transformers", "encoders")
    with usable_checkpoint(folder):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, report = transformers.AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=dtype, output_loading_info=True
        )
        missing = [name for name in report["missing_keys"] if "pooler" not in name]
        if missing:
            raise ValueError(f"{len(missing)} weights are missing, such as {min(missing)}")
    return tokenizer, model
