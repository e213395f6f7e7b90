"""On every kind of data, the default is at least as good as its own names alone."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from largeea import align
from largeea.config import Config
from largeea.datasets.demo import demo_pair
from largeea.errors import LargeEAWarning
from largeea.evaluation import evaluate
from largeea.formats import read
from largeea.formats.links import read_links, resolve
from largeea.graph import KnowledgeGraph, Links, Pair

FLOORS = {"anatomy": 0.89, "sabine": 0.85, "restaurants": 0.98, "ids15k_en_de_v1": 0.985, "demo": 0.92}
"""F1 of accepted pairs that the default must reach. Chance moves that of anatomy by .01."""
COMPLETE = ("anatomy",)
"""Data whose reference holds all links, so that every accepted pair is judged, not only those at its ends."""


def load(name: str, data: Path) -> tuple[KnowledgeGraph | Path, KnowledgeGraph | Path, Links | Path]:
    if name == "demo":
        pair = demo_pair(("en", "fr"), 0)
    elif (data / name).is_dir():
        found = read(data / name)
        assert isinstance(found, Pair)
        pair = found
    else:
        folder = data / "real_rdf" / name
        return folder / "source.rdf.gz", folder / "target.rdf.gz", folder / "reference.rdf.gz"
    return pair.source, pair.target, pair.links


@pytest.mark.parametrize("name", FLOORS)
def test_f1_of_accepted_pairs(name: str, shared_data: Path) -> None:
    source, target, links = load(name, shared_data)
    f1 = []
    for config in (Config(), Config(without=("evidence",))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LargeEAWarning)
            answer = align(source, target, config=config)
        truth = resolve(read_links(links), answer.source, answer.target) if isinstance(links, Path) else links
        f1.append(evaluate(answer, truth)["alignment" if name in COMPLETE else "linked_ends"]["f1"])
    assert f1[0] >= f1[1]
    assert f1[0] >= FLOORS[name]
