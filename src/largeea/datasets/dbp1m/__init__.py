"""Builds benchmarks like DBP1M from DBpedia dumps: graphs in two languages, links and unknown entities.

Example: `build(Recipe(english_dumps, french_dumps, ("en", "fr")), Path("dbp1m"))`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from largeea.datasets.dbp1m.card import dump_card, links_card, side_card, write_card
from largeea.datasets.dbp1m.distil import Side, distil_dump
from largeea.datasets.dbp1m.labels import labels_of
from largeea.datasets.dbp1m.resources import check_languages, listed
from largeea.datasets.dbp1m.select import Selection, Sizes, choose, induced
from largeea.datasets.dbp1m.sides import SideGraph, load_side
from largeea.datasets.dbp1m.stored import Kind, StoredDump, rows_of
from largeea.datasets.dbp1m.write import LAYOUTS, write_benchmark
from largeea.errors import InputError, ResourceError, UsageError
from largeea.execution.memory import peak_rss_mb
from largeea.formats.rejects import Rejects
from largeea.graph import Bool, Links, Pair, Strings
from largeea.progress import note, step
from largeea.runs.files import atomic_write, remove_leftovers

REJECTS = "rejects.tsv"
BUILDER_VERSION = 1
"""Version of the builder; increased when the same dumps would give a different benchmark."""


@dataclass(frozen=True)
class Recipe:
    """Inputs of a build: dumps and language of each side (source, then target), and size limits.

    Used from the dumps: relations between resources (mapping-based objects), labels, links and redirects.
    `memory_mb` limits the memory of the process while the graphs are assembled; 0 means no limit.
    """

    source_dumps: tuple[Path, ...]
    target_dumps: tuple[Path, ...]
    languages: tuple[str, str]
    sizes: Sizes = field(default_factory=Sizes)
    layouts: tuple[str, ...] = tuple(LAYOUTS)
    max_errors: int | None = None
    memory_mb: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        check_languages(self.languages)
        for layout in self.layouts:
            if layout not in LAYOUTS:
                raise UsageError(f"unknown layout {layout!r}; known: {', '.join(LAYOUTS)}")
        if not (self.source_dumps and self.target_dumps):
            raise UsageError("each side needs at least one dump; give --source-dumps and --target-dumps")

    @property
    def sides(self) -> tuple[Side, Side]:
        """Source and target."""
        source, target = self.languages
        return Side(source, target, is_source=True), Side(target, source, is_source=False)


def build(recipe: Recipe, folder: Path, command: str = "") -> dict[str, Any]:
    """Build a benchmark in `folder` and return its data card; resumes an interrupted build."""
    remove_leftovers(folder)
    rejects, work = Rejects(recipe.max_errors), folder / "work"
    stored = [
        [distil_dump(dump, side, work, rejects) for dump in dumps]
        for side, dumps in zip(recipe.sides, (recipe.source_dumps, recipe.target_dumps), strict=True)
    ]
    _write_rejects(rejects, folder / REJECTS)
    for side, dumps in zip(recipe.sides, stored, strict=True):
        _check_language(side, dumps)
    _check_links(recipe.languages, stored[0] + stored[1])

    with step("put together"):
        source, target, selection = _select(stored, recipe)
        pair = _pair_of((source, target), selection, stored, recipe.languages)
    _tell_short_sizes(pair, recipe.sizes)
    with step("write"):
        files = write_benchmark(pair, folder, recipe.languages[1], recipe.layouts, recipe.seed)
        card = {
            "builder": BUILDER_VERSION,
            "command": command,
            "links": links_card(pair, selection),
            "source": side_card(recipe.sides[0], pair.source, source, pair.links.source),
            "target": side_card(recipe.sides[1], pair.target, target, pair.links.target),
            "asked_for": asdict(recipe.sizes),
            "dumps": {
                side.name: [dump_card(dump) for dump in dumps]
                for side, dumps in zip(recipe.sides, stored, strict=True)
            },
        }
        return write_card(folder, card, files)


def _select(stored: list[list[StoredDump]], recipe: Recipe) -> tuple[SideGraph, SideGraph, Selection]:
    check_memory = _memory_check(recipe.memory_mb)
    source_ends, target_ends, by_source = _stated_links(stored)
    source = load_side(stored[0], source_ends, check_memory)
    target = load_side(stored[1], target_ends, check_memory)
    selection = choose(source, target, by_source, recipe.sizes)
    if not len(selection.links):
        raise InputError(
            f"none of the {len(by_source):,} links joins an entity of the source's triples with one of the "
            f"target's, one-to-one ({selection.conflicting:,} are in conflict); are mapping-based objects "
            "among the dumps, and are all dumps of one release?"
        )
    return source, target, selection


def _stated_links(stored: list[list[StoredDump]]) -> tuple[Strings, Strings, Bool]:
    """Source ends and target ends of all links, and whether each link is from a dump of the source."""
    ends: list[list[Strings]] = [[], []]
    by_source: list[Bool] = []
    for side, dumps in enumerate(stored):
        for source, _, target in rows_of(dumps, Kind.LINK):
            ends[0].append(source)
            ends[1].append(target)
            by_source.append(np.full(len(source), side == 0))
    sources, targets = (pa.concat_arrays(columns) for columns in ends)
    return sources, targets, np.concatenate(by_source)


def _pair_of(
    sides: tuple[SideGraph, SideGraph],
    selection: Selection,
    stored: list[list[StoredDump]],
    languages: tuple[str, str],
) -> Pair:
    """The selected part of both graphs, with labels."""
    graphs, links = [], selection.links.copy()
    for number, kept in enumerate((selection.kept_source, selection.kept_target)):
        graph = induced(sides[number].graph, kept)
        labels = labels_of(graph.entities, stored[number], languages[number])
        graphs.append(replace(graph, attributes=labels))
        links[:, number] = (np.cumsum(kept) - 1)[links[:, number]]
    return Pair(graphs[0], graphs[1], Links(links).canonical())


def _check_language(side: Side, dumps: list[StoredDump]) -> None:
    if not any(dump.kept[Kind.TRIPLE.word] for dump in dumps):
        subjects = sum((Counter(dump.subjects) for dump in dumps), Counter[str]())
        raise InputError(
            f"the {side.name} dumps hold no triple between two resources of {side.language!r}. Languages of "
            f"what they describe: {listed(subjects)}. Give the mapping-based objects of {side.language!r}, "
            "or other --languages"
        )


def _check_links(languages: tuple[str, str], dumps: list[StoredDump]) -> None:
    if not any(dump.kept[Kind.LINK.word] for dump in dumps):
        linked = sum((Counter(dump.linked) for dump in dumps), Counter[str]())
        raise InputError(
            f"no dump links {languages[0]!r} with {languages[1]!r}. Languages that are linked: "
            f"{listed(linked)}. Give the inter-language links or owl:sameAs links of either side, or other "
            "--languages"
        )


def _memory_check(limit_mb: int) -> Callable[[str], None]:
    def check(doing: str) -> None:
        used = peak_rss_mb()
        if limit_mb and used > limit_mb:
            raise ResourceError(
                f"{doing} takes {used:,.0f} MB by now, and --memory allows {limit_mb:,}; allow more and run "
                "the same command again (distilled dumps are kept), or give fewer dumps"
            )

    return check


def _tell_short_sizes(pair: Pair, sizes: Sizes) -> None:
    for name, asked, found in (
        ("links", sizes.links, len(pair.links)),
        ("source entities", sizes.source, pair.source.size),
        ("target entities", sizes.target, pair.target.size),
    ):
        if asked is not None and found < asked:
            note(f"{asked:,} {name} were asked for, but the dumps give only {found:,}")


def _write_rejects(rejects: Rejects, path: Path) -> None:
    path.unlink(missing_ok=True)
    if rejects:
        with atomic_write(path) as file:
            rejects.write(file)
        rejects.tell(path)
