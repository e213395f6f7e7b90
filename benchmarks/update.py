"""Time and answer of an update, compared with those of a full run on the same new graphs.

    python benchmarks/update.py ../shared/data/dbp15k_fr_en --changed 0.05 --new 0.02

Both graphs of a benchmark folder, or one of them, get an old and a new version, as N-Triples. The old one
lacks some entities, which are new in the new one, the new one lacks half as many others, which are gone, and
some triples are left out, added or end elsewhere. Every run is a process of its own, measured from the start
of the interpreter to its end, with all compiled code cached; update and full run follow each other.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa

from largeea.finished import FinishedRun
from largeea.formats import ReadOptions, read
from largeea.graph import Bool, Int32, KnowledgeGraph, Pair
from largeea.merging.statements import StatementLines, write_graph
from largeea.merging.terms import Terms

PROGRAM = "from largeea.cli import main; main()"
BASE = "http://example.org/relation/"
"""Before ids that are no IRIs."""


def seconds(*arguments: str | Path) -> tuple[float, float]:
    """Wall time and processor time of a command."""
    started, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments), "--quiet"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[3:])} ended with {done.returncode}\n{done.stderr}")
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - started, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def two_versions(
    graph: KnowledgeGraph, changed: float, new: float, random: np.random.Generator
) -> tuple[Int32, Int32, Bool]:
    """The triples of an old and of a new version of a graph, and which entities are the same in both."""
    fate = random.random(graph.size)
    is_new, is_gone = fate < new, (fate >= new) & (fate < 1.5 * new)
    old = graph.triples[~is_new[graph.triples[:, [0, 2]]].any(axis=1)]
    now = graph.triples[~is_gone[graph.triples[:, [0, 2]]].any(axis=1)]
    chance = random.random(len(now))
    left_out, added, elsewhere = (
        (chance >= at * changed / 3) & (chance < (at + 1) * changed / 3) for at in range(3)
    )
    other_ends = now.copy()
    shuffled = np.lexsort((random.random(len(now)), now[:, 1]))
    other_ends[np.argsort(now[:, 1], kind="stable"), 2] = now[shuffled, 2]  # an end of the same relation
    parts = now[~left_out & ~elsewhere], other_ends[added | elsewhere]
    now = np.unique(np.concatenate(parts), axis=0)
    same = ~is_new & ~is_gone
    rows = np.concatenate([np.unique(old, axis=0), now])
    _, place, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    same[rows[count[place.ravel()] == 1][:, [0, 2]].ravel()] = False
    return old, now, same


def write(graph: KnowledgeGraph, triples: Int32, path: Path) -> None:
    """Write triples of a graph, and the literals of the entities that they name, as N-Triples."""
    named = np.zeros(graph.size, bool)
    named[triples[:, [0, 2]].ravel()] = True
    literals = graph.attributes
    kept = replace(literals, rows=literals.rows[named[literals.entity]])
    with path.open("wb") as stream:
        write_graph(
            replace(graph, triples=triples, attributes=kept), StatementLines(stream, Terms(BASE, ""), None)
        )


def accepted(folder: Path) -> dict[str, str]:
    """The accepted target of each source."""
    alignment = FinishedRun(folder).alignment
    pairs = alignment.links.pairs
    ends = alignment.source.entities.take(pairs[:, 0]), alignment.target.entities.take(pairs[:, 1])
    return dict(zip(*(column.to_pylist() for column in ends), strict=True))


def f1(links: dict[str, str], right: dict[str, str]) -> float:
    """Harmonic mean of precision and recall of links whose source has a right one."""
    asked = [source for source in links if source in right]
    return 2 * sum(links[source] == right[source] for source in asked) / (len(asked) + len(right))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pair", type=Path)
    parser.add_argument("--changed", type=float, default=0.05, help="share of triples that change")
    parser.add_argument(
        "--new", type=float, default=0.02, help="share of new entities; half as many are gone"
    )
    parser.add_argument("--sides", choices=("source", "target", "both"), default="source")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--noise", action="store_true", help="compare two full runs with other seeds, too")
    parser.add_argument("--keep", type=Path, help="folder for graphs and runs")
    wanted = parser.parse_args()
    pair = read(wanted.pair, ReadOptions())
    assert isinstance(pair, Pair)
    random = np.random.default_rng(wanted.seed)
    with tempfile.TemporaryDirectory() as temporary:
        place = wanted.keep or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        given: dict[str, tuple[Path, Path]] = {}
        same = np.ones(pair.source.size, bool)
        for side, graph in (("source", pair.source), ("target", pair.target)):
            versions = tuple(place / f"{side}_{version}.nt" for version in ("old", "new"))
            changes = wanted.sides in (side, "both")
            share, new = (wanted.changed, wanted.new) if changes else (0.0, 0.0)
            old, now, unchanged = two_versions(graph, share, new, random)
            write(graph, old, versions[0])
            if changes:
                write(graph, now, versions[1])
            given[side] = versions if changes else (versions[0], versions[0])
            same = unchanged if side == "source" else same
            print(
                f"{side}: {len(old):,} triples, then {len(now):,}; {unchanged.mean():.1%} entities unchanged"
            )
        run, updated, full = (place / name for name in ("run", "updated", "full"))
        shutil.rmtree(run, ignore_errors=True)
        first = seconds("align", given["source"][0], given["target"][0], "-o", run)
        print(f"full run on the old graphs: {first[0]:.2f} s", flush=True)
        options = [f"--{side}={given[side][1]}" for side in given if wanted.sides in (side, "both")]
        took: dict[str, list[tuple[float, float]]] = {"update": [], "full run": []}
        for _ in range(wanted.repeat):
            shutil.rmtree(updated, ignore_errors=True)
            took["update"].append(seconds("update", run, *options, "-o", updated))
            shutil.rmtree(full, ignore_errors=True)
            took["full run"].append(seconds("align", given["source"][1], given["target"][1], "-o", full))
            shown = (f"{name} {times[-1][0]:.2f} s ({times[-1][1]:.2f})" for name, times in took.items())
            print("wall time (processor time):", ", ".join(shown), flush=True)
        for number, kind in enumerate(("wall", "processor")):
            ratios = [update[number] / whole[number] for update, whole in zip(*took.values(), strict=True)]
            print(f"{kind} time of the update relative to the full run, median: {median(ratios):.1%}")
        entities = pair.source.entities.filter(pa.array(same)).to_pylist()
        ends = pair.source.entities.take(pair.links.source), pair.target.entities.take(pair.links.target)
        right = dict(zip(*(column.to_pylist() for column in ends), strict=True))
        answers = {"update": accepted(updated), "full run": accepted(full), "earlier run": accepted(run)}
        if wanted.noise:
            seconds("align", given["source"][1], given["target"][1], "-o", place / "noise", "--seed", "1")
            answers["full run, other seed"] = accepted(place / "noise")
        for name, links in answers.items():
            agreed = np.mean([links.get(entity) == answers["full run"].get(entity) for entity in entities])
            print(
                f"{name}: {len(links):,} links, F1 {f1(links, right):.4f}; counterpart of the full run for "
                f"{agreed:.2%} of {len(entities):,} unchanged source entities"
            )


if __name__ == "__main__":
    main()
