"""Reconciles names of a pair's source graph against its target graph over HTTP, in batches.

    python benchmarks/reconcile.py ../shared/data/dbp15k_fr_en --names 500 --batch 10

Only the query text is sent. The links of the pair judge the answers and are used for nothing else.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import numpy as np

from largeea.formats import read
from largeea.graph import Pair

TOP = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pair", type=Path, help="folder of a benchmark pair")
    parser.add_argument("--names", type=int, default=500, help="names to reconcile")
    parser.add_argument("--batch", type=int, default=10, help="queries in a request")
    given = parser.parse_args()
    names, truth = linked_names(given.pair, given.names)
    command = [sys.executable, "-m", "largeea", "reconcile", str(given.pair), "--quiet"]
    started = time.perf_counter()
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        ready = time.perf_counter() - started
        started = time.perf_counter()
        found = reconcile(url, names, given.batch)
        seconds = time.perf_counter() - started
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
    ranks = [ids.index(true) if true in ids else TOP for ids, true in zip(found, truth, strict=True)]
    top_1, top_5 = (np.mean(np.array(ranks) < most) for most in (1, TOP))
    print(f"{len(names):,} names, batches of {given.batch}: top-1 {top_1:.3f}, top-{TOP} {top_5:.3f}")
    print(f"ready in {ready:.1f} s, then {len(names) / seconds:,.0f} queries a second over HTTP")


def linked_names(folder: Path, count: int) -> tuple[list[str], list[str]]:
    """Names of source entities that have a counterpart, spread evenly, and the IRIs of the counterparts."""
    pair = read(folder)
    assert isinstance(pair, Pair)
    links = pair.links.canonical()
    links = links.take(pair.source.named[links.source])
    links = links.take(np.linspace(0, len(links) - 1, min(count, len(links))).astype(np.int64))
    names: list[str] = pair.source.names.take(links.source).to_pylist()
    return names, pair.target.entities.take(links.target).to_pylist()


def reconcile(url: str, names: list[str], batch: int) -> list[list[str]]:
    """The identifiers of the best candidates of each name."""
    found: list[list[str]] = []
    with httpx2.Client(timeout=60) as client:
        for first in range(0, len(names), batch):
            queries = {
                f"q{number}": {"query": name, "limit": TOP}
                for number, name in enumerate(names[first : first + batch])
            }
            answer = client.post(url, data={"queries": json.dumps(queries)}).raise_for_status().json()
            found += [[candidate["id"] for candidate in answer[key]["result"]] for key in queries]
    return found


if __name__ == "__main__":
    main()
