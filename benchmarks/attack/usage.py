"""Users on a bad day: options in any combination, and commands in an order that nobody foresaw.

The graphs are valid. Every command ends with an answer, or says what is wrong; no input is overwritten.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

from benchmarks.attack.process import fall, run
from benchmarks.attack.settings import all_fields, bounds
from benchmarks.attack.shapes import TOWNS
from benchmarks.attack.victims import VICTIMS, prepare
from benchmarks.attack.workshop import ALIGN, Attempt, Workshop

from largeea.config import PARTS
from largeea.formats.links import FORMATS
from largeea.formats.scope import Match

KINDS = ("alignment", "candidates", "similarity", "names")
INPUTS = ("a.nt", "b.nt", "a2.nt", "b2.nt", "other.nt", "links.tsv")
OPTIONS: dict[str, tuple[str, ...]] = {
    "--cardinality": ("1:1", "1:n", "n:1", "n:m", "2:2"),
    "--preset": ("default", "default", "largeea-g", "none"),
    "--without": PARTS,
    "--threshold": ("0", "1", "0.5", "-1", "nan"),
    "--prefer": ("precision", "balanced", "recall"),
    "--match": (*get_args(Match), "nothing"),
    "--write": tuple(FORMATS),
    "--same-iri": ("on", "off", "perhaps"),
    "--language": ("en", "xx", ""),
    "--label": ("urn:year", "urn:none", "rdfs:label", ""),
    "--links": ("links.tsv", "a.nt", "other.nt", "nowhere.tsv", "."),
    "--not-links": ("links.tsv", "b.nt"),
    "--lexicon": ("links.tsv", "nowhere.tsv", "a.nt"),
    "--encoder": ("ngram", "auto", "none", "bert:nowhere", "sentence-transformers:nowhere"),
    "--block-by": ("urn:year", "urn:p", "urn:none", "urn:year=urn:p", "="),
    "--source-types": ("urn:none", "owl:Thing", ","),
    "--target-select": ("SELECT ?x WHERE {?x <urn:year> ?y}", "SELECT ?x WHERE {}", "SELECT", "links.tsv"),
    "--leave-out": ("links.tsv", "all.txt", "nowhere.txt"),
    "--compatible-types": ("links.tsv", "a.nt"),
    "--predicate": ("skos:closeMatch", "urn:p", "no iri", ""),
    "--license": ("http://x/y", "\t", ""),
    "--date": ("2020-02-30", "2020-01-01", "yesterday"),
    "--format": ("n-triples", "csv", "parquet", "x"),
    "--columns": ("subject=id", "name=1", "=", "subject=0,relation=1,object=2"),
    "--max-errors": ("0", "999999999999999999999"),
    "--memory": ("1KB", "1GB", "900TB", "-1GB", "much"),
    "--threads": ("1", "3", "1000"),
    "--seed": ("0", "9223372036854775807", "9223372036854775808"),
    "--pair-language": ("fr",),
    "--sheet": ("x",),
}
CHAINS: dict[str, tuple[str, ...]] = {
    "update of duplicates": ("dedupe a.nt -o dupes -q", "update dupes --source a2.nt -o later -q"),
    "update of one side": ("update run --source a2.nt -o later -q", "update later --target b2.nt -o last -q"),
    "update with nothing new": ("update run --source a.nt --target b.nt -o later -q",),
    "update into its own folder": ("update run --source a2.nt -o run -q",),
    "update with another graph": ("update run --source other.nt -o later -q", "report later -q"),
    "everything of duplicates": (
        "dedupe a.nt -o dupes -q",
        *(
            f"{command} dupes"
            for command in ("status", "verify", "report", "merge -o m.nt", "schema -o s.tsv")
        ),
        *(f"{command} dupes" for command in ("evaluate --links links.tsv", "explain", "resume", "export")),
    ),
    "no links": (
        "align a.nt other.nt -o none -q",
        *(
            f"{command} none"
            for command in ("merge -o m.nt", "schema -o s.tsv", "report", "status", "resume")
        ),
        *(f"export none --what {what} -o e.parquet" for what in KINDS),
        "evaluate none --links links.tsv",
        "update none --source a2.nt -o later -q",
    ),
    "a graph with itself": ("align a.nt a.nt -o self -q", "merge self -o m.nt", "report self"),
    "another run's folder": ("align a2.nt b2.nt -o run -q", "align a2.nt b2.nt -o run -q --overwrite"),
    "results over inputs": (
        *("merge run -o a.nt", "merge run -o run", "merge run -o run/manifest.json", "schema run -o b.nt"),
        *("schema run -o run/manifest.json", "report run -o a.nt", "report run -o run/config.toml"),
        *("export run -o a.nt", "export run -o run/stages/x.parquet", "synth --like ids15k-en-fr -o a.nt"),
        *("align a.nt b.nt -o a.nt", "align a.nt b.nt -o .", "align . b.nt -o run"),
    ),
    "no run": tuple(
        f"{command} {folder}"
        for folder in ("nowhere", ".", "a.nt", "pair")
        for command in ("resume", "status", "verify", "report", "explain", "merge -o m.nt", "schema -o s.tsv")
    ),
    "runs that cannot be compared": ("align a.nt other.nt -o none -q", "report run none", "report run run"),
    "nobody of that name": ("explain run Nobody", "explain run urn:a:Paris urn:b:Nobody", "explain run ''"),
    "strange links": (
        *("evaluate run --links a.nt", "evaluate run --links other.nt", "evaluate run --links empty.txt"),
        *("align a.nt b.nt --links empty.txt -o fresh -q", "align empty.txt b.nt -o fresh -q"),
    ),
}
"""Commands, each in the folder that those before it have left."""
UNFINISHED = (
    *("report run", "explain run Paris", "evaluate run --links links.tsv", "merge run -o m.nt", "status run"),
    *(
        "verify run",
        "schema run -o s.tsv",
        "export run -o e.parquet",
        "update run --source a2.nt -o later -q",
    ),
    *("review run --no-open", "report run run"),
)
AFTER_A_MOVE = ("resume run -q", *UNFINISHED[:-2])


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    prepare(workshop)
    for state in ("inputs", "killed", "finished"):
        workshop.restore(state)
        Path("other.nt").write_text("".join(f'<urn:o:{i}> <urn:q> "{i * 7919}" .\n' for i in range(9)))
        Path("all.txt").write_text("".join(f"urn:a:{town}\n" for town in TOWNS))
        Path("empty.txt").touch()
        workshop.save(state)
    for what, commands in CHAINS.items():
        yield from chain(workshop, what, commands)
    for command in UNFINISHED:
        yield from chain(workshop, "unfinished run", (command,), "killed")
    for command in AFTER_A_MOVE:
        yield from chain(workshop, "input moved", (command,), before=lambda: Path("a.nt").rename("moved.nt"))
        yield from chain(workshop, "input replaced by a folder", (command,), before=_folder_for_input)
    yield from combinations(workshop, 300 if most is None else 5 * most)


def chain(
    workshop: Workshop,
    what: str,
    commands: tuple[str, ...],
    state: str = "finished",
    before: Callable[[], object] = lambda: None,
) -> Iterator[Attempt]:
    """Run commands one after the other; each ends well or with a clear error, and leaves the inputs alone."""
    workshop.restore(state)
    before()
    inputs = {name: Path(name).read_bytes() for name in INPUTS if Path(name).is_file()}
    for command in commands:
        wrong = fall(run([word.strip("'") for word in command.split()], VICTIMS["align"].ready))
        lost = [name for name, data in inputs.items() if Path(name).read_bytes() != data]
        wrong = wrong or (f"it has overwritten {lost[0]}" if lost else None)
        yield what, wrong and f"{command}: {wrong}"


def _folder_for_input() -> None:
    Path("a.nt").unlink()
    Path("a.nt").mkdir()
    shutil.copy("b.nt", "a.nt/b.nt")


def combinations(workshop: Workshop, count: int) -> Iterator[Attempt]:
    """Align with a few options at a time, and settings at the limits of their ranges."""
    choose = random.Random(0)
    settings = [f"{key}={value}" for key, field in all_fields() for value in _extremes(field)]
    for _ in range(count):
        given = [
            part
            for name in choose.sample(sorted(OPTIONS), choose.randint(0, 3))
            for part in (name, choose.choice(OPTIONS[name]))
        ]
        given += [
            part for setting in choose.sample(settings, choose.randint(0, 4)) for part in ("--set", setting)
        ]
        workshop.restore("inputs")
        wrong = fall(run([*ALIGN[:6], *given]))
        yield "options in combination", wrong and f"{' '.join(given)}: {wrong}"


def _extremes(field: Any) -> list[str]:
    """The ends of a setting's range, or all its choices."""
    if field.annotation is bool:
        return ["true", "false"]
    choices = [f'"{choice}"' for choice in get_args(field.annotation) if isinstance(choice, str)]
    return choices or [*bounds(field)][::3]
