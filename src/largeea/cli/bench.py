"""`largeea bench`: split the known links, align, and evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.evaluate import show_figures
from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.experiments.bench import bench
from largeea.formats import ReadOptions, read
from largeea.graph import Pair
from largeea.progress import step
from largeea.runs.folder import Run

EXAMPLES = """
**Examples**

`largeea bench dbp15k/fr_en --train 0`

`largeea bench d_w_15k_v1 --fold 1 --json`

`largeea bench ids15k_en_de_v1 --train 0.2 --reverse --without structure`

`largeea bench dbp15k_fr_en --train 0.3 --preset largeea-r --without names -o run`
"""


def command(
    folder: Annotated[Path, typer.Argument(help="Pair folder: OpenEA, DBP15K or DBP1M layout.")],
    preset: options.Preset = "default",
    train: Annotated[float, typer.Option(help="Share of the links used as seeds.", min=0, max=0.99)] = 0.2,
    fold: Annotated[str | None, typer.Option(help="Official split to use instead of --train.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed, also of the split.", min=0)] = 0,
    reverse: Annotated[bool, typer.Option("--reverse", help="Swap source and target.")] = False,
    without: options.Without = None,
    config: options.ConfigFile = None,
    set: options.Settings = None,
    encoder: options.Encoder = None,
    lexicon: options.Lexicon = None,
    pair_language: options.PairLanguage = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Run folder; a run in it is continued.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Align a benchmark and measure the accuracy of the result."""
    settings = options.make_config(preset, config, set, seed, without, encoder=encoder, lexicon=lexicon)
    reading = ReadOptions(max_errors=0, pair_language=pair_language)
    with Run(output) as run:
        with step("read"):
            pair = read(folder, reading)
        if not isinstance(pair, Pair):
            raise UsageError(
                f"{folder} is a single graph; bench needs a folder with two graphs and their links"
            )
        pair = pair.reversed() if reverse else pair
        figures, _ = bench(pair, folder.resolve().name, preset, settings, train, fold, run)
    report(figures, json)


def report(figures: dict[str, Any], json: bool) -> None:
    """Print the figures as JSON or as tables."""
    if json:
        screen.json(figures)
        return
    title = f"{figures['dataset']}, preset {figures['preset']}, {figures['seeds']:,} seeds"
    show_figures(title, figures)
    steps = ((name, value) for name, value in figures["seconds"].items() if "-batch-" not in name)
    seconds = ", ".join(f"{name} {value:.1f}" for name, value in steps)
    gpu = f", GPU {figures['peak_gpu_mb']:.0f} MB" if figures["peak_gpu_mb"] else ""
    screen.result(f"seconds: {seconds}; peak memory {figures['peak_rss_mb']:.0f} MB{gpu}")
