"""`largeea align`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from largeea.alignment import Alignment
from largeea.cli import options
from largeea.cli.screen import screen
from largeea.config import Config
from largeea.errors import UsageError
from largeea.formats import ReadOptions, files_of, pair_folder, read_graph
from largeea.formats.links import (
    UNMATCHED_FILE_NAME,
    find_format,
    read_links,
    resolve,
    write_alignment,
    write_unmatched,
)
from largeea.formats.links.text import part
from largeea.formats.pairs import read_pair
from largeea.formats.rejects import Rejects
from largeea.graph import Links, Task
from largeea.pipeline import run_stages
from largeea.progress import note, step
from largeea.runs import Run
from largeea.runs.accounting import account_in_words, account_of
from largeea.runs.files import atomic_write
from largeea.runs.inputs import check_unchanged
from largeea.runs.request import Request

REJECTS = "rejects.tsv"

EXAMPLES = """
**Examples**

`largeea align wikidata.nt.bz2 dbpedia.ttl -o run`

`largeea align museum.csv library.rdf --columns subject=id,relation=prop,object=value -o run`

`largeea align "dumps/a-*.nt.gz" dumps/b --seeds known.tsv --write same-as -o run`

`largeea align dbp15k/fr_en -o run`
"""


def command(
    source: Annotated[
        Path, typer.Argument(help="Source graph: a file, a folder of files, a pattern; or a pair folder.")
    ],
    target: Annotated[
        Path | None, typer.Argument(help="Target graph; none if SOURCE is a pair folder.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the run (new, or to continue).")
    ] = ...,  # type: ignore[assignment]
    seeds: Annotated[
        Path | None, typer.Option(help="Known links: TSV, SSSOM, owl:sameAs or Alignment XML.")
    ] = None,
    preset: options.Preset = "default",
    config: options.ConfigFile = None,
    set: options.Settings = None,
    seed: options.Seed = None,
    without: options.Without = None,
    write: Annotated[
        list[str] | None,
        typer.Option(help="Format to write: sssom, same-as, alignment-api, tsv, parquet; repeatable."),
    ] = None,
    format: options.Format = None,
    columns: options.ColumnMap = None,
    label: options.Labels = None,
    language: options.Languages = None,
    pair_language: options.PairLanguage = None,
    max_errors: options.MaxErrors = 0,
    json: options.Json = False,
) -> None:
    """Align two graphs: which entities of SOURCE and TARGET are the same thing?

    Into the folder of an earlier run, it does again only what depends on what has changed since.
    """
    settings = options.also_named_by(label, options.make_config(preset, config, set, seed, without))
    reading = options.make_read_options(format, columns, label, language, max_errors, pair_language)
    formats = tuple(find_format(name).name for name in write or ["sssom"])
    if target is None and not pair_folder(source):
        files_of(source)
        raise UsageError(f"{source} is one graph; give the other one too, or a folder that holds a pair")
    carry_out(Request(source, target, seeds, reading, formats), settings, output, json)


def carry_out(request: Request, config: Config, folder: Path, json: bool, mend: bool = False) -> None:
    """Do what is asked for, or what is left of it; tell the answer. To `mend`, look at every stored file."""
    with Run(folder, request.to_plain()) as run:
        identity = run.identify_inputs(request.files(), repr(request.reading))
        alignment = run_stages(lambda: read_anew(request, run), identity, config, run).alignment
        if mend:
            run.forget_damaged()
        with step("write"):
            files = write_results(alignment, folder, list(request.formats))
            run.vouch_for(files, summary=summary(alignment))
            files += run.manifest["stages"]["task"]["files"]
    if json:
        screen.json({"run": str(folder), **summary(alignment), "files": files})
        return
    show(alignment, folder, files)


def read_anew(request: Request, run: Run) -> Task:
    """Read the input and account for it; malformed lines are listed in the run's folder."""
    assert run.folder is not None
    rejects = Rejects(request.reading.max_errors)
    task = read_task(request.source, request.target, request.seeds, request.reading, rejects)
    check_unchanged(run.manifest["inputs"])
    accounts = {"source": account_of(task.source), "target": account_of(task.target)}
    for side, account in accounts.items():
        note(f"{side}: {account_in_words(account)}")
    if len(rejects):
        with atomic_write(run.folder / REJECTS) as file:
            rejects.write(file)
        run.attach(REJECTS)
    else:
        (run.folder / REJECTS).unlink(missing_ok=True)
    run.describe(read=accounts)
    return task


def read_task(
    source: Path, target: Path | None, seeds: Path | None, reading: ReadOptions, rejects: Rejects
) -> Task:
    """Both graphs and the seeds. Links that a pair folder holds stay out: they are for evaluation."""
    if target is None:
        pair = read_pair(source, reading.naming, rejects, reading.pair_language)
        graphs = pair.source, pair.target
    else:
        graphs = read_graph(source, reading, rejects), read_graph(target, reading, rejects)
    known = Links.none() if seeds is None else resolve(read_links(seeds), *graphs)
    return Task(*graphs, known)


def write_results(alignment: Alignment, folder: Path, formats: list[str]) -> list[str]:
    """Write the alignment in each format, and the unmatched entities; the names of the files."""
    files = []
    for name in formats:
        files.append(find_format(name).file_name)
        with atomic_write(folder / files[-1]) as file:
            write_alignment(alignment, file, name)
    files.append(UNMATCHED_FILE_NAME)
    with atomic_write(folder / files[-1]) as file:
        write_unmatched(alignment, file)
    return files


def summary(alignment: Alignment) -> dict[str, int]:
    """The answer in numbers."""
    return {
        "accepted": len(alignment),
        "review": int((~alignment.accepted).sum()),
        "unmatched_source": len(alignment.unmatched_source),
        "unmatched_target": len(alignment.unmatched_target),
    }


def show(alignment: Alignment, folder: Path, files: list[str], examples: int = 5) -> None:
    """A few pairs, the numbers, and where the files are."""
    picked = np.unique(np.arange(examples) * len(alignment) // examples)[: len(alignment)]
    rows: list[tuple[str, ...]] = [
        (row["source_name"] or row["source"], row["target_name"] or row["target"], f"{row['confidence']:.2f}")
        for row in part(alignment, picked).to_table().to_pylist()
    ]
    if rows:
        screen.table("Some of the links", rows, ("source", "target", "confidence"))
    numbers = summary(alignment)
    screen.table(
        "Alignment", [(name.replace("_", " "), f"{n:,}") for name, n in numbers.items()], ("", "entities")
    )
    screen.result("Written to " + ", ".join(str(folder / file) for file in files))
