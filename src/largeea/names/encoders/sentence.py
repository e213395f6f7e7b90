"""`sentence-transformers:PATH_OR_ID`: a model of the sentence-transformers library, with its own pooling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import compress

import numpy as np

from largeea.execution.devices import torch_device
from largeea.graph import Float32
from largeea.names.encoders.base import (
    EncoderSettings,
    content_hash,
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
from largeea.search.vectors import unit_rows


class SentenceEncoder:
    """A sentence-transformers model on CPU or CUDA. Uses the settings `dtype` and `max_tokens`.

    The library pads the names of a batch to one length, so a vector varies with its neighbours by rounding.
    """

    def __init__(self, argument: str, settings: EncoderSettings) -> None:
        folder = checkpoint_folder(argument)
        library = optional("sentence_transformers", "encoders", "the encoder sentence-transformers")
        self._argument, self._settings = argument, settings
        self._device = torch_device("encoders")
        with loading_checkpoint(folder):
            self._model = library.SentenceTransformer(
                str(folder),
                device=str(self._device),
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": torch_dtype(settings, self._device)},
            )
        longest = self._model.max_seq_length or settings.max_tokens
        self._model.max_seq_length = min(longest, settings.max_tokens)

    @staticmethod
    def fingerprint_of(argument: str, settings: EncoderSettings) -> str:
        """Hash of the checkpoint's files and of the settings that change vectors; loads no model."""
        files = checkpoint_files(checkpoint_folder(argument))
        return content_hash(files, "sentence-transformers", settings.dtype, settings.max_tokens)

    @staticmethod
    def dimension_of(argument: str) -> int | None:
        """Width of the transformer, read from a checkpoint on this machine; loads no model."""
        return checkpoint_width(argument)

    @cached_property
    def fingerprint(self) -> str:
        """See `fingerprint_of`."""
        return self.fingerprint_of(self._argument, self._settings)

    @property
    def dimension(self) -> int:
        """Length of the model's vectors."""
        return int(self._model.get_embedding_dimension())

    def encode(self, names: Sequence[str]) -> Float32:
        """Unit vectors `[n, dimension]`; zeros for a blank name."""
        vectors = np.zeros((len(names), self.dimension), np.float32)
        has_text = np.fromiter((bool(name.strip()) for name in names), bool, len(names))
        texts = self._settings.cut(list(compress(names, has_text)))
        rows = np.flatnonzero(has_text)

        def fill(first: int, last: int) -> None:
            vectors[rows[first:last]] = unit_rows(self._library_vectors(texts[first:last]))

        with torch_threads():
            halving_batches(fill, len(texts))
        return vectors

    def _library_vectors(self, texts: list[str]) -> Float32:
        tokens_at_once = self._settings.tokens_at_once(self._device.type)
        size = max(1, min(len(texts), tokens_at_once // self._model.max_seq_length))
        return np.asarray(self._model.encode(texts, batch_size=size, show_progress_bar=False))
