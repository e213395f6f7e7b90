from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea.errors import InputError, UsageError
from largeea.execution import Execution, executing
from largeea.names.encoders import load_encoder
from largeea.names.encoders.base import EncoderSettings, torch_dtype
from largeea.names.encoders.transformer import _PIECE

NAMES = ["Berlin", "Kim Dae-jung", "National Front (France)", "a", "The Lord of the Rings: The Two Towers"]


@pytest.fixture(scope="session")
def parts(torch: Any, tiny_folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_folder), AutoModel.from_pretrained(tiny_folder).eval()


def hidden_states(parts: tuple[Any, Any], torch: Any, name: str, layer: int) -> Any:
    """Hidden states `[tokens, 32]` of one name, with its special tokens."""
    tokenizer, model = parts
    with torch.inference_mode():
        output = model(**tokenizer(name, return_tensors="pt"), output_hidden_states=True)
    return output.hidden_states[layer][0].numpy()


@pytest.mark.parametrize("layer", [-1, 3, 0, 1, -2])
def test_max_over_the_names_own_tokens(tiny_folder: Path, parts: Any, torch: Any, layer: int) -> None:
    vectors = load_encoder(f"bert:{tiny_folder}", layer=layer).encode(NAMES)
    expected = np.vstack([hidden_states(parts, torch, name, layer)[1:-1].max(axis=0) for name in NAMES])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("pooling", "pool"), [("mean", lambda h: h[1:-1].mean(axis=0)), ("cls", lambda h: h[0])]
)
def test_other_poolings(tiny_folder: Path, parts: Any, torch: Any, pooling: str, pool: Any) -> None:
    vectors = load_encoder(f"bert:{tiny_folder}", pooling=pooling).encode(NAMES)
    expected = np.vstack([pool(hidden_states(parts, torch, name, -1)) for name in NAMES])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_same_vectors_as_a_padded_and_masked_batch(tiny_folder: Path, parts: Any, torch: Any) -> None:
    tokenizer, model = parts
    batch = tokenizer(NAMES, padding=True, return_special_tokens_mask=True, return_tensors="pt")
    special = batch.pop("special_tokens_mask").bool()
    with torch.inference_mode():
        hidden = model(**batch).last_hidden_state.masked_fill(special[..., None], -torch.inf)
    expected = torch.nn.functional.normalize(hidden.amax(dim=1)).numpy()
    vectors = load_encoder(f"bert:{tiny_folder}").encode(NAMES)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_small_batches_give_the_same(tiny_folder: Path) -> None:
    names = [f"{name} {i}" for i in range(20) for name in NAMES]
    whole = load_encoder(f"bert:{tiny_folder}").encode(names)
    pieces = load_encoder(f"bert:{tiny_folder}", batch_tokens=16).encode(names)
    np.testing.assert_allclose(whole, pieces, atol=1e-5)


class WithoutCompiledTokenizer:
    """A tokenizer that has no compiled version."""

    is_fast = False

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def __call__(self, *names: Any, **options: Any) -> Any:
        return self._tokenizer(*names, **options)

    def __getattr__(self, name: str) -> Any:
        if name == "backend_tokenizer":
            raise AttributeError(name)
        return getattr(self._tokenizer, name)


