"""The data card, as JSON and as a README: contents, provenance and licence of a benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from largeea.datasets.dbp1m.distil import Side
from largeea.datasets.dbp1m.select import MIN_LINKED_NEIGHBOURS, Selection
from largeea.datasets.dbp1m.sides import SideGraph
from largeea.datasets.dbp1m.stored import Kind, StoredDump
from largeea.formats.streams import digest
from largeea.graph import Int32, KnowledgeGraph, Pair
from largeea.runs.files import atomic_write

LICENCE = "CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0/)"
ATTRIBUTION = "DBpedia (https://www.dbpedia.org), extracted from Wikipedia by its community"
CARD, README = "card.json", "README.md"


def links_card(pair: Pair, selection: Selection) -> dict[str, int]:
    """Counts of links: stated, dropped and kept."""
    return {
        "stated": selection.stated,
        "left_out_as_conflicting": selection.conflicting,
        "left_out_for_size": selection.stated - selection.conflicting - len(pair.links),
        "in_benchmark": len(pair.links),
    }


def side_card(side: Side, graph: KnowledgeGraph, whole: SideGraph, linked: Int32) -> dict[str, Any]:
    """Counts of one side, and of the corrections made to its dumps."""
    degrees = graph.degrees()
    return {
        "language": side.language,
        "entities": graph.size,
        "linked": len(linked),
        "unknown": graph.size - len(linked),
        "relations": len(graph.relations),
        "triples": len(graph.triples),
        "labels": len(graph.attributes),
        "linked_without_triples": int((degrees[linked] == 0).sum()),
        "degree_mean": round(float(degrees.mean()), 3) if graph.size else 0.0,
        "degree_median": int(np.median(degrees)) if graph.size else 0,
        "entities_in_dumps": whole.graph.size,
        "triples_in_dumps": len(whole.graph.triples),
        "spellings_merged": whole.spellings_merged,
        "ends_redirected": whole.ends_redirected,
        "redirect_loops": whole.redirect_loops,
    }


def dump_card(stored: StoredDump) -> dict[str, Any]:
    """Provenance of one dump, and how many of its statements were used."""
    return {
        "file": stored.dump.name,
        "bytes": stored.dump.stat().st_size,
        "sha256": stored.sha256,
        "statements": stored.statements,
        "kept": {kind.word: stored.kept[kind.word] for kind in Kind},
        "bad_lines": stored.rejected,
    }


def write_card(folder: Path, card: dict[str, Any], files: list[Path]) -> dict[str, Any]:
    """Write `card.json` and `README.md`; returns the card with the checksums of all files."""
    card = {
        **card,
        "licence": LICENCE,
        "attribution": ATTRIBUTION,
        "files": [
            {
                "file": file.relative_to(folder).as_posix(),
                "bytes": file.stat().st_size,
                "sha256": digest(file).hex() if file.stat().st_size else None,
            }
            for file in files
        ],
    }
    for name, text in ((CARD, json.dumps(card, indent=2) + "\n"), (README, _readme(card))):
        with atomic_write(folder / name) as stream:
            stream.write(text.encode())
    return card


def _readme(card: dict[str, Any]) -> str:
    source, target = card["source"], card["target"]
    figures = [
        f"| {key.replace('_', ' ')} | {_figure(source[key])} | {_figure(target[key])} |"
        for key in source
        if key != "language"
    ]
    links = [f"| {key.replace('_', ' ')} | {count:,} |" for key, count in card["links"].items()]
    dumps = [
        f"| {side} | {dump['file']} | {dump['bytes']:,} | {dump['bad_lines']:,} | `{dump['sha256']}` |"
        for side in ("source", "target")
        for dump in card["dumps"][side]
    ]
    files = [f"| {file['file']} | {file['bytes']:,} | `{file['sha256']}` |" for file in card["files"]]
    return "\n".join(
        [
            f"# DBP1M-style benchmark, {source['language'].upper()}-{target['language'].upper()}",
            "",
            f"Made from dumps of DBpedia (builder version {card['builder']}) with",
            "",
            f"    {card['command']}",
            "",
            f"Licence: {card['licence']}. Source: {card['attribution']}.",
            "",
            "Links are inter-language links and owl:sameAs, made one-to-one. *Unknown* entities have no link "
            f"in the dumps and at least {MIN_LINKED_NEIGHBOURS} linked neighbours. Sub-folders hold the same "
            "pair in different layouts; `masked` has opaque ids for IRIs; `masked_key_*.tsv` tells whose.",
            "",
            *_table(("", source["language"], target["language"]), figures),
            *_table(("links", "pairs"), links),
            *_table(("side", "dump", "bytes", "bad lines", "SHA-256"), dumps),
            *_table(("file", "bytes", "SHA-256"), files),
        ]
    )


def _table(header: tuple[str, ...], rows: list[str]) -> list[str]:
    return [f"| {' | '.join(header)} |", "|---" * len(header) + "|", *rows, ""]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"
