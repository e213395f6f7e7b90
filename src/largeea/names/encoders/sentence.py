"""`sentence-transformers:PATH_OR_ID`: a model of the sentence-transformers library, with its own pooling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import compress
from pathlib import Path

import numpy as np

from largeea.graph import Float32
from largeea.names.encoders.base import (
    EncoderSettings,
    content_hash,
    not_blank,
    optional,
    torch_device,
    torch_dtype,
)
from largeea.names.encoders.checkpoint import checkpoint_files, checkpoint_folder, usable_checkpoint
from largeea.vectors import unit_rows


def load(argument: str, settings: EncoderSettings) -> SentenceEncoder:
    """The encoder of a model given by path or id."""
    return SentenceEncoder(checkpoint_folder(argument), settings)


class SentenceEncoder:
    """A sentence-transformers model on CPU or CUDA, in fp32 or bf16."""

    def __init__(self, folder: Path, settings: EncoderSettings) -> None:
        library = optional("sentence_transformers", "encoders")
        self._folder, self._settings = folder, settings
        self._device = torch_device(settings.device)
        with usable_checkpoint(folder):
            self._model = library.SentenceTransformer(
                str(folder),
                device=str(self._device),
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": torch_dtype(settings.precision)},
            )
        longest = self._model.max_seq_length or settings.max_tokens
        self._model.max_seq_length = min(longest, settings.max_tokens)

    @property
    def dimension(self) -> int:
        """Length of the vectors the model gives."""
        return int(self._model.get_embedding_dimension())

    @cached_property
    def fingerprint(self) -> str:
        """Hash over the model's files and the settings that change vectors."""
        settings = ("sentence-transformers", self._settings.precision, self._model.max_seq_length)
        return content_hash(checkpoint_files(self._folder), *settings)

    def encode(self, names: Sequence[str]) -> Float32:
        """Unit vectors `[n, dimension]`; zeros for a blank name."""
        vectors = np.zeros((len(names), self.dimension), np.float32)
        written = not_blank(names)
        if written.any():
            encoded = self._model.encode(
                self._settings.cut(list(compress(names, written))),
                batch_size=max(
                    1, self._settings.tokens_at_once(self._device.type) // self._model.max_seq_length
                ),
                show_progress_bar=False,
            )
            vectors[written] = unit_rows(encoded)
        return vectors
