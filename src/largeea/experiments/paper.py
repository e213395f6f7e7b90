"""The paper's own figures, for comparison with ours.

Ge, Liu, Chen, Zheng, Gao: "LargeEA: Aligning Entities for Large-scale Knowledge Graphs", PVLDB 15(2), 2022.
Test sources are ranked against test targets, 20 % of the links are seeds; an RTX 3090, 128 GB of memory.
For plots without numbers, only the paper's text is quoted.
"""

from __future__ import annotations

from dataclasses import dataclass

from largeea.experiments.datasets import known_to_paper

SETS = ("ids15k-en-fr", "ids15k-en-de", "ids100k-en-fr", "ids100k-en-de", "dbp1m-en-fr", "dbp1m-en-de")
METHODS = {"largeea-r": "LargeEA-R", "largeea-g": "LargeEA-G"}
_HOUR = 3600


@dataclass(frozen=True)
class PaperTable:
    """A table of figures as printed in the paper."""

    source: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


# Hits@1, Hits@5 (%), MRR, seconds, GPU memory (GB); for each of SETS, from English, then to English.
_OVERALL: dict[str, tuple[tuple[float, ...], ...]] = {
    "LargeEA-G": (
        (88.4, 92.2, 0.90, 77.00, 1.54),
        (89.9, 92.9, 0.91, 75.86, 1.54),
        (89.2, 93.4, 0.91, 74.81, 1.54),
        (90.8, 94.2, 0.92, 75.89, 1.54),
        (83.9, 87.5, 0.86, 465.10, 1.74),
        (84.7, 87.8, 0.86, 450.29, 1.74),
        (85.6, 89.1, 0.87, 465.26, 1.74),
        (85.8, 89.2, 0.87, 452.48, 1.74),
        (51.8, 58.3, 0.55, 3.36 * _HOUR, 6.61),
        (50.6, 56.5, 0.53, 3.39 * _HOUR, 8.00),
        (55.3, 60.8, 0.58, 2.59 * _HOUR, 4.59),
        (55.5, 61.3, 0.58, 2.63 * _HOUR, 5.36),
    ),
    "LargeEA-R": (
        (88.7, 91.9, 0.90, 95.43, 1.54),
        (89.8, 92.7, 0.91, 98.33, 1.54),
        (89.2, 94.0, 0.91, 96.32, 1.54),
        (91.1, 94.9, 0.93, 96.31, 1.54),
        (84.4, 88.0, 0.86, 552.84, 4.04),
        (84.3, 87.5, 0.86, 559.51, 4.04),
        (83.4, 86.7, 0.85, 574.00, 4.04),
        (86.4, 89.6, 0.88, 577.88, 4.04),
        (52.8, 58.7, 0.56, 3.58 * _HOUR, 21.15),
        (51.5, 57.0, 0.54, 3.71 * _HOUR, 21.17),
        (56.1, 61.3, 0.59, 2.88 * _HOUR, 16.01),
        (56.2, 61.8, 0.59, 2.91 * _HOUR, 16.01),
    ),
}

# Equivalent pairs in one mini-batch (%): all, seeds, test; from English, then to English, for each of SETS.
_SAME_BATCH: dict[str, tuple[tuple[float, float, float], ...]] = {
    "metis-cps": (
        (64.9, 76.4, 62.0),
        (61.3, 68.1, 59.9),
        (86.2, 92.2, 84.7),
        (86.2, 92.3, 84.7),
        (60.8, 74.7, 57.4),
        (59.1, 66.6, 57.3),
        (61.4, 75.1, 58.3),
        (60.4, 71.1, 57.8),
        (42.0, 76.3, 30.3),
        (52.5, 71.5, 45.1),
        (46.7, 83.5, 32.7),
        (54.9, 80.5, 45.2),
    ),
    "vps": (
        (36.1, 100.0, 20.7),
        (36.1, 100.0, 20.7),
        (36.4, 100.0, 20.7),
        (36.4, 100.0, 20.7),
        (27.9, 100.0, 10.6),
        (27.9, 100.0, 10.5),
        (28.0, 100.0, 10.5),
        (28.0, 100.0, 10.5),
        (24.0, 100.0, 5.2),
        (24.2, 100.0, 5.2),
        (26.8, 100.0, 6.5),
        (25.4, 100.0, 5.9),
    ),
}

