"""Accuracy on RDF that nobody prepared: `align` on each folder of `real_rdf`, with and without evidence.

    python benchmarks/real_rdf.py [--folders anatomy sabine restaurants] [--without evidence] [--json]

A folder holds `source`, `target` and `reference` files in any format. Two judgements are printed, because
references differ: that of anatomy is complete, so all accepted pairs count; that of restaurants does not link
addresses and cities, so only pairs with a linked end count. Vocabulary terms (predicates, and terms of RDF,
RDFS, OWL and other common vocabularies) among the accepted links are listed: they are not data.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judged import COLUMNS, COUNTS, EXPLANATION, align_and_judge, print_table, row
from largeea.errors import LargeEAError
from largeea.finished import FinishedRun
from largeea.graph import KnowledgeGraph

DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
VOCABULARIES = "^http://(www\\.w3\\.org|purl\\.org/dc|xmlns\\.com/foaf|schema\\.org|purl\\.org/vocab)/"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folders", nargs="+", help="names of folders in real_rdf; default: all")
    parser.add_argument("--without", nargs="+", help="run only without these parts; default: both")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    data = DATA / "real_rdf"
    names = options.folders or sorted(path.name for path in data.iterdir() if path.is_dir())
    choices = [options.without] if options.without else [[], ["evidence"]]
    with tempfile.TemporaryDirectory() as runs:
        results = [measure(data / name, without, Path(runs) / "run") for name in names for without in choices]
    print(json.dumps(results)) if options.json else show(results)


def measure(folder: Path, without: list[str], run: Path) -> dict[str, Any]:
    """Align the files of a folder; its figures and the vocabulary terms that were linked."""
    files = [next(folder.glob(f"{part}.*")) for part in ("source", "target", "reference")]
    try:
        figures, finished = align_and_judge(*files, run, without=without)
    except LargeEAError as error:
        return {"folder": folder.name, "without": without, "error": str(error)}
    return {
        "folder": folder.name,
        "without": without,
        **figures,
        "vocabulary_terms": vocabulary_terms(finished),
    }


def vocabulary_terms(finished: FinishedRun) -> list[list[str]]:
    """The accepted pairs of which an end is a vocabulary term, as IRIs."""
    links = finished.alignment.links
    ends = [
        graph.entities.take(pa.array(ids))
        for graph, ids in ((finished.source, links.source), (finished.target, links.target))
    ]
    terms = [
        is_term(graph, iris) for graph, iris in zip((finished.source, finished.target), ends, strict=True)
    ]
    found = np.flatnonzero(terms[0] | terms[1])
    return [[iris[place].as_py() for iris in ends] for place in found.tolist()]


def is_term(graph: KnowledgeGraph, iris: pa.Array) -> np.ndarray:
    """bool[n]: the IRIs that are predicates of the graph or belong to a common vocabulary."""
    predicates = pc.is_in(iris, graph.relations.cast(iris.type))
    return np.asarray(pc.or_(predicates, pc.match_substring_regex(iris, VOCABULARIES)))


def show(results: list[dict[str, Any]]) -> None:
    """Print the figures as a table, and the vocabulary terms."""
    done = [one for one in results if "error" not in one]
    rows = [[one["folder"], " ".join(one["without"]) or "-", *row(one)] for one in done]
    print_table(("folder", "without", *COLUMNS, *COUNTS), rows)
    print(EXPLANATION)
    for one in results:
        if "error" in one:
            print(f"{one['folder']}: not measured: {one['error']}")
    for one in done:
        for source, target in one["vocabulary_terms"]:
            print(f"{one['folder']}: vocabulary term linked: {source} - {target}")


if __name__ == "__main__":
    main()
