"""Reading N-Triples: time against a bare pyoxigraph parse of the same file, memory per triple, compile time.

    python benchmarks/read.py [--lines 5000000]

Each side runs in a separate process, so that its peak memory can be measured. The file and the compiled
code are in a temporary folder, so that the first read compiles everything.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from largeea.execution.memory import peak_rss_mb


def generate(path: Path, lines: int, seed: int = 0) -> None:
    """Write a graph like a DBpedia dump: every fourth statement a literal, entity frequencies skewed."""
    rng = np.random.default_rng(seed)
    entities = lines // 5
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, lines, 100_000):
            count = min(100_000, lines - start)
            heads = (entities * rng.random(count) ** 2).astype(int).tolist()
            tails = (entities * rng.random(count) ** 2).astype(int).tolist()
            kinds = rng.integers(0, 400, count).tolist()
            for head, tail, kind in zip(heads, tails, kinds, strict=True):
                subject = f"<http://example.org/resource/Entity_number_{head}>"
                if kind % 4:
                    file.write(
                        f"{subject} <http://example.org/ontology/relation{kind}> "
                        f"<http://example.org/resource/Entity_number_{tail}> .\n"
                    )
                else:
                    literal = f'"Wert Nr. {tail} für {kind}"@de'
                    file.write(f"{subject} <http://example.org/property/p{kind}> {literal} .\n")


def bare_parse(path: Path) -> dict[str, float]:
    import pyoxigraph

    started = time.perf_counter()
    count = sum(1 for _ in pyoxigraph.parse(path=path, format=pyoxigraph.RdfFormat.N_TRIPLES))
    return {"seconds": time.perf_counter() - started, "statements": count}


def our_read(path: Path) -> dict[str, float]:
    from largeea.formats import read_graph

    warm = path.with_name("warm.nt")
    warm.write_text('<http://a> <http://b> <http://c> .\n<http://a> <http://b> "x" .\n')
    started = time.perf_counter()
    read_graph(warm)
    first = time.perf_counter() - started
    before = peak_rss_mb()
    started = time.perf_counter()
    graph = read_graph(path)
    seconds = time.perf_counter() - started
    columns = (graph.entities, graph.names, graph.relations, graph.attributes.values)
    strings_mb = sum(column.nbytes for column in columns) / 2**20
    return {
        "seconds": seconds,
        "first": first,
        "statements": graph.counts.statements,
        "peak_mb": peak_rss_mb() - before,
        "strings_mb": strings_mb,
    }


def in_own_process(side: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--side", side, "--file", str(path)]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(path.parent)}
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return dict(json.loads(result.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--side", choices=["bare", "ours"])
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(bare_parse(options.file) if options.side == "bare" else our_read(options.file)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.nt"
        generate(path, options.lines)
        bare, ours = in_own_process("bare", path), in_own_process("ours", path)
        assert bare["statements"] == ours["statements"] == options.lines
        per_triple = (ours["peak_mb"] - ours["strings_mb"]) * 2**20 / options.lines
        print(f"{options.lines:,} statements, {path.stat().st_size / 2**20:,.0f} MB")
        print(f"bare pyoxigraph parse   {bare['seconds']:7.1f} s")
        print(f"largeea read            {ours['seconds']:7.1f} s   {ours['seconds'] / bare['seconds']:.2f} x")
        print(f"first read, of two lines: {ours['first']:.1f} s, nearly all of it compiling")
        print(f"peak memory {ours['peak_mb']:,.0f} MB, of which strings {ours['strings_mb']:,.0f} MB")
        print(f"bytes per statement above the strings: {per_triple:.0f}")


if __name__ == "__main__":
    main()
