"""Small finished runs whose links are given as seeds, and merged files loaded into a store."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import largeea
from largeea.formats.streams import open_bytes, plain_suffix

Aligned = Callable[..., Path]
SYNTAXES = {".nt": ox.RdfFormat.N_TRIPLES, ".ttl": ox.RdfFormat.TURTLE, ".nq": ox.RdfFormat.N_QUADS}


@pytest.fixture
def aligned(tmp_path: Path) -> Aligned:
    """`aligned({"a.nt": text}, {"b.ttl": text}, [(source, target), ...])`: the folder of a finished run.

    One file is given as a file, several as a folder. Without a target, the source is a benchmark folder. Only
    the given links are accepted.
    """

    def align(
        source: Mapping[str, str | bytes],
        target: Mapping[str, str | bytes] | None,
        links: list[tuple[str, str]],
        folder: Path = tmp_path,
        cardinality: str = "1:1",
        **reading: Any,
    ) -> Path:
        places = [_written(folder / "s", source), target and _written(folder / "t", target)]
        seeds = folder / "seeds.tsv"
        seeds.write_text("".join(f"{one}\t{other}\n" for one, other in links))
        run = folder / "run"
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*no pair reaches the confidence", largeea.LargeEAWarning)
            largeea.align_files(
                *places,
                run,
                seeds=seeds if links else None,
                config={
                    "without": ["evidence"],
                    "decision": {"threshold": 1.0, "doubtful": 1.0, "cardinality": cardinality},
                },
                reading=largeea.ReadOptions(**reading),
            )
        return run

    return align


def _written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder if len(files) > 1 else folder / next(iter(files))


@pytest.fixture
def loaded() -> Callable[[Path], ox.Store]:
    """The statements of a merged file in a store; a strict parser reads them."""

    def load(path: Path) -> ox.Store:
        store = ox.Store()
        with open_bytes(path) as stream:
            store.load(stream.read(), format=SYNTAXES[plain_suffix(path)])
        return store

    return load
