"""What all encoders share: the protocol, the settings, and helpers for model files, tokens and torch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from largeea.errors import UsageError
from largeea.execution import current
from largeea.graph import Float32, Int32, Int64
from largeea.hashing import file_hash
from largeea.plugins import not_installed, optional

Float16 = npt.NDArray[np.float16]
TOKENS_AT_ONCE = {"cpu": 8192, "cuda": 65_536}
"""Tokens of a batch, by device."""
BYTES_PER_TOKEN = 110
"""GPU memory for each token of a batch and dimension of its vector; 107 were measured with MiniLM."""


class Encoder(Protocol):
    """Turns names into vectors whose inner product is their semantic similarity.

    A vector depends on its name alone, not on the other names of the call. A name from which the encoder can
    read nothing, such as a blank one, has the zero vector: its similarity to every other name is 0.
    """

    @property
    def dimension(self) -> int:
        """Length of the vectors."""

    @property
    def fingerprint(self) -> str:
        """Equal for encoders that give equal vectors: a hash of weights, tokenizer and settings."""

    def encode(self, names: Sequence[str]) -> Float32 | Float16:
        """Vectors `[n, dimension]`; each has length 1, or 0 if nothing could be read.

        They are stored in half precision, so an encoder on a GPU may return them so.
        """


@dataclass(frozen=True)
class EncoderSettings:
    """Settings of an encoder; each encoder uses those that apply to it.

    dtype: number format of the computation, "fp32", "bf16", or "auto": bf16 on a GPU, else fp32.
    pooling: how token vectors become one vector, "max", "mean" or "cls".
    layer: the hidden layer to pool; 0 is the token embeddings, -1 the last layer.
    max_tokens: longer names are cut, special tokens included.
    batch_tokens: tokens computed at once; None chooses by device. Does not change the vectors.
    """

    dtype: str = "auto"
    pooling: str = "max"
    layer: int = -1
    max_tokens: int = 128
    batch_tokens: int | None = None

    def __post_init__(self) -> None:
        choices = {"dtype": ("auto", "fp32", "bf16"), "pooling": ("max", "mean", "cls")}
        for option, allowed in choices.items():
            if getattr(self, option) not in allowed:
                raise UsageError(f"{option} = {getattr(self, option)!r}: give one of {', '.join(allowed)}")
        for option, least in (("max_tokens", 3), ("batch_tokens", 1)):
            value = getattr(self, option)
            if value is not None and value < least:
                raise UsageError(f"{option} = {value}: give at least {least}")

    def tokens_at_once(self, device: str) -> int:
        """Number of tokens in a batch on a device of type "cpu" or "cuda"."""
        return self.batch_tokens or TOKENS_AT_ONCE[device]

    def cut(self, names: Sequence[str]) -> list[str]:
        """Names without the text that certainly lies beyond `max_tokens`, so tokenizers need not read it."""
        return [name[: 64 * self.max_tokens] for name in names]


def flatten(tokens: Sequence[Sequence[int]]) -> tuple[Int32, Int64]:
    """`(ids, offsets)` of token lists: list i is `ids[offsets[i]:offsets[i + 1]]`."""
    offsets = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)), out=offsets[1:])
    return np.fromiter(chain.from_iterable(tokens), np.int32, offsets[-1]), offsets


def encoder_gpu_memory(dimension: int) -> int:
    """Bytes that an encoder of vectors of this length takes on a GPU, for the planner."""
    return BYTES_PER_TOKEN * TOKENS_AT_ONCE["cuda"] * dimension


def torch_dtype(settings: EncoderSettings, device: Any) -> Any:
    """The torch type that an encoder computes with on a device."""
    torch = optional("torch", "encoders", "this encoder")
    on_gpu = torch.bfloat16 if device.type == "cuda" else torch.float32
    return {"auto": on_gpu, "fp32": torch.float32, "bf16": torch.bfloat16}[settings.dtype]


def halving_batches(work: Callable[[int, int], None], rows: int) -> None:
    """`work(0, rows)`, or the same in smaller blocks if a GPU runs out of memory."""
    from largeea.execution.devices import in_blocks

    in_blocks(work, rows, rows)


@contextmanager
def torch_threads() -> Iterator[None]:
    """Inside this context, torch uses as many threads as the execution settings allow."""
    torch = optional("torch", "encoders", "this encoder")
    before = torch.get_num_threads()
    torch.set_num_threads(current().thread_count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def package_folder(module: str, what: str, extra: str) -> Path:
    """The folder of an installed package that carries weights; the package is not imported."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise not_installed(what, module, extra)
    return Path(spec.origin).parent


def content_hash(files: Iterable[Path], *settings: object) -> str:
    """SHA-256 of the names and contents of files, in order, and of settings."""
    contents = [(path.name, file_hash(path)) for path in files]
    return hashlib.sha256(repr((settings, contents)).encode()).hexdigest()
