"""Time and memory of `largeea build-dbp1m` on generated dumps of a given size.

    python benchmarks/build_dbp1m.py --triples 1000000

Popularity is Zipf-distributed as in DBpedia, a third of the entities are linked, and links go to five
languages.
"""

from __future__ import annotations

import argparse
import bz2
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
REDIRECTS = "http://dbpedia.org/ontology/wikiPageRedirects"
BUILD = """
import json, sys, time
from largeea.cli import run
from largeea.execution.memory import peak_rss_mb
started = time.perf_counter()
code = run(sys.argv[1:])
wall, cpu = time.perf_counter() - started, time.process_time()
print(json.dumps({"code": code, "wall_s": round(wall, 1), "cpu_s": round(cpu, 1), "peak_mb": peak_rss_mb()}))
"""


def write_dumps(folder: Path, language: str, other: str, triples: int, seed: int) -> int:
    """Write objects, labels and links of one language; returns the number of lines."""
    rng = np.random.default_rng(seed)
    host = "dbpedia.org" if language == "en" else f"{language}.dbpedia.org"
    things = triples // 3
    popular = (things * rng.power(0.4, triples)).astype(np.int64)
    spread = rng.integers(0, things, triples)
    relations = rng.zipf(1.5, triples) % 600

    def iri(number: int, at: str = host) -> str:
        return f"<http://{at}/resource/Thing_number_{number:07d}_of_the_world>"

    names = {
        "mappingbased_objects": (
            f"{iri(h)} <http://dbpedia.org/ontology/relation{r}> {iri(t)} .\n"
            for h, r, t in zip(spread.tolist(), relations.tolist(), popular.tolist(), strict=True)
        ),
        "labels": (
            f'{iri(n)} <{LABEL}> "Thing number {n} of the world"@{language} .\n' for n in range(things)
        ),
        "redirects": (
            f"<http://{host}/resource/Old_name_{n}> <{REDIRECTS}> {iri(n)} .\n" for n in range(things)
        ),
        "interlanguage_links": (
            f"{iri(n)} <http://www.w3.org/2002/07/owl#sameAs> {iri(n, at)} .\n"
            for n in range(0, things, 3)
            for at in (
                f"{other}.dbpedia.org".removeprefix("en."),
                *(f"{x}.dbpedia.org" for x in ("de", "es", "it", "ja")),
            )
        ),
    }
    folder.mkdir(parents=True)
    lines = 0
    for name, statements in names.items():
        with bz2.open(folder / f"{name}_{language}.ttl.bz2", "wt", compresslevel=1) as file:
            file.write("# started 2017-07-06T12:05:32Z\n")
            for statement in statements:
                file.write(statement)
                lines += 1
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--triples", type=int, default=1_000_000, help="of the source; the target has half")
    triples = options.parse_args().triples
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lines = write_dumps(folder / "en", "en", "fr", triples, 1)
        lines += write_dumps(folder / "fr", "fr", "en", triples // 2, 2)
        arguments = ["--source-dumps", str(folder / "en"), "--target-dumps", str(folder / "fr")]
        arguments = ["build-dbp1m", *arguments, "--languages", "en", "fr", "-o", str(folder / "out")]
        for what in ("anew", "again, from distilled dumps"):
            run = [sys.executable, "-c", BUILD, *arguments]
            done = subprocess.run(run, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(done.stderr)
            figures = json.loads(done.stdout.splitlines()[-1])
            print(f"{lines:,} lines, {what}: {figures}\n{done.stderr}")
        card = json.loads((folder / "out" / "card.json").read_text())
        print(json.dumps({key: card[key] for key in ("links", "source", "target")}, indent=1))
        work = sum(file.stat().st_size for file in (folder / "out" / "work").iterdir())
        print(f"distilled: {work >> 20} MB")


if __name__ == "__main__":
    main()
