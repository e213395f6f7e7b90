"""Runs to report on: one that was computed, and some that are written by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea.cli import run as largeea
from largeea.config import Config
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.matching.alignment import Alignment
from largeea.runs.folder import Run
from largeea.similarity import Similarity


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of `largeea demo`; `pair/ent_links` in it are the true links."""
    folder = tmp_path_factory.mktemp("report") / "demo"
    assert largeea(["demo", "-o", str(folder), "-q"]) == 0
    return folder


def graph(side: str, names: list[str | None], triples: Any = ()) -> KnowledgeGraph:
    """Entities `http://SIDE/0`, ... with these names, and one relation."""
    iris = strings(f"http://{side}/{place:07d}" for place in range(len(names)))
    return KnowledgeGraph(iris, strings(names), strings([f"http://{side}/knows"]), np.array(triples))


def reader() -> None:
    """Stands for whatever made a stage of a run that is written by hand."""


def stored(
    folder: Path, alignment: Alignment, seeds: Links | None = None, config: Any = None, **stages: Any
) -> Path:
    """Write a finished run with this answer; `_` in the name of another stage stands for `-`."""
    shape = alignment.source.size, alignment.target.size
    parts = {
        "source": alignment.source,
        "target": alignment.target,
        "given_seeds": seeds or Links.none(),
        "same_iri": alignment.same,
        "fused": Similarity.empty(shape),
        "alignment": alignment.to_arrays(),
    } | stages
    with Run(folder) as made:
        made.begin(config or Config())
        made.finish(
            [
                made.stage.given(name.replace("_", "-"), name, lambda value=value: value, reader)
                for name, value in parts.items()
            ]
        )
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Callable[..., Path]:
    """`store(alignment, ...)` writes a run into a new folder and returns the folder."""
    made: list[Path] = []

    def write(alignment: Alignment, **parts: Any) -> Path:
        made.append(stored(tmp_path / f"run{len(made)}", alignment, **parts))
        return made[-1]

    return write
