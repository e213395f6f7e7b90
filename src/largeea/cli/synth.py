"""`largeea synth`: generate a pair of graphs as large as one of the paper's data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.datasets.synth import TWINS, find_twin, write_twin

EXAMPLES = """
**Examples**

`largeea synth --like ids15k-en-fr -o twin`

`largeea synth --like dbp1m-en-fr --scale 0.1 --seed 7 -o twin`

`largeea synth --like dbp1m-en-de --overlap 0.5 --name-noise 0 -o twin`
"""


def command(
    like: Annotated[str, typer.Option(help=f"Data set to resemble: {', '.join(TWINS)}.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="New or empty folder for the pair.")],
    scale: Annotated[float, typer.Option(help="Size relative to the data set.")] = 1.0,
    overlap: Annotated[
        float | None, typer.Option(help="Share of the smaller side's entities with a counterpart.")
    ] = None,
    heterogeneity: Annotated[
        float | None, typer.Option(help="Share of facts between linked entities that one side lacks.")
    ] = None,
    name_noise: Annotated[
        float | None, typer.Option(help="Noise added to names beyond translation, 0 to 1.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same files.", min=0)] = 0,
    json: options.Json = False,
) -> None:
    """Generate two graphs in two invented languages, with all true links between them.

    Options that are not given take the data set's values. Every other command can read the folder.
    """
    spec = find_twin(like).scaled(scale).varied(overlap, heterogeneity, name_noise)
    card = write_twin(spec, seed, output, command_line(like, scale, seed, overlap, heterogeneity, name_noise))
    if json:
        screen.json(card)
    else:
        show(card, output)


def command_line(
    like: str,
    scale: float,
    seed: int,
    overlap: float | None,
    heterogeneity: float | None,
    name_noise: float | None,
) -> str:
    """Return the command that generates the same pair, without the output folder."""
    chosen = {"overlap": overlap, "heterogeneity": heterogeneity, "name-noise": name_noise}
    varied = "".join(f" --{option} {value!r}" for option, value in chosen.items() if value is not None)
    return f"largeea synth --like {like} --scale {scale!r}{varied} --seed {seed}"


def show(card: dict[str, Any], output: Path) -> None:
    """Print the counts as a table."""
    counts = card["counts"]
    rows: list[tuple[str, ...]] = [
        (figure.replace("_", " "), f"{counts['source'][figure]:,}", f"{counts['target'][figure]:,}")
        for figure in counts["source"]
    ]
    screen.table(f"{card['parameters']['like']}, {counts['links']:,} links", rows, ("", "source", "target"))
    screen.result(
        f"Written to {output}; {output / 'card.json'} describes it and has the command that makes it again"
    )
