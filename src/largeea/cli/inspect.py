"""`largeea inspect`: show statistics of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from largeea.cli import options
from largeea.cli.grouping import with_groups
from largeea.cli.groups import Reading
from largeea.cli.screen import screen
from largeea.formats import ReadOptions, files_of, pair_folder, read, recognise
from largeea.formats.guess import Guess
from largeea.formats.naming import ALIAS_PREDICATES, LABEL_PREDICATES
from largeea.formats.prefixes import last_part
from largeea.formats.scope import MIN_SHARE, Match, described, in_scope
from largeea.formats.tables import SUFFIXES as TABLES
from largeea.formats.tables import guess_table
from largeea.graph import KnowledgeGraph, Pair, Role
from largeea.graph.lookup import distinct
from largeea.progress import step

EXAMPLES = """
**Examples**

`largeea inspect dump.nt.bz2`

`largeea inspect ontology.owl --match classes`

`largeea inspect dbp15k/fr_en --json`

`largeea inspect companies.csv`

`largeea inspect taxonomy.tsv.xz --columns subject=1,links=2,name=4`
"""
_LANGUAGES_SHOWN = 10
_FOLDED = {
    "expressions": "class expressions",
    "lists": "nodes of lists",
    "reified": "reified statements",
    "text_nodes": "nodes with a text",
    "empty_nodes": "nodes without content",
}
"""Helper nodes by what they were, as counted in `ReadCounts`."""


@with_groups
def command(
    path: Annotated[Path, typer.Argument(help="Graph: a file, folder or pattern; or a pair folder.")],
    *,
    reading: Reading,
    json: options.Json = False,
) -> None:
    """Show what is in a graph or a pair folder: entities and their roles, what would be matched, names,
    degrees, helper nodes, duplicates, languages; for tables, what each column is taken for.
    """
    how_to_read = reading.make()
    with step("read"):
        found = read(path, how_to_read)
    guesses = guessed_columns(path, how_to_read)
    sides = {"source": found.source, "target": found.target} if isinstance(found, Pair) else {"graph": found}
    facts: dict[str, Any] = {name: describe(graph, how_to_read.match) for name, graph in sides.items()}
    if isinstance(found, Pair):
        facts |= {"links": len(found.links), "folds": list(found.folds)}
    if guesses:
        facts["columns"] = {
            str(file): {"columns": guess.columns.to_text(), "roles": [*map(list, guess.roles)]}
            for file, guess in guesses.items()
        }
    if json:
        screen.json(facts)
        return
    for file, guess in guesses.items():
        screen.table(f"{file}: columns", list(guess.roles), ("column", "read as", "why"))
    described_sides = [facts[name] for name in sides]
    rows = [
        (key.replace("_", " "), *(_text(side[key]) for side in described_sides)) for key in described_sides[0]
    ]
    screen.table(str(path), rows, ("", *sides))
    if isinstance(found, Pair):
        screen.result(f"{len(found.links):,} links; official folds: {', '.join(found.folds) or 'none'}")


def describe(graph: KnowledgeGraph, match: Match = "auto") -> dict[str, Any]:
    """Return the statistics of a graph."""
    degrees = graph.degrees()
    names = graph.names.drop_null()
    counts = graph.counts
    return {
        "entities": graph.size,
        **scope(graph, match),
        "relations": len(graph.relations),
        "triples": len(graph.triples),
        "literals": len(graph.attributes),
        "duplicate_statements": counts.duplicates,
        "rejected_lines": counts.rejected,
        "folded": {name: getattr(counts, key) for key, name in _FOLDED.items() if getattr(counts, key)},
        "folded_statements": counts.folded,
        "derived_statements": counts.derived,
        "without_triples": int((degrees == 0).sum()),
        "degree_mean": round(float(degrees.mean()), 2) if graph.size else 0.0,
        "degree_median": int(np.median(degrees)) if graph.size else 0,
        "degree_max": int(degrees.max(initial=0)),
        "named": round(float(graph.named.mean()), 4) if graph.size else 0.0,
        "names_shared": len(names) - len(distinct(names)),
        "label_predicates": predicate_counts(graph, graph.label_predicates or LABEL_PREDICATES),
        "synonym_predicates": predicate_counts(graph, tuple(ALIAS_PREDICATES)),
        "languages": languages(graph),
    }


def guessed_columns(path: Path, how_to_read: ReadOptions) -> dict[Path, Guess]:
    """Return what the columns of each table are taken for, if they are not given."""
    if how_to_read.columns is not None or pair_folder(path):
        return {}
    formats = {file: how_to_read.format or recognise(file) for file in files_of(path)}
    return {
        file: guess_table(file, format, how_to_read.sheet)
        for file, format in formats.items()
        if format in TABLES.values()
    }


def scope(graph: KnowledgeGraph, match: Match = "auto") -> dict[str, Any]:
    """Return the entities by role, and which of them would be matched with a graph like this one.

    `not_matched` has the number of the others, and why they are not matched.
    """
    graph, _ = in_scope(graph, graph, match)
    roles = [role for role in Role if ((graph.roles == role) & ~graph.anonymous).any()]
    counts = {role: int(((graph.roles == role) & ~graph.anonymous).sum()) for role in roles}
    matched = {role: count for role, count in counts.items() if graph.kind_of_role[role] >= 0}
    left_out = {
        _plural(role): {"count": count, "reason": _reason(role, match)}
        for role, count in counts.items()
        if role not in matched
    }
    blank = int(graph.anonymous.sum())
    if blank:
        left_out["blank nodes"] = {"count": blank, "reason": "they have no IRI"}
    return {
        "roles": {_plural(role): count for role, count in counts.items()},
        "described": {_plural(role): count for role, count in described(graph).items() if count},
        "blank_nodes": blank,
        "matched": {_plural(role): count for role, count in matched.items()},
        "not_matched": left_out,
    }


def predicate_counts(graph: KnowledgeGraph, predicates: tuple[str, ...]) -> dict[str, int]:
    """Return the number of literals under each of these predicates that occurs."""
    iris = graph.attributes.predicates.to_pylist()
    counts = np.bincount(graph.attributes.predicate, minlength=len(iris)).tolist()
    found = dict(zip(iris, counts, strict=True))
    return {iri: found[iri] for iri in predicates if iri in found}


def languages(graph: KnowledgeGraph) -> dict[str, int]:
    """Return the number of literals per language, the most frequent first."""
    counts = np.bincount(graph.attributes.tag, minlength=len(graph.attributes.tags)).tolist()
    found = [
        (tag[1:], count)
        for tag, count in zip(graph.attributes.tags.to_pylist(), counts, strict=True)
        if tag[:1] == "@"
    ]
    return dict(sorted(found, key=lambda item: (-item[1], item[0]))[:_LANGUAGES_SHOWN])


def _plural(role: Role) -> str:
    names = {
        Role.INDIVIDUAL: "individuals",
        Role.CLASS: "classes",
        Role.PROPERTY: "properties",
        Role.VOCABULARY: "vocabulary terms",
        Role.DEPRECATED: "deprecated terms",
        Role.REFERENCE: "references",
    }
    return names[role]


def _reason(role: Role, match: Match) -> str:
    if role == Role.VOCABULARY:
        return "terms of RDF, OWL and other well-known vocabularies, headers and datatypes are never matched"
    if role == Role.DEPRECATED:
        return "withdrawn terms are never matched"
    if role == Role.REFERENCE:
        return "IRIs that the graph only points to, such as other data sets and web pages, are never matched"
    if match == "auto" and role != Role.PROPERTY:
        return f"less than {MIN_SHARE:.0%} of the individuals and classes that the graph describes"
    return "properties are matched on request" if match == "auto" else f"only {match} are matched"


def _text(value: Any) -> str:
    if not isinstance(value, dict):
        return f"{value:,}"
    parts = [
        f"{_short(key)} {entry:,}"
        if isinstance(entry, int)
        else f"{key} {entry['count']:,} ({entry['reason']})"
        for key, entry in value.items()
    ]
    separator = ", " if all(isinstance(entry, int) for entry in value.values()) else "\n"
    return separator.join(parts) or "none"


def _short(key: str) -> str:
    """The last part of an IRI; other text as it is."""
    return last_part(key) if "://" in key else key
