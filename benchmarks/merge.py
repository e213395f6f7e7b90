"""Merging at full size: seconds, peak memory, whether the statements add up, and SPARQL spot checks.

    python benchmarks/merge.py RUN [--samples 50]

RUN is a finished run of `largeea align SOURCE.nt TARGET.nt`. `largeea merge` runs in a process of its own,
whose memory is looked at ten times a second. For some linked pairs, all statements about them are taken from
both inputs, renamed by the links, and compared with what SPARQL finds in the merged graph.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox

from largeea.finished import FinishedRun
from largeea.formats.streams import open_bytes

ABOUT = "SELECT (COUNT(*) AS ?n) { { <IRI> ?p ?o } UNION { ?s ?p <IRI> } }"
ENDS = re.compile(rb"^<([^>]*)> <[^>]*> (?:<([^>]*)>)?")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--samples", type=int, default=50)
    options = parser.parse_args()
    inputs = [Path(one["path"]) for one in json.loads((options.run / "manifest.json").read_text())["inputs"]]
    renamed = target_to_source(options.run)
    with tempfile.TemporaryDirectory() as place:
        merged = Path(place, "merged.nt.zst")
        seconds, memory = timed_merge(options.run, merged)
        counts = [sum(1 for _ in lines(path)) for path in (*inputs, merged)]
        step = max(1, len(renamed) // options.samples)
        wanted = set(list(renamed.values())[::step][: options.samples])
        expected, found = ox.Store(), ox.Store()
        load(expected, (rename(line, renamed) for path in inputs for line in lines(path)), wanted)
        load(found, lines(merged), wanted)
    differing = [iri for iri in wanted if about(expected, iri) != about(found, iri) or not about(found, iri)]
    print(f"{len(renamed):,} links; {seconds:.0f} s; peak memory {memory:,.0f} MB")
    print(f"statements: {counts[0]:,} + {counts[1]:,} = {sum(counts[:2]):,}; merged: {counts[2]:,}")
    print(f"{len(wanted)} linked entities asked for by SPARQL: {len(differing)} differ")
    sys.exit(bool(differing or sum(counts[:2]) != counts[2]))


def timed_merge(run: Path, merged: Path) -> tuple[float, float]:
    """Seconds and peak memory in MB of `largeea merge`."""
    started, peak = time.perf_counter(), 0
    command = [sys.executable, "-m", "largeea", "merge", str(run), "-o", str(merged)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as merging:
        while merging.poll() is None:
            resident = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{merging.pid}/status").read_text())
            peak = max(peak, int(resident[1]) if resident else 0)
            time.sleep(0.1)
    if merging.returncode:
        raise SystemExit("largeea merge failed")
    return time.perf_counter() - started, peak / 1000


def target_to_source(run: Path) -> dict[bytes, bytes]:
    """The IRIs that linked targets have in the merged graph."""
    alignment = FinishedRun(run).alignment
    sides = (alignment.source, alignment.links.source), (alignment.target, alignment.links.target)
    source, target = (graph.entities.take(ids).cast("large_binary").to_pylist() for graph, ids in sides)
    return dict(zip(target, source, strict=True))


def lines(path: Path) -> Iterator[bytes]:
    with open_bytes(path) as file:
        yield from (line for line in file if line.startswith((b"<", b"_:")))


def rename(line: bytes, names: dict[bytes, bytes]) -> bytes:
    """A statement of an input with the IRIs that the merged graph has."""
    for iri in ends(line):
        if iri in names:
            line = line.replace(b"<" + iri + b">", b"<" + names[iri] + b">")
    return line


def ends(line: bytes) -> tuple[bytes, ...]:
    """The IRIs of the subject and the object of a statement."""
    found = ENDS.match(line)
    return tuple(filter(None, found.groups())) if found else ()


def load(store: ox.Store, statements: Iterator[bytes], wanted: set[bytes]) -> None:
    """Load the statements about some entities."""
    some = (line for line in statements if wanted.intersection(ends(line)))
    store.load(b"".join(some), format=ox.RdfFormat.N_TRIPLES)


def about(store: ox.Store, iri: bytes) -> int:
    """How many statements SPARQL finds about an entity."""
    return int(next(store.query(ABOUT.replace("IRI", iri.decode())))["n"].value)


if __name__ == "__main__":
    main()
