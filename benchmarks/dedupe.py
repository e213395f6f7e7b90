"""Duplicates among records of people: LargeEA and Splink on the same records.

`python benchmarks/dedupe.py --people 5000 --splink-python /path/to/venv/bin/python`
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import largeea
from dedupe_records import records
from largeea.evaluation import cluster_figures, evaluate
from largeea.graph import Links
from largeea.matching.clusters import cluster_numbers, pairwise_agreement

THRESHOLDS = (0.5, 0.8, 0.95, 0.99, 0.999, 0.9999)
"""Probabilities from which on Splink's pairs are accepted; its tutorials use 0.95."""
COLUMNS = "id", "name", "born", "street", "city", "phone"
HERE = Path(__file__).parent


def main() -> None:
    """Print pairwise precision, recall and F1 of the clusters that both find."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--people", type=int, default=5000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--splink-python", help="interpreter that has Splink; default: this one")
    options.add_argument("--alone", action="store_true", help="nobody shares an address or a phone")
    given = options.parse_args()
    table = records(given.people, given.seed, given.alone)
    person = np.array(table["person"], np.int64)
    print(
        f"{len(person):,} records of {given.people:,} people{', each alone' * given.alone}, seed {given.seed}"
    )
    start = time.perf_counter()
    alignment = largeea.dedupe({name: table[name] for name in COLUMNS})
    ours = time.perf_counter() - start
    truth = links_of(person, alignment.source.entities.to_pylist(), table["id"])
    figures = cluster_figures(alignment, truth)
    show("LargeEA, default", *shares(figures["pairwise"]), f"{ours:.1f} s")
    judged = evaluate(alignment, truth)
    show("  accepted pairs alone", *shares(judged["alignment"]), f"ECE {judged['alignment']['ece']:.3f}")
    show("  B-cubed", *shares(figures["b_cubed"]))
    python = given.splink_python or sys.executable
    if given.splink_python is None and importlib.util.find_spec("splink") is None:
        print("Splink is not installed: pip install splink, or give --splink-python")
        return
    compare_splink(python, table, person)


def links_of(person: np.ndarray, entities: list[str], ids: list[str]) -> Links:
    """Each record with the first record of the same person."""
    place = {entity: at for at, entity in enumerate(entities)}
    rows = np.array([place[one] for one in ids])
    _, first, group = np.unique(person, return_index=True, return_inverse=True)
    pairs = np.column_stack([rows[first[group]], rows])
    return Links(pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int32))


def compare_splink(python: str, table: dict[str, list[str]], person: np.ndarray) -> None:
    """Print what Splink finds at each threshold."""
    with tempfile.TemporaryDirectory() as folder:
        source, pairs = Path(folder) / "records.csv", Path(folder) / "pairs.csv"
        with source.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(zip(*(table[name] for name in COLUMNS), strict=True))
        done = subprocess.run(
            [python, str(HERE / "dedupe_splink.py"), str(source), str(pairs)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        with pairs.open() as file:
            rows = [(row[0], row[1], float(row[2])) for row in list(csv.reader(file))[1:]]
    place = {one: at for at, one in enumerate(table["id"])}
    seconds = done.stdout.split()[-1]
    ends = np.array([(place[one], place[other]) for one, other, _ in rows], np.int32).reshape(-1, 2)
    chance = np.array([probability for *_, probability in rows])
    is_right = person[ends[:, 0]] == person[ends[:, 1]]
    of_person = np.bincount(person)
    true = int((of_person * (of_person - 1) // 2).sum())
    for threshold in THRESHOLDS:
        accepted = chance >= threshold
        found = cluster_numbers(Links(ends[accepted]), len(person), 0, within=True)
        show(f"Splink, from {threshold}", *with_f1(*pairwise_agreement(found, person)), f"{seconds} s")
        right = int(is_right[accepted].sum())
        show("  accepted pairs alone", *with_f1(right / max(int(accepted.sum()), 1), right / true))


def shares(figures: dict[str, float]) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    return figures["precision"], figures["recall"], figures["f1"]


def with_f1(precision: float, recall: float) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean."""
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def show(name: str, precision: float, recall: float, f1: float, more: str = "") -> None:
    """Print a line of the table."""
    print(f"{name:24} precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}  {more}")


if __name__ == "__main__":
    main()
