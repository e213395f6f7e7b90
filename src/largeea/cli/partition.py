"""`largeea partition`: split a benchmark into mini-batches and measure the quality of the split."""

from __future__ import annotations

import json as jsonlib
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.grouping import with_groups
from largeea.cli.groups import Benchmark
from largeea.cli.screen import screen
from largeea.config import PartitionConfig, load
from largeea.experiments.bench import seeds_and_test
from largeea.graph import Task
from largeea.progress import step
from largeea.runs.files import atomic_write
from largeea.structure.partition import partition
from largeea.structure.partition.picture import picture
from largeea.structure.partition.quality import report

EXAMPLES = """
**Examples**

`largeea partition ids15k_en_de_v1 -k 5 --train 0.2`

`largeea partition dbp15k/fr_en --method vps --json`

`largeea partition d_w_15k_v1 --fold 1 --overlap 2 -o batches`
"""


def setting(name: str, *flags: str) -> Any:
    """Return a command-line option for a setting of `[partition]`, with its description and default."""
    field = PartitionConfig.model_fields[name]
    return typer.Option(*flags, help=field.description, show_default=str(field.default))


@with_groups
def command(
    benchmark: Benchmark,
    *,
    method: Annotated[str | None, setting("method")] = None,
    k: Annotated[int | None, setting("k", "-k")] = None,
    overlap: Annotated[int | None, setting("overlap")] = None,
    q: Annotated[int | None, setting("q")] = None,
    virtual_weight: Annotated[int | None, setting("virtual_weight")] = None,
    balance: Annotated[float | None, setting("balance")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the figures (JSON) and the plot (SVG).")
    ] = None,
    json: options.Json = False,
) -> None:
    """Split a benchmark into K mini-batches; measure the edge cut and the share of pairs kept together."""
    options_given = {
        "method": method,
        "k": k,
        "overlap": overlap,
        "q": q,
        "virtual_weight": virtual_weight,
        "balance": balance,
    }
    given = {name: value for name, value in options_given.items() if value is not None}
    chosen = load(partition=given).partition
    pair = benchmark.read()
    seeds, test = seeds_and_test(pair, benchmark.name, benchmark.train, benchmark.fold, benchmark.seed)
    task = Task(pair.source, pair.target, seeds)
    started = time.perf_counter()
    with step("partition"):
        assignment = partition(task, chosen, benchmark.seed)
    figures = report(task, assignment, chosen.method, round(time.perf_counter() - started, 3), test)
    if output is not None:
        with atomic_write(output / "partition.json") as file:
            file.write(jsonlib.dumps(figures, indent=2).encode() + b"\n")
        with atomic_write(output / "partition.svg") as file:
            file.write(picture(task, assignment).encode())
    if json:
        screen.json(figures)
        return
    show(benchmark.name, figures)
    if output is not None:
        screen.result(f"Written to {output / 'partition.json'}, {output / 'partition.svg'}")


def show(name: str, figures: dict[str, Any]) -> None:
    """Print the figures as tables."""
    sizes = figures["sizes"]
    columns = zip(sizes["source"], sizes["target"], sizes["seeds"], strict=True)
    rows = [(str(i + 1), *(f"{count:,}" for count in counts)) for i, counts in enumerate(columns)]
    title = f"{name}, {figures['method']}, K = {figures['k']}, {figures['seconds']:.2f} s"
    screen.table(title, rows, ("batch", "source", "target", "seeds"))
    quality = {
        "edge cut, source": figures["r_ec"]["source"],
        "edge cut, target": figures["r_ec"]["target"],
        "pairs in the same batch": figures["same_batch"]["total"],
        "seeds in the same batch": figures["same_batch"]["train"],
        "test pairs in the same batch": figures["same_batch"]["test"],
    }
    screen.table("Quality", [(key, f"{value:.3f}") for key, value in quality.items()], ("", "share"))
