"""The benchmark on disk: the layouts of DBP1M and OpenEA, and a masked copy whose entities have no names."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.datasets.dbp1m.stored import writing
from largeea.datasets.openea_layout import write_pair
from largeea.formats.distinct import unique_rows
from largeea.formats.links.text import joined, text_of
from largeea.graph import Attributes, Int64, KnowledgeGraph, Links, Pair, Strings
from largeea.randomness import generator
from largeea.runs.files import atomic_write

MASKED, KEYS = "masked", ("masked_key_1.tsv", "masked_key_2.tsv")
_UNFINISHED = ".unfinished"


def write_openea(pair: Pair, folder: Path, language: str) -> None:
    """Write `rel_triples_1/2`, `attr_triples_1/2` (labels; omitted if there are none), `ent_links`."""
    write_pair(pair, folder)


def write_dbp1m(pair: Pair, folder: Path, language: str) -> None:
    """Write `LANG_triples_1/2` and `LANG_ent_links`, where LANG is the target's language; no literals."""
    source, target = (replace(graph, attributes=Attributes.none()) for graph in (pair.source, pair.target))
    write_pair(Pair(source, target, pair.links), folder)
    for file in sorted(folder.iterdir()):
        file.rename(folder / f"{language}_{file.name.removeprefix('rel_')}")


LAYOUTS: dict[str, Callable[[Pair, Path, str], None]] = {"dbp1m": write_dbp1m, "openea": write_openea}


def write_benchmark(
    pair: Pair, folder: Path, language: str, layouts: tuple[str, ...], seed: int
) -> list[Path]:
    """Write the layouts and the masked copy into sub-folders; returns the files, in order.

    A sub-folder replaces that of an earlier build only once it is complete.
    """
    for layout in LAYOUTS:
        if layout not in layouts:
            shutil.rmtree(folder / layout, ignore_errors=True)
    for layout in layouts:
        with _replacing(folder / layout) as unfinished:
            LAYOUTS[layout](pair, unfinished, language)
    twin, keys = masked(pair, seed)
    with _replacing(folder / MASKED) as unfinished:
        write_dbp1m(twin, unfinished, language)
    for name, masks, graph in zip(KEYS, keys, (pair.source, pair.target), strict=True):
        with atomic_write(folder / name) as file:
            file.write(text_of(joined(masks, "\t", graph.entities, "\n")))
    places = [*(folder / layout for layout in layouts), folder / MASKED]
    return [file for place in places for file in sorted(place.iterdir())] + [folder / name for name in KEYS]


def masked(pair: Pair, seed: int) -> tuple[Pair, tuple[Strings, Strings]]:
    """The pair with opaque IRIs such as `urn:source:7` and no literals, and the new IRIs of each side.

    Numbers are assigned at random on each side, so that neither they nor their order carry information.
    """
    source, source_numbers = _masked_graph(pair.source, "source", seed)
    target, target_numbers = _masked_graph(pair.target, "target", seed)
    ends = source_numbers[pair.links.source], target_numbers[pair.links.target]
    twin = Pair(source, target, Links(np.column_stack(ends)).canonical())
    keys = source.entities.take(pa.array(source_numbers)), target.entities.take(pa.array(target_numbers))
    return twin, keys


def _masked_graph(graph: KnowledgeGraph, side: str, seed: int) -> tuple[KnowledgeGraph, Int64]:
    numbers = generator(seed, f"mask {side}").permutation(graph.size)
    triples = graph.triples.copy()
    triples[:, 0], triples[:, 2] = numbers[triples[:, 0]], numbers[triples[:, 2]]
    width = len(str(max(graph.size - 1, 0)))
    digits = pc.utf8_lpad(pa.array(np.arange(graph.size)).cast(pa.large_string()), width, "0")
    names = pa.nulls(graph.size, pa.large_string())
    entities = joined(f"urn:{side}:", digits)
    return KnowledgeGraph(entities, names, graph.relations, unique_rows(triples)), numbers


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """Yield a new folder to write into, which replaces `folder` at the end."""
    unfinished = folder.with_name(f".{folder.name}{_UNFINISHED}")
    with writing(folder):
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            yield unfinished
            shutil.rmtree(folder, ignore_errors=True)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
