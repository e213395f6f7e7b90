from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea.names.encoders import Encoder, load_encoder

pytest.importorskip("sentence_transformers", reason="needs the extra 'encoders'")


@pytest.fixture(scope="module")
def encoder(minilm_folder: Path) -> Encoder:
    return load_encoder("sentence-transformers:minilm")


def test_same_vectors_as_the_library(encoder: Encoder, minilm_folder: Path, awkward_names: list[str]) -> None:
    from sentence_transformers import SentenceTransformer

    names = ["Germany", "Kim Dae-jung", *awkward_names]
    expected = SentenceTransformer(str(minilm_folder)).encode(names, normalize_embeddings=True)
    np.testing.assert_allclose(encoder.encode(names), expected, atol=1e-5)


def test_known_meanings(encoder: Encoder) -> None:
    vectors = encoder.encode(["Germany", "Deutschland", "banana"])
    similarity = vectors @ vectors.T
    assert similarity[0, 1] > similarity[0, 2] + 0.4
    assert encoder.dimension == 384


def test_bf16_rows_have_length_one(torch: Any, minilm_folder: Path, encoder: Encoder) -> None:
    bf16 = load_encoder("sentence-transformers:minilm", dtype="bf16")
    names = ["Germany", "Deutschland"]
    vectors = bf16.encode(names)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (vectors * encoder.encode(names)).sum(axis=1).min() > 0.99
    assert bf16.fingerprint != encoder.fingerprint
