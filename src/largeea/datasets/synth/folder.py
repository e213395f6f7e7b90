"""A twin on disk: an OpenEA folder, lists of entities without counterpart, and a data card."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from largeea.datasets.openea_layout import write_pair
from largeea.datasets.synth.pair import synthetic_pair
from largeea.datasets.synth.spec import TwinSpec
from largeea.errors import UsageError
from largeea.graph import Int32, KnowledgeGraph, Pair
from largeea.hashing import file_hash
from largeea.progress import step
from largeea.runs.files import atomic_write

CARD = "card.json"


def write_twin(spec: TwinSpec, seed: int, folder: Path, command: str) -> dict[str, Any]:
    """Generate the twin, write it into an empty or new folder and return its card.

    Besides the OpenEA files, `unmatched_1` and `unmatched_2` list the entities without counterpart. All files
    are written into a hidden folder beside it, which is renamed at the end: the folder is complete or absent.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not empty; choose another place with -o")
    place = folder.resolve()
    unfinished = place.with_name(f".{place.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    pair = synthetic_pair(spec, seed)
    with step("write"):
        write_pair(pair, unfinished)
        for side, (graph, linked) in enumerate(_sides(pair), start=1):
            _write_unmatched(unfinished / f"unmatched_{side}", graph, linked)
    with step("checksums"):
        card = {
            "about": "synthetic: no name or fact in here is about the world",
            "command": command,
            "parameters": {**asdict(spec), "seed": seed},
            "counts": _counts(pair),
            "sha256": {path.name: file_hash(path) for path in sorted(unfinished.iterdir())},
        }
    with atomic_write(unfinished / CARD) as file:
        file.write(json.dumps(card, indent=2).encode() + b"\n")
    unfinished.rename(place)
    return card


def _sides(pair: Pair) -> list[tuple[KnowledgeGraph, Int32]]:
    return [(pair.source, pair.links.source), (pair.target, pair.links.target)]


def _counts(pair: Pair) -> dict[str, dict[str, int] | int]:
    sides = {
        side: {
            "entities": graph.size,
            "relations": len(graph.relations),
            "triples": len(graph.triples),
            "without_counterpart": graph.size - len(pair.links),
        }
        for side, (graph, _) in zip(("source", "target"), _sides(pair), strict=True)
    }
    return {**sides, "links": len(pair.links)}


def _write_unmatched(path: Path, graph: KnowledgeGraph, linked: Int32) -> None:
    unmatched = np.ones(graph.size, bool)
    unmatched[linked] = False
    lines = graph.entities.filter(pa.array(unmatched)).to_pylist()
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
