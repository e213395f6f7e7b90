"""`largeea inspect`: show statistics of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.formats import read
from largeea.graph import KnowledgeGraph, Pair
from largeea.progress import step

EXAMPLES = """
**Examples**

`largeea inspect dump.nt.bz2`

`largeea inspect dbp15k/fr_en --json`

`largeea inspect taxonomy.tsv.xz --columns subject=1,object=2,name=4`
"""
_LANGUAGES_SHOWN = 10


def command(
    path: Annotated[Path, typer.Argument(help="Graph: a file, folder or pattern; or a pair folder.")],
    format: options.Format = None,
    columns: options.ColumnMap = None,
    label: options.Labels = None,
    language: options.Languages = None,
    pair_language: options.PairLanguage = None,
    max_errors: options.MaxErrors = 0,
    json: options.Json = False,
) -> None:
    """Show statistics of a graph or a pair folder: entities, names, degrees, duplicates, languages."""
    reading = options.make_read_options(format, columns, label, language, max_errors, pair_language)
    with step("read"):
        found = read(path, reading)
    sides = {"source": found.source, "target": found.target} if isinstance(found, Pair) else {"graph": found}
    facts: dict[str, Any] = {name: describe(graph) for name, graph in sides.items()}
    if isinstance(found, Pair):
        facts |= {"links": len(found.links), "folds": list(found.folds)}
    if json:
        screen.json(facts)
        return
    described = [facts[name] for name in sides]
    rows = [(key.replace("_", " "), *(_text(side[key]) for side in described)) for key in described[0]]
    screen.table(str(path), rows, ("", *sides))
    if isinstance(found, Pair):
        screen.result(f"{len(found.links):,} links; official folds: {', '.join(found.folds) or 'none'}")


def describe(graph: KnowledgeGraph) -> dict[str, Any]:
    """Return the statistics of a graph."""
    degrees = graph.degrees()
    names = graph.names.drop_null()
    return {
        "entities": graph.size,
        "relations": len(graph.relations),
        "triples": len(graph.triples),
        "literals": len(graph.attributes),
        "duplicate_statements": graph.counts.duplicates,
        "rejected_lines": graph.counts.rejected,
        "blank_nodes": int(graph.anonymous.sum()),
        "without_triples": int((degrees == 0).sum()),
        "degree_mean": round(float(degrees.mean()), 2) if graph.size else 0.0,
        "degree_median": int(np.median(degrees)) if graph.size else 0,
        "degree_max": int(degrees.max(initial=0)),
        "named": round(float(graph.named.mean()), 4) if graph.size else 0.0,
        "names_shared": len(names) - len(names.unique()),
        "languages": languages(graph),
    }


def languages(graph: KnowledgeGraph) -> dict[str, int]:
    """Return the number of literals per language, the most frequent first."""
    counts = np.bincount(graph.attributes.tag, minlength=len(graph.attributes.tags)).tolist()
    found = [
        (tag[1:], count)
        for tag, count in zip(graph.attributes.tags.to_pylist(), counts, strict=True)
        if tag[:1] == "@"
    ]
    return dict(sorted(found, key=lambda item: (-item[1], item[0]))[:_LANGUAGES_SHOWN])


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {count:,}" for key, count in value.items()) or "none"
    return f"{value:,}"