MEMORY = PaperTable(
    "appendix, table of GPU memory: with METIS-CPS / without partition, in GB; – did not fit",
    ("data set", "direction", "name channel", "LargeEA-R structure", "LargeEA-G structure"),
    (
        ("IDS15K", "EN→FR", "1.54", "1.02 / 4.07", "0.25 / 1.00"),
        ("IDS15K", "FR→EN", "1.54", "1.01 / 4.07", "0.25 / 0.50"),
        ("IDS15K", "EN→DE", "1.54", "1.01 / 4.07", "0.25 / 1.00"),
        ("IDS15K", "DE→EN", "1.54", "1.01 / 4.07", "0.25 / 0.50"),
        ("IDS100K", "EN→FR", "1.74", "4.04 / –", "1.06 / 4.00"),
        ("IDS100K", "FR→EN", "1.74", "4.04 / –", "1.00 / 4.00"),
        ("IDS100K", "EN→DE", "1.74", "4.04 / –", "1.00 / 4.00"),
        ("IDS100K", "DE→EN", "1.74", "4.04 / –", "0.50 / 4.00"),
        ("DBP1M", "EN→FR", "6.61", "21.15 / –", "4.00 / –"),
        ("DBP1M", "FR→EN", "7.37", "21.17 / –", "8.00 / –"),
        ("DBP1M", "EN→DE", "4.59", "16.01 / –", "4.00 / –"),
        ("DBP1M", "DE→EN", "5.36", "16.01 / –", "4.00 / –"),
    ),
)

UNSUPERVISED = PaperTable(
    "table of unsupervised results; its data augmentation made 528,040 (EN-FR) and 476,527 (EN-DE) seeds on "
    "DBP1M, 93.86 % and 93.85 % of them right",
    ("method", "direction", "DBP1M EN-FR: Hits@1 / Hits@5 / MRR / hours", "DBP1M EN-DE: the same"),
    (
        ("LargeEA-G", "EN→L", "51.8 / 58.3 / .55 / 3.39", "55.3 / 60.8 / .58 / 2.59"),
        ("LargeEA-G", "L→EN", "50.6 / 56.5 / .53 / 3.40", "55.6 / 61.3 / .58 / 2.64"),
        ("LargeEA-R", "EN→L", "52.8 / 58.7 / .56 / 3.61", "56.1 / 61.3 / .59 / 2.87"),
        ("LargeEA-R", "L→EN", "51.5 / 57.0 / .54 / 3.72", "56.2 / 61.8 / .59 / 2.93"),
    ),
)


def overall(preset: str, dataset: str, reverse: bool) -> dict[str, float | None]:
    """The paper's figures for this method and data set, as shares and seconds; None if not given."""
    rows = _OVERALL.get(METHODS.get(preset, ""), ())
    found = _of_set(rows, dataset, reverse) or (None,) * 5
    hits1, hits5, mrr, seconds, _ = found
    shares = [value and round(value / 100, 4) for value in (hits1, hits5)]
    return {"paper Hits@1": shares[0], "paper Hits@5": shares[1], "paper MRR": mrr, "paper (s)": seconds}


def same_batch(method: str, dataset: str, reverse: bool) -> dict[str, float | None]:
    """The paper's shares of equivalent pairs that are in the same mini-batch."""
    found = _of_set(_SAME_BATCH.get(method, ()), dataset, reverse) or (None,) * 3
    names = ("paper: all pairs", "paper: seeds", "paper: test pairs")
    return {name: value and round(value / 100, 4) for name, value in zip(names, found, strict=True)}


def overall_table() -> PaperTable:
    """The paper's table of overall results."""
    return PaperTable(
        "tables of overall results on IDS15K, IDS100K and DBP1M",
        ("method", "data set", "direction", "Hits@1 (%)", "Hits@5 (%)", "MRR", "time (s)", "GPU (GB)"),
        tuple(
            (method, SETS[i // 2], _direction(i), f"{h1}", f"{h5}", f"{mrr:.2f}", f"{seconds:.0f}", f"{gpu}")
            for method, rows in _OVERALL.items()
            for i, (h1, h5, mrr, seconds, gpu) in enumerate(rows)
        ),
    )


def same_batch_table() -> PaperTable:
    """The paper's table of partition quality."""
    return PaperTable(
        "appendix, table of equivalent entities that are placed into the same mini-batches, in %",
        ("method", "data set", "direction", "all pairs", "seeds", "test pairs"),
        tuple(
            (method, SETS[i // 2], _direction(i), *(f"{value}" for value in values))
            for method, rows in _SAME_BATCH.items()
            for i, values in enumerate(rows)
        ),
    )


def _of_set(rows: tuple[tuple[float, ...], ...], dataset: str, reverse: bool) -> tuple[float, ...] | None:
    known = known_to_paper(dataset)
    return rows[2 * SETS.index(known) + reverse] if known and rows else None


def _direction(row: int) -> str:
    return ("EN→L", "L→EN")[row % 2]