def test_tokenizers_in_python_give_the_same(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoTokenizer

    compiled = load_encoder(f"bert:{tiny_folder}", max_tokens=8).encode(NAMES)
    tokenizer = WithoutCompiledTokenizer(AutoTokenizer.from_pretrained(tiny_folder))
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", lambda *_, **__: tokenizer)
    python = load_encoder(f"bert:{tiny_folder}", max_tokens=8).encode(NAMES)
    np.testing.assert_allclose(python, compiled, atol=1e-6)


def test_names_of_unknown_tokens_have_the_zero_vector(tiny_folder: Path) -> None:
    vectors = load_encoder(f"bert:{tiny_folder}").encode(["😀", "", "\u200b", "😀 x", "[SEP]"])
    assert vectors.any(axis=1).tolist() == [False, False, False, True, False]


def test_names_are_cut_at_max_tokens(tiny_folder: Path) -> None:
    short = load_encoder(f"bert:{tiny_folder}", max_tokens=5)
    one, other, third = short.encode(["one two three four", "one two three five", "one two four"])
    np.testing.assert_array_equal(one, other)
    assert np.abs(one - third).max() > 1e-3


def test_bf16_is_near_fp32(tiny_folder: Path) -> None:
    fp32 = load_encoder(f"bert:{tiny_folder}").encode(NAMES)
    bf16 = load_encoder(f"bert:{tiny_folder}", dtype="bf16").encode(NAMES)
    assert (fp32 * bf16).sum(axis=1).min() > 0.999
    assert np.abs(fp32 - bf16).max() > 0


def test_bundled_minilm_knows_english(minilm_folder: Path) -> None:
    encoder = load_encoder("bert:minilm", pooling="mean")
    vectors = encoder.encode(["Germany", "Deutschland", "capital city", "metropolis", "banana"])
    similarity = vectors @ vectors.T
    assert encoder.dimension == 384
    assert similarity[0, 1] > 0.6 > similarity[0, 4] + 0.3
    assert similarity[2, 3] > similarity[2, 4] + 0.2


def test_awkward_names_do_not_disturb_their_neighbours(minilm_folder: Path, awkward_names: list[str]) -> None:
    encoder = load_encoder("bert:minilm")
    alone = encoder.encode(NAMES)
    among = encoder.encode([*awkward_names, *NAMES, "x y " * 250_000])
    np.testing.assert_allclose(among[len(awkward_names) : -1], alone, atol=1e-5)


def test_the_fingerprint_tells_weights_and_settings_apart(tiny_folder: Path, tmp_path: Path) -> None:
    def fingerprint(folder: Path, **settings: Any) -> str:
        return load_encoder(f"bert:{folder}", **settings).fingerprint

    copy = shutil.copytree(tiny_folder, tmp_path / "copy")
    assert fingerprint(copy) == fingerprint(tiny_folder)
    seen = {
        fingerprint(copy),
        fingerprint(copy, pooling="mean"),
        fingerprint(copy, layer=1),
        fingerprint(copy, dtype="bf16"),
        fingerprint(copy, max_tokens=20),
    }
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert len(seen | {fingerprint(copy)}) == 6


def test_a_layer_that_is_not_there(tiny_folder: Path) -> None:
    with pytest.raises(UsageError, match=r"layer = 4: .* layers 0 \(embeddings\) to 3"):
        load_encoder(f"bert:{tiny_folder}", layer=4)


def test_a_checkpoint_without_all_weights_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "short")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 4}))
    with pytest.raises(InputError, match=r"weights are missing, such as encoder\.layer\.3"):
        load_encoder(f"bert:{folder}")


@pytest.mark.parametrize("broken", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_damaged_checkpoint_is_an_input_error(tiny_folder: Path, tmp_path: Path, broken: str) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "damaged")
    (folder / broken).write_bytes(b'{"not": ')
    with pytest.raises(InputError, match="cannot be used as a checkpoint") as error:
        load_encoder(f"bert:{folder}")
    assert error.value.path == folder


def test_weights_as_pickles_are_refused(torch: Any, tiny_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "pickled")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"model\.safetensors"):
        load_encoder(f"bert:{folder}")


def test_a_device_that_is_not_there(torch: Any, tiny_folder: Path) -> None:
    count = torch.cuda.device_count()
    missing = executing(Execution(device=f"cuda:{count}"))
    with missing, pytest.raises(UsageError, match=f"torch sees {count} CUDA devices"):
        load_encoder(f"bert:{tiny_folder}")


def test_torch_uses_the_threads_of_the_execution_settings(
    torch: Any, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder: Any = load_encoder(f"bert:{tiny_folder}")
    before, seen, forward = torch.get_num_threads(), [], encoder._forward
    monkeypatch.setattr(encoder, "_forward", lambda *a: seen.append(torch.get_num_threads()) or forward(*a))
    vectors = []
    for threads in (1, 3):
        with executing(Execution(device="cpu", threads=threads)):
            vectors.append(encoder.encode(["Berlin"]))
    assert seen == [1, 3]
    assert torch.get_num_threads() == before
    np.testing.assert_allclose(*vectors, atol=1e-6)


def test_pieces_and_a_small_gpu_give_the_same(
    torch: Any, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{name} {i}" for i in range(20) for name in NAMES]
    encoder: Any = load_encoder(f"bert:{tiny_folder}")
    whole, forward, rows = encoder.encode(names), encoder._forward, []

    def short_of_memory(ids: Any, own: Any, starts: Any, length: int) -> Any:
        if len(starts) > 3:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        rows.append(len(starts))
        return forward(ids, own, starts, length)

    monkeypatch.setattr(encoder, "_forward", short_of_memory)
    monkeypatch.setitem(_PIECE, "cpu", 50)
    np.testing.assert_allclose(encoder.encode(names), whole, atol=1e-5)
    assert sum(rows) == 100


def test_auto_is_fp32_on_a_cpu_and_bf16_on_a_gpu(torch: Any) -> None:
    auto = EncoderSettings()
    assert torch_dtype(auto, torch.device("cpu")) is torch.float32
    assert torch_dtype(auto, torch.device("cuda")) is torch.bfloat16
    assert torch_dtype(EncoderSettings("fp32"), torch.device("cuda")) is torch.float32
