"""`largeea demo`: align and evaluate two built-in graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import options
from largeea.cli.align import show
from largeea.cli.bench import report
from largeea.cli.groups import Method
from largeea.cli.screen import screen
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.experiments.bench import bench
from largeea.progress import step
from largeea.report import write_report
from largeea.results import write_results
from largeea.runs.folder import Run

EXAMPLES = """
**Examples**

`largeea demo`

`largeea demo --languages de nl`

`largeea demo --json`
"""


def command(
    languages: Annotated[
        tuple[str, str], typer.Option(help="Two locales, for example: en fr, de ja, pt_BR zh.")
    ] = ("en", "fr"),
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for data and results.")] = Path(
        "largeea-demo"
    ),
    preset: options.Preset = "default",
    set: options.Settings = None,
    without: options.Without = None,
    seed: Annotated[int, typer.Option(help="Random seed, also of the data.", min=0)] = 0,
    json: options.Json = False,
) -> None:
    """Align countries, languages, scripts, currencies and cities named in two languages.

    The two graphs are generated from Unicode CLDR; each lacks some entities and facts of the other.
    """
    settings = Method(preset, None, set, seed, without).make()
    with Run(output) as run:
        with step("make data"):
            pair = demo_pair(languages, seed)
        figures, outcome = bench(pair, f"demo-{'-'.join(languages)}", preset, settings, train=0.0, run=run)
        alignment = outcome.alignment
        with step("write"):
            write_pair(pair, output / "pair")
            files = write_results(alignment, output, ["sssom", "tsv"])
            run.vouch_for(files, summary=alignment.summary)
            files.append(write_report(output, trusted=True).name)
    if not json:
        show(alignment, output, files)
        screen.result(f"The two graphs and their true links: {output / 'pair'}")
    report(figures, json)
