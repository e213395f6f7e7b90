"""Estimates of memory: they grow with what they depend on, and never below what a stage surely holds."""

from __future__ import annotations

import pytest

from largeea.config import NamesConfig
from largeea.names.augment import augment_memory
from largeea.names.blocks import weighted_mean_memory
from largeea.names.rows import name_rows_memory
from largeea.names.semantic import (
    encode_names_memory,
    ngram_similarity_memory,
    vector_similarity_memory,
)
from largeea.names.sizes import feature_stages
from largeea.names.strings import string_memory

MILLION = 1_000_000
ESTIMATES = [
    (name_rows_memory, (MILLION, 20 * MILLION)),
    (lambda *sizes: ngram_similarity_memory(*sizes, 2, 4, 2), (MILLION, MILLION, 40 * MILLION, 50)),
    (encode_names_memory, (MILLION, MILLION, 512)),
    (lambda *sizes: vector_similarity_memory(*sizes, "cosine", "exact", 2), (MILLION, MILLION, 512, 50)),
    (lambda *sizes: vector_similarity_memory(*sizes, "manhattan", "auto", 2), (MILLION, MILLION, 512, 50)),
    (weighted_mean_memory, (MILLION, 50, 2)),
    (lambda *sizes: string_memory(*sizes, 0.5, 2), (MILLION, MILLION, 40 * MILLION)),
    (augment_memory, (50 * MILLION,)),
]


@pytest.mark.parametrize(("estimate", "sizes"), ESTIMATES)
def test_more_needs_no_less(estimate, sizes) -> None:
    assert estimate(*sizes) < estimate(*(2 * size for size in sizes))
    for place in range(len(sizes)):
        more = [2 * size if i == place else size for i, size in enumerate(sizes)]
        assert estimate(*more) >= estimate(*sizes)


def test_results_and_indexes_are_counted() -> None:
    result = 8 * 50 * MILLION
    assert ngram_similarity_memory(MILLION, MILLION, 40 * MILLION, 50, 2, 4, 2) > result + 12 * 80 * MILLION
    assert vector_similarity_memory(MILLION, MILLION, 512, 50, "cosine", "exact", 2) > 2 * result
    approximate = vector_similarity_memory(MILLION, MILLION, 512, 50, "cosine", "approximate", 2)
    assert approximate > 2 * result + 4 * 512 * MILLION
    spelling = string_memory(MILLION, MILLION, 40 * MILLION, 0.5, 2)
    assert spelling > 625 * MILLION
    assert string_memory(MILLION, MILLION, 40 * MILLION, 0.8, 2) < spelling - 300 * MILLION


@pytest.mark.parametrize(
    ("encoder", "stages"),
    [
        ("ngram", ["ngrams", "semantic", "strings"]),
        ("use-multilingual", ["ngrams", "vectors", "by-vectors", "by-ngrams", "semantic", "strings"]),
    ],
)
def test_every_stage_is_planned(encoder: str, stages: list[str]) -> None:
    rows = list(feature_stages((1000, 900), (20_000, 18_000), NamesConfig(encoder=encoder), threads=2))
    assert [row[0] for row in rows] == stages
    assert all(memory > 0 and disk > 0 and seconds > 0 for _, memory, disk, seconds in rows)
