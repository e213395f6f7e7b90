"""The catalogue of experiments: the cells, table columns and plot panels of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from largeea.experiments import columns as c
from largeea.experiments import paper, plans
from largeea.experiments.cells import Cell
from largeea.experiments.paper import PaperTable
from largeea.experiments.plots import Panel, panels, side_by_side
from largeea.experiments.scope import Scope
from largeea.experiments.tables import Column, Row


@dataclass(frozen=True)
class Experiment:
    """An experiment with its table and plot; `paper` returns the paper's figures for a cell's row."""

    name: str
    title: str
    about: str
    cells: Callable[[Scope], Iterator[Cell]]
    columns: tuple[Column, ...]
    panels: Callable[[Sequence[Row]], list[Panel]]
    paper: Callable[[Cell], dict[str, float | None]] = lambda cell: {}
    paper_table: PaperTable | None = None


def _placed(rows: Sequence[Row], *labels: str) -> list[Row]:
    """Rows with an extra column that joins some labels, for the x axis of a plot."""
    return [{**row, " / ".join(labels): "\n".join(str(row[label]) for label in labels)} for row in rows]


def _with_seeds(rows: Sequence[Row]) -> list[Row]:
    """Rows with an extra column that states the share of seeds in words."""
    return [{**row, "seeds": f"{row[c.SHARE]:g} % seeds" if row[c.SHARE] else "no seeds"} for row in rows]


def _melted(rows: Sequence[Row], titles: Sequence[str]) -> list[Row]:
    """Long format: one row for each memory figure of a row, for a grouped bar plot."""
    return [
        {**row, "component": title.removesuffix(" (MB)"), "memory (MB)": row[title]}
        for row in rows
        for title in titles
        if row.get(title) is not None
    ]


_DECISION = (
    "*Accepted F1* judges all accepted pairs, *precision* and *recall* those with an end that the benchmark "
    "links. *ECE* is how far confidence is from the share that is right, over accepted and doubtful pairs "
    "with such an end. *Unmatched F1* judges which entities are said to have no counterpart; it means little "
    "where a benchmark leaves entities unlinked that have one, as DBP15K and IDS15K do. Seconds are those of "
    "all stages but reading; memory is that of the process, with what earlier rows have left in it (alone: "
    "the experiment on memory)."
)

CATALOGUE = (
    Experiment(
        "overall",
        "Overall results",
        "Every preset on every data set. Hits@1, Hits@5 and MRR rank test sources against test targets, as "
        "the paper does; *open* against all targets that are not seeds. " + _DECISION,
        plans.overall,
        (*c.RANKING, *c.DECISION, c.SECONDS, c.PEAK),
        lambda rows: panels(
            _placed(rows, "data set", "direction"),
            "data set / direction",
            ("Hits@1",),
            "method",
            bars=True,
            reference="paper Hits@1",
        ),
        lambda cell: paper.overall(cell.preset, cell.dataset.name, cell.reverse),
        paper.overall_table(),
    ),
    Experiment(
        "scalability",
        "Scalability",
        "Seconds of every component on synthetic twins whose sizes double. Libraries are loaded and "
        "code is compiled before. The paper's figure has no numbers; its text: the time of each "
        "component grows almost linearly with size.",
        plans.scalability,
        (*c.COMPONENTS, c.SECONDS, c.HITS1),
        lambda rows: side_by_side(
            rows, c.SIZE, [column.title for column in (*c.COMPONENTS, c.SECONDS)], "method", "time (s)"
        ),
    ),
    Experiment(
        "ablation",
        "Ablation",
        "One part of the method is left out at a time. The paper's figure has no numbers; its text: "
        "Hits@1 falls without structure, by 3 to 37 points without names, and by 2 to 14 points without "
        "data augmentation.",
        plans.ablation,
        (c.HITS1, c.HITS5, c.MRR, c.OPEN, c.PSEUDO_SEEDS, c.SECONDS),
        lambda rows: panels(rows, "variant", ("Hits@1",), "data set", by="method", bars=True),
    ),
    Experiment(
        "seeds",
        "Seeds and partitions",
        "The structure channel alone, with mini-batches by METIS-CPS, by VPS and without partition, "
        "while the share of seeds grows. The paper's figure has no numbers; its text: METIS-CPS is "
        "above VPS for every share, on average about 8 points below no partition, and up to 4 times as "
        "fast as that.",
        plans.seeds,
        (c.HITS1, c.MRR, c.TEST_TOGETHER, c.CUT, c.STRUCTURE_SECONDS),
        lambda rows: panels(rows, c.SHARE, ("Hits@1", c.STRUCTURE_SECONDS.title), "partition", by="data set"),
    ),
    Experiment(
        "batches",
        "Number of mini-batches",
        "The structure channel alone, in K mini-batches, and the edge-cut rate R_ec: the share of "
        "triples of both graphs that no mini-batch has. The paper's figure (K from 15 to 30 on DBP1M) "
        "has no numbers; its text: Hits@1 falls as K grows, and METIS-CPS is above VPS for every K.",
        plans.batches,
        (c.HITS1, c.MRR, c.CUT, c.TEST_TOGETHER, c.STRUCTURE_SECONDS),
        lambda rows: panels(rows, c.K, ("Hits@1", c.CUT.title), "partition", by="data set"),
    ),
    Experiment(
        "overlap",
        "Overlapping mini-batches",
        "The structure channel alone; each mini-batch is made of D_ov parts. The paper's figure has no "
        "numbers; its text: Hits@1 stays almost the same whatever D_ov is.",
        plans.overlap,
        (c.HITS1, c.MRR, c.TEST_TOGETHER, c.CUT, c.STRUCTURE_SECONDS),
        lambda rows: panels(
            rows, c.OVERLAP, ("Hits@1", c.STRUCTURE_SECONDS.title), "partition", by="data set"
        ),
    ),
    Experiment(
        "partition-quality",
        "Partition quality",
        "The share of equivalent pairs whose ends meet in a mini-batch, mean over random splits. *merged* is "
        "ours, the others are the paper's.",
        plans.partition_quality,
        (c.K_MADE, c.ALL_MEET, c.SEEDS_MEET, c.TEST_MEET, c.CUT_SOURCE, c.CUT_TARGET, c.PARTITION_SECONDS),
        lambda rows: panels(
            _placed(rows, "data set", "direction"),
            "data set / direction",
            (c.TEST_MEET.title,),
            "partition",
            bars=True,
            reference="paper: test pairs",
        ),
        lambda cell: paper.same_batch(cell.config.partition.method, cell.dataset.name, cell.reverse),
        paper.same_batch_table(),
    ),
    Experiment(
        "unsupervised",
        "Without any seed",
        "Every preset without seeds, where names make them, beside the usual share of the links as "
        "seeds. Without seeds all links are test links, with seeds only the others. Columns are those of the "
        "overall results. Pseudo-seeds are judged where one of their ends is linked.",
        plans.unsupervised,
        (*c.RANKING, *c.DECISION, c.PSEUDO_SEEDS, c.PSEUDO_RIGHT, c.SECONDS, c.PEAK),
        lambda rows: panels(
            _placed(_with_seeds(_placed(rows, "data set", "direction")), "method", "seeds"),
            "data set / direction",
            ("Hits@1",),
            "method / seeds",
            bars=True,
        ),
        paper_table=paper.UNSUPERVISED,
    ),
    Experiment(
        "memory",
        "Memory",
        "Peak memory of the process, and of the GPU where one is used, during each channel; every row "
        "is measured in a process of its own. *data* is what the process needs with nothing but the two "
        "graphs.",
        plans.memory,
        c.MEMORY,
        lambda rows: panels(
            _melted(_placed(rows, "method", "partition"), [column.title for column in c.MEMORY]),
            "method / partition",
            ("memory (MB)",),
            "component",
            by="data set",
            bars=True,
        ),
        paper_table=paper.MEMORY,
    ),
)
EXPERIMENTS = {experiment.name: experiment for experiment in CATALOGUE}
