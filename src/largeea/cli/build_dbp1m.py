"""`largeea build-dbp1m`: build a benchmark like the paper's DBP1M from DBpedia dumps."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.datasets.dbp1m import Recipe, build
from largeea.datasets.dbp1m.select import Sizes
from largeea.datasets.dbp1m.write import LAYOUTS
from largeea.formats import files_of

EXAMPLES = """
**Examples**

`largeea build-dbp1m --source-dumps en/*.ttl.bz2 --target-dumps fr/*.ttl.bz2 --languages en fr -o dbp1m`

`largeea build-dbp1m --source-dumps en --target-dumps de --languages en de --links 15000 -o dbp15k-de`
"""
SEVERAL_VALUES = ("--source-dumps", "--target-dumps", "--layout")


def command(
    context: typer.Context,
    source_dumps: Annotated[
        list[Path], typer.Option(help="Dumps of the source language: files, folders or patterns.")
    ],
    target_dumps: Annotated[list[Path], typer.Option(help="Dumps of the target language.")],
    languages: Annotated[tuple[str, str], typer.Option(help="Source and target language, such as: en fr.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Output folder; an interrupted build is resumed.")
    ],
    links: Annotated[
        int | None, typer.Option(help="Maximum number of links; the best connected are kept.", min=1)
    ] = None,
    source_size: Annotated[
        int | None, typer.Option(help="Maximum number of source entities: linked ones first.", min=1)
    ] = None,
    target_size: Annotated[int | None, typer.Option(help="Maximum number of target entities.", min=1)] = None,
    layout: Annotated[
        list[str] | None, typer.Option(help=f"Layouts to write: {', '.join(LAYOUTS)}; default: all.")
    ] = None,
    memory: Annotated[int, typer.Option(help="Memory limit in MB; 0: no limit.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Random seed of the opaque ids in the masked copy.", min=0)] = 0,
    max_errors: options.MaxErrors = None,
    json: options.Json = False,
) -> None:
    """Build a benchmark like DBP1M from DBpedia dumps.

    Each side takes any number of dumps in any order: mapping-based objects, labels, inter-language links,
    owl:sameAs, redirects. Links are one-to-one. Unknown entities have no link but have linked neighbours.
    """
    recipe = Recipe(
        tuple(files_of(source_dumps)),
        tuple(files_of(target_dumps)),
        languages,
        Sizes(links, source_size, target_size),
        tuple(layout or LAYOUTS),
        max_errors,
        memory,
        seed,
    )
    card = build(recipe, output, _as_typed(context))
    if json:
        screen.json(card)
    else:
        show(card, output)


def show(card: dict[str, Any], folder: Path) -> None:
    """Print the counts of the data card."""
    source, target = card["source"], card["target"]
    rows: list[tuple[str, ...]] = [
        (key.replace("_", " "), f"{source[key]:,}", f"{target[key]:,}") for key in source if key != "language"
    ]
    screen.table("Benchmark", rows, ("", source["language"], target["language"]))
    counted: list[tuple[str, ...]] = [
        (key.replace("_", " "), f"{count:,}") for key, count in card["links"].items()
    ]
    screen.table("Links", counted, ("", "pairs"))
    places = sorted({file["file"].split("/")[0] for file in card["files"] if "/" in file["file"]})
    screen.result("Written to " + ", ".join(str(folder / place) for place in places))
    screen.result(f"Data card: {folder / 'README.md'}; {folder / 'work'} is needed only to build again")


def _as_typed(context: typer.Context) -> str:
    """Return the command line with the options that differ from their defaults."""
    words = ["largeea", "build-dbp1m"]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value in (None, False, [], ()) or value == parameter.get_default(context):
            continue
        values = value if isinstance(value, list | tuple) else [value]
        words += [max(parameter.opts, key=len), *(str(one) for one in values if value is not True)]
    return shlex.join(words)
