"""Commands that write files: how each is begun, and how its user goes on after it was interrupted."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

from benchmarks.attack.events import Events, kill_me
from benchmarks.attack.process import fall, run
from benchmarks.attack.shapes import TOWNS
from benchmarks.attack.workshop import ALIGN, Workshop, required, write_pair

from largeea.datasets import registry
from largeea.experiments import measure
from largeea.runs import store

KILLED_AT = 40
"""The event at which the run was killed that `resume` finishes."""


def store_jobs_at_once() -> None:
    """Store every job: the stages of a tiny pair are too short otherwise."""
    store.JOBS_AFTER = 0.0


@dataclass(frozen=True)
class Victim:
    """A command that is attacked in a saved state of the workshop; `again` finishes what it left.

    `ready` is called in its process first.
    """

    state: str
    arguments: list[str]
    again: Callable[[], list[str]]
    ready: Callable[[], None] = store_jobs_at_once


def _the_same(*arguments: str, state: str = "finished", ready: Callable[[], None] | None = None) -> Victim:
    return Victim(state, list(arguments), lambda: list(arguments), ready or store_jobs_at_once)


def _resume_or(arguments: list[str], folder: str) -> Callable[[], list[str]]:
    return lambda: ["resume", folder, "-q"] if Path(folder, "manifest.json").is_file() else arguments


def know_an_archive(url: str | None = None, file: str = "pair.zip") -> None:
    """Let `data get` know a data set `attack`, by default one whose archive is in the current folder."""
    any_other = next(iter(registry.DATA_SETS.values()))
    registry.DATA_SETS["attack"] = replace(
        any_other,
        name="attack",
        file=file,
        url=url or Path("pair.zip").absolute().as_uri(),
        size=None,
        checksum=None,
        folders=(),
    )


def _measure_no_time() -> None:
    """Let figures depend on nothing but the data."""
    measure.time = SimpleNamespace(perf_counter=lambda: 0.0)  # type: ignore[assignment]
    machine = measure.describe() | {"load": 0.0}
    measure.describe = lambda: machine


_UPDATE = ["update", "run", "--source", "a2.nt", "--target", "b2.nt", "-o", "run2", "-q"]
_OTHER_SEED = [*ALIGN, "--seed", "7", "--write", "tsv"]
_DEDUPE = ["dedupe", "a.nt", "-o", "run3", "-q"]
_BUILD = ["build-dbp1m", "--source-dumps", "en.nt", "--target-dumps", "fr.nt", "--languages", "en", "fr"]
_EXPERIMENT = ["experiment", "partition-quality", "--data", "pair", "--quick", "--set", "partition.k=2"]
VICTIMS = {
    "align": Victim("inputs", ALIGN, _resume_or(ALIGN, "run")),
    "align, other settings": Victim("finished", _OTHER_SEED, lambda: _OTHER_SEED),
    "resume": _the_same("resume", "run", "-q", state="killed"),
    "update": Victim("finished", _UPDATE, _resume_or(_UPDATE, "run2")),
    "dedupe": Victim("inputs", _DEDUPE, _resume_or(_DEDUPE, "run3")),
    "merge": _the_same("merge", "run", "-o", "merged.nt", "-q"),
    "merge, compressed": _the_same("merge", "run", "-o", "merged.nq.gz", "--provenance", "graphs", "-q"),
    "schema": _the_same("schema", "run", "-o", "schema.sssom.tsv", "-q"),
    "export": _the_same("export", "run", "--what", "candidates", "-o", "candidates.parquet", "-q"),
    "report": _the_same("report", "run", "-q"),
    "synth": _the_same("synth", "--like", "ids15k-en-fr", "--scale", "0.004", "-o", "twin", "-q"),
    "build-dbp1m": _the_same(*_BUILD, "-o", "built", "-q", state="inputs"),
    "experiment": _the_same(*_EXPERIMENT, "-o", "results", "-q", state="inputs", ready=_measure_no_time),
    "data get": _the_same("data", "get", "attack", "-q", state="inputs", ready=know_an_archive),
}


def prepare(workshop: Workshop) -> None:
    """Save the states `inputs`, `killed` and `finished`."""
    workshop.clear()
    write_pair()
    write_dumps()
    write_pair_folder(Path("pair"))
    write_archive()
    workshop.save("inputs")
    required(ALIGN)
    workshop.save("finished")
    workshop.restore("inputs")
    run(ALIGN, lambda: Events(workshop.work).watch(KILLED_AT, kill_me))
    workshop.save("killed")
    workshop.restore("finished")


def write_dumps() -> None:
    """Write dumps in two languages, with links between them, into the current folder."""
    hosts = {"en": "http://dbpedia.org/resource", "fr": "http://fr.dbpedia.org/resource"}
    for language, host in hosts.items():
        lines = [f"<{host}/{town}> <http://dbpedia.org/ontology/team> <{host}/Hub> .\n" for town in TOWNS]
        if language == "en":
            same = "<http://www.w3.org/2002/07/owl#sameAs>"
            lines += [f"<{host}/{town}> {same} <{hosts['fr']}/{town}> .\n" for town in TOWNS]
        Path(f"{language}.nt").write_text("".join(lines))


def write_pair_folder(folder: Path) -> None:
    """Write a tiny pair in the layout of OpenEA."""
    folder.mkdir()
    for number, side in ((1, "a"), (2, "b")):
        edges = (f"urn:{side}:{one}\tp\turn:{side}:{other}\n" for one in TOWNS for other in TOWNS)
        (folder / f"rel_triples_{number}").write_text("".join(edges))
    (folder / "ent_links").write_text("".join(f"urn:a:{town}\turn:b:{town}\n" for town in TOWNS))


def write_archive() -> None:
    """Pack the pair folder, as a publisher would."""
    with zipfile.ZipFile("pair.zip", "w") as archive:
        for path in sorted(Path("pair").iterdir()):
            archive.writestr(zipfile.ZipInfo(str(path)), path.read_bytes())


def undisturbed(workshop: Workshop, victim: Victim, reading: bool = False) -> tuple[int, dict[str, bytes]]:
    """Return the number of events of a command that nobody attacks, and the files that it leaves."""
    workshop.restore(victim.state)
    events = Events(workshop.work, reading)

    def watch() -> None:
        victim.ready()
        events.watch()

    outcome = run(victim.arguments, watch)
    if fall(outcome, (0,)):
        raise SystemExit(f"largeea {' '.join(victim.arguments)}: {outcome.err}")
    return events.count, workshop.content()
