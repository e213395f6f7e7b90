"""`largeea bench`: split the known links, align, and evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.evaluate import show_figures
from largeea.cli.grouping import with_groups
from largeea.cli.groups import Benchmark, Method
from largeea.cli.screen import screen
from largeea.experiments.bench import bench
from largeea.runs.folder import Run

EXAMPLES = """
**Examples**

`largeea bench dbp15k/fr_en --train 0`

`largeea bench d_w_15k_v1 --fold 1 --json`

`largeea bench ids15k_en_de_v1 --train 0.2 --reverse --without structure`

`largeea bench dbp15k_fr_en --train 0.3 --preset largeea-r --without names -o run`
"""


@with_groups
def command(
    benchmark: Benchmark,
    *,
    preset: options.Preset = "default",
    without: options.Without = None,
    config: options.ConfigFile = None,
    set: options.Settings = None,
    encoder: options.Encoder = None,
    lexicon: options.Lexicon = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Run folder; a run in it is continued.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Align a benchmark and measure the accuracy of the result."""
    method = Method(preset, config, set, benchmark.seed, without, encoder=encoder, lexicon=lexicon)
    with Run(output) as run:
        split = benchmark.train, benchmark.fold
        figures, _ = bench(benchmark.read(), benchmark.name, preset, method.make(), *split, run)
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
