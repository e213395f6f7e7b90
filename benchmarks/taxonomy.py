"""Accuracy on real data with a complete reference: the NCBI taxonomy of 2021 against that of 2024, by clade.

    python benchmarks/taxonomy.py [--clades Mollusca Aves] [--seeds 0 60 own] [--without evidence] [--hard]
    python benchmarks/taxonomy.py --itself [--clades Mammalia]

IRIs are opaque, so only names and edges (parent, rank) tell entities apart; `taxonomy_graphs.py` describes
the graphs. Every clade is aligned with each number of seeds, true links drawn at random; `own` gives
the accepted pairs of the run without seeds back as seeds, and judges them like all pairs. The second table
shows what becomes of taxa that kept or changed their name, and of those whose id is on one side only: they
were merged, split, moved out of the clade, deleted or added. `--hard` drops 30 % of the leaves of each side
and abbreviates 40 % of the names of one ("M. musculus"). `--itself` aligns the graph of 2024 with a copy of
itself under other IRIs: every entity should be accepted with a confidence of at least .99. Graphs are kept in
the folder of `--work` and reused.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from judged import COLUMNS, COUNTS, EXPLANATION, align_and_judge, print_table, row
from largeea.finished import FinishedRun
from largeea.graph import KnowledgeGraph, strings
from taxonomy_graphs import CLADES, write_clade

OWN = "own"
FATES = ("accepted right", "accepted wrong", "doubtful", "no counterpart")
SURE = 0.99


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clades", nargs="+", default=CLADES, help="scientific names; default: %(default)s")
    parser.add_argument(
        "--seeds", nargs="+", default=["0", "60", "100", "200", OWN], help="default: %(default)s"
    )
    parser.add_argument("--without", nargs="+", default=(), help="parts to switch off; evidence: names alone")
    parser.add_argument("--hard", action="store_true", help="drop leaves and abbreviate names")
    parser.add_argument(
        "--itself", action="store_true", help="align each clade with a copy of itself, without seeds"
    )
    parser.add_argument("--work", type=Path, help="folder for graphs and runs; default: a temporary one")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    if unknown := [given for given in options.seeds if given != OWN and not given.isdecimal()]:
        parser.error(f"--seeds {unknown[0]}: give numbers of seeds, or {OWN}")
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        results = [result for name in options.clades for result in measure(name, work, options)]
    if options.json:
        print(json.dumps(results))
    else:
        show(results)


def measure(name: str, work: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Write the graphs of a clade unless they are there, and align them with each choice of seeds."""
    folder = work / (name + "-hard" * options.hard + "-itself" * options.itself)
    write_clade(folder, name, hard=options.hard, itself=options.itself)
    wanted = ["0"] if options.itself else options.seeds
    if OWN in wanted and "0" not in wanted:
        wanted = ["0", *wanted]
    taxa = [line.split("\t") for line in (folder / "taxa.tsv").read_text(encoding="utf-8").splitlines()]
    results: list[dict[str, Any]] = []
    for choice in sorted(wanted, key=lambda choice: (choice == OWN, choice.zfill(9))):
        if choice == OWN and not results[0]["accepted"]:
            print(f"{folder.name}: the run without seeds accepted nothing to give back", file=sys.stderr)
            continue
        figures, finished = align_and_judge(
            folder / "source.nt",
            folder / "target.nt",
            folder / "links.tsv",
            folder / f"run-{choice}",
            seeds=seed_file(folder, taxa, choice),
            seeds_are_true=choice != OWN,
            without=options.without,
        )
        sure = np.mean(finished.alignment.links.weight >= SURE) if len(finished.alignment) else 0.0
        fates = fates_of(taxa, finished, skip_seeds=choice != OWN)
        results.append(
            {"clade": folder.name, "seeds": choice, "sure": float(sure), **figures, "fates": fates}
        )
    return results


def seed_file(folder: Path, taxa: list[list[str]], choice: str) -> Path | None:
    """The file of seeds for a choice; a larger number of seeds contains the smaller ones."""
    if choice == OWN:
        return folder / "run-0" / "alignment.tsv"
    if int(choice) == 0:
        return None
    shared = [taxon for taxon in taxa if taxon[1] and taxon[2]]
    chosen = np.random.default_rng(0).permutation(len(shared))[: int(choice)]
    file = folder / f"seeds-{choice}.tsv"
    file.write_text("".join(f"{shared[i][1]}\t{shared[i][2]}\n" for i in chosen), encoding="utf-8")
    return file


def fates_of(
    taxa: list[list[str]], finished: FinishedRun, *, skip_seeds: bool
) -> dict[str, dict[str, float]]:
    """What becomes of each kind of taxon: their number, and the share of each of `FATES`."""
    _, source_iri, target_iri, source_name, target_name = map(np.array, zip(*taxa, strict=True))
    alignment = finished.alignment
    source, target = places(finished.source, source_iri), places(finished.target, target_iri)
    partner = np.full(finished.source.size, -1)
    partner[alignment.links.source] = alignment.links.target
    graphs = finished.source, finished.target
    listed, accepted = ([np.zeros(graph.size, bool) for graph in graphs] for _ in range(2))
    for side in (0, 1):
        listed[side][alignment.pairs[:, side]] = True
        accepted[side][alignment.links.pairs[:, side]] = True
    shared = (source >= 0) & (target >= 0)
    if skip_seeds:
        shared &= ~np.isin(source, finished.seeds.source)
    kinds = {
        "same name": (0, shared & (source_name == target_name)),
        "renamed": (0, shared & (source_name != target_name)),
        "id gone, name lives on": (0, (target < 0) & np.isin(source_name, target_name)),
        "id gone": (0, (target < 0) & ~np.isin(source_name, target_name)),
        "id new, name was there": (1, (source < 0) & np.isin(target_name, source_name)),
        "id new": (1, (source < 0) & ~np.isin(target_name, source_name)),
    }
    found = {}
    for kind, (side, chosen) in kinds.items():
        ids = (source, target)[side][chosen]
        right = shared[chosen] & (partner[source[chosen]] == target[chosen])
        linked = accepted[side][ids]
        states = right, linked & ~right, ~linked & listed[side][ids], ~linked & ~listed[side][ids]
        shares = {
            fate: float(np.mean(state)) if len(ids) else 0.0
            for fate, state in zip(FATES, states, strict=True)
        }
        found[kind] = {"taxa": len(ids), **shares}
    return found


def places(graph: KnowledgeGraph, iris: np.ndarray) -> np.ndarray:
    """The positions of the entities in a graph; -1 for an empty IRI."""
    return graph.find(strings(iris.tolist()))


def show(results: list[dict[str, Any]]) -> None:
    """Print the figures as two tables."""
    header = ("clade", "seeds", *COLUMNS, *COUNTS, f">= {SURE}")
    print_table(header, [[one["clade"], one["seeds"], *row(one), f"{one['sure']:.3f}"] for one in results])
    print(
        EXPLANATION,
        f"\nThe last column is the share of accepted pairs with a confidence of at least {SURE}.\n",
    )
    print_table(
        ("clade", "seeds", "taxa", "number", *FATES),
        [
            [one["clade"], one["seeds"], kind, f"{fate['taxa']:,}", *(f"{fate[name]:.3f}" for name in FATES)]
            for one in results
            for kind, fate in one["fates"].items()
            if fate["taxa"]
        ],
    )


if __name__ == "__main__":
    main()
