"""What every encoder shares: the protocol, the settings, optional libraries and the identity of weights."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from largeea.errors import UsageError
from largeea.graph import Bool, Float32

Prepared = TypeVar("Prepared")


class Encoder(Protocol):
    """Turns names into vectors whose inner product is their semantic similarity.

    A vector depends on its name alone, not on the other names of the call. A name that the encoder can read
    nothing from, such as a blank one, has the zero vector: it resembles no other, not even a like one.
    """

    @property
    def dimension(self) -> int:
        """Length of the vectors."""

    @property
    def fingerprint(self) -> str:
        """Equal for encoders that give equal vectors: a hash over weights and settings, for caching."""

    def encode(self, names: Sequence[str]) -> Float32:
        """Rows of length 1 (or 0), `[n, dimension]`."""


@dataclass(frozen=True)
class EncoderSettings:
    """How to run an encoder.

    `max_tokens` cuts longer names, special tokens counted. `batch_tokens` bounds the tokens computed at once
    (None: as suits the device). `precision`, `pooling` and `layer` (0: the token embeddings, -1: the last)
    are for the encoders that have a choice there.
    """

    device: str = "auto"
    precision: str = "fp32"
    pooling: str = "max"
    layer: int = -1
    max_tokens: int = 128
    batch_tokens: int | None = None

    def __post_init__(self) -> None:
        choices = {"precision": ("fp32", "bf16"), "pooling": ("max", "mean", "cls")}
        for option, allowed in choices.items():
            if getattr(self, option) not in allowed:
                raise UsageError(f"{option} {getattr(self, option)!r} is none of {', '.join(allowed)}")
        if self.device not in ("auto", "cpu") and self.device.partition(":")[0] != "cuda":
            raise UsageError(f"device {self.device!r} is none of auto, cpu, cuda, cuda:N")
        for option, least in (("max_tokens", 3), ("batch_tokens", 1)):
            value = getattr(self, option)
            if value is not None and value < least:
                raise UsageError(f"{option} must be at least {least}, not {value}")

    def tokens_at_once(self, device: str) -> int:
        """How many tokens make a batch on a device of that type."""
        return self.batch_tokens or {"cpu": 8192, "cuda": 65_536}[device]

    def cut(self, names: Sequence[str]) -> list[str]:
        """Names without the text that can only come after `max_tokens`: no tokenizer has to see it."""
        return [name[: 64 * self.max_tokens] for name in names]


def optional(module: str, extra: str) -> Any:
    """The module, which comes with the extra `largeea[extra]`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"this encoder needs the Python package {error.name!r}, which is not installed: "
            f"pip install 'largeea[{extra}]'"
        ) from error


def torch_device(name: str) -> Any:
    """The torch device of that name; "auto" is CUDA where there is one."""
    torch = optional("torch", "encoders")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise UsageError(f"device {name!r} is not there: torch sees {count} CUDA devices; use cpu or auto")
    return device


def torch_dtype(precision: str) -> Any:
    """The torch type of "fp32" or "bf16"."""
    torch = optional("torch", "encoders")
    return {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]


def prepared_blocks(
    names: Sequence[str], size: int, prepare: Callable[[Sequence[str]], Prepared]
) -> Iterator[tuple[slice, Prepared]]:
    """Blocks of names with what `prepare` makes of each: the next block is prepared while one is in use."""
    blocks = [slice(start, start + size) for start in range(0, len(names), size)]
    with ThreadPoolExecutor(1) as worker:
        upcoming = [worker.submit(prepare, names[block]) for block in blocks[:1]]
        for block, following in zip_longest(blocks, blocks[1:]):
            prepared = upcoming.pop().result()
            if following is not None:
                upcoming.append(worker.submit(prepare, names[following]))
            yield block, prepared


def content_hash(files: Iterable[Path], *settings: object) -> str:
    """SHA-256 over the contents of files, in order, and over settings."""
    digest = hashlib.sha256(repr(settings).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def not_blank(names: Sequence[str]) -> Bool:
    """Which names have anything but white space in them, `[n]`."""
    return np.fromiter(map(bool, map(str.strip, names)), bool, len(names))
