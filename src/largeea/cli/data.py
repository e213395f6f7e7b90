"""`largeea data`: list, describe and download published benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.datasets.registry import (
    DATA_SETS,
    DataSet,
    data_folder,
    find_data_set,
    get_data_set,
    local_pairs,
)

EXAMPLES = """
**Examples**

`largeea data list`

`largeea data info openea-v2.0`

`largeea data get dbp15k`
"""
_UNKNOWN = "unknown"

app = typer.Typer(help="List, describe and download published benchmarks.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name of the data set, as listed by 'largeea data list'.")]
Folder = Annotated[
    Path | None, typer.Option("--folder", help="Data folder; default: $LARGEEA_DATA or ./data.")
]


@app.command("list", epilog=EXAMPLES)
def list_command(folder: Folder = None, json: options.Json = False) -> None:
    """List the known data sets and whether each is downloaded."""
    place = folder or data_folder()
    if json:
        screen.json([facts(known, place) for known in DATA_SETS.values()])
        return
    rows: list[tuple[str, ...]] = []
    for known in DATA_SETS.values():
        pairs = local_pairs(known, place)
        rows.append((known.name, known.title, f"{len(pairs)} pair(s)" if pairs else "no"))
    screen.table(f"Data sets ({place})", rows, ("name", "what", "here"))


@app.command("info")
def info_command(name: Name, folder: Folder = None, json: options.Json = False) -> None:
    """Show the content, source, licence, citation and checksum of a data set."""
    known = facts(find_data_set(name), folder or data_folder())
    if json:
        screen.json(known)
        return
    for key, value in known.items():
        text = ", ".join(value) if isinstance(value, list) else value
        screen.result(f"{key + ':':<10} {_shown(key, text)}")


@app.command("get")
def get_command(name: Name, folder: Folder = None, json: options.Json = False) -> None:
    """Download and unpack a data set, unless it is already in the data folder."""
    pairs = get_data_set(find_data_set(name), folder or data_folder())
    if json:
        screen.json({"name": name, "pairs": [str(pair) for pair in pairs]})
        return
    for pair in pairs:
        screen.result(str(pair))
    screen.note(f"Cite: {find_data_set(name).citation}")
    screen.note(f"Next: largeea bench {pairs[0]}")


def facts(known: DataSet, folder: Path) -> dict[str, Any]:
    """Return the facts about a data set; None where a fact is unknown."""
    return {
        "name": known.name,
        "title": known.title,
        "holds": known.holds,
        "page": known.page,
        "download": known.url or f"by hand, from {known.fetch_page}",
        "file": known.file,
        "bytes": known.size,
        "checksum": known.checksum,
        "licence": known.licence,
        "citation": known.citation,
        "here": [str(pair) for pair in local_pairs(known, folder)],
    }


def _shown(key: str, value: Any) -> str:
    if key == "here":
        return value or "no"
    if value is None:
        return _UNKNOWN + ("; that of the first download is recorded" if key == "checksum" else "")
    return f"{value:,}" if isinstance(value, int) else str(value)
