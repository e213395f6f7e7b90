"""The columns that tables of experiments are made of, each with its unit."""

from __future__ import annotations

from largeea.experiments.cells import Value
from largeea.experiments.measure import Figures
from largeea.experiments.tables import Column, find, mean, peak, total

SIZE, SHARE, K, OVERLAP = "entities per side", "seeds (%)", "mini-batches K", "overlap D_ov"
"""Labels of what is varied; every row has the share of links used as seeds."""

_NAME_STAGES = ("name-rows", "vectors", "by-vectors", "by-ngrams", "semantic", "strings", "names")
_EVIDENCE_STAGES = ("edges", "anchors-", "agreement", "neighbours", "candidates", "surroundings")

HITS1 = Column("Hits@1", find("protocols", "paper", "hits@1"))
HITS5 = Column("Hits@5", find("protocols", "paper", "hits@5"))
MRR = Column("MRR", find("protocols", "paper", "mrr"))
OPEN = Column("open Hits@1", find("protocols", "open", "hits@1"))
OPEN10 = Column("open Hits@10", find("protocols", "open", "hits@10"))
OPEN_MRR = Column("open MRR", find("protocols", "open", "mrr"))
F1 = Column("accepted F1", find("alignment", "f1"))
PRECISION = Column("precision", find("linked_ends", "precision"))
RECALL = Column("recall", find("linked_ends", "recall"))
ECE_LINKED_ENDS = Column("ECE", find("linked_ends", "ece"))
"""Over pairs with a linked end, as precision and recall; the benchmarks do not link all that is the same."""
PSEUDO_SEEDS = Column("pseudo-seeds", find("augmentation", "pseudo_seeds"), ",.0f")
PSEUDO_RIGHT = Column("right among them", find("augmentation", "precision"))
SECONDS = Column("total (s)", find("seconds", "stages"), ",.1f")
STRUCTURE_SECONDS = Column("structure channel (s)", find("seconds", "structure"), ",.1f")


def no_counterpart(figures: Figures) -> Value:
    """F1 of the decision that an entity has no counterpart; None where all have one."""
    return find("no_counterpart", "f1")(figures) if find("unlinked")(figures) != 0 else None


def peak_gb(figures: Figures) -> Value:
    """The highest peak memory of any stage."""
    host = peak("host", "")(figures)
    return host / 1024 if isinstance(host, int | float) else None


NO_COUNTERPART = Column("unmatched F1", no_counterpart)
PEAK = Column("peak (GB)", peak_gb, ",.1f")
RANKING = (HITS1, HITS5, MRR, OPEN, OPEN10, OPEN_MRR)
DECISION = (F1, PRECISION, RECALL, ECE_LINKED_ENDS, NO_COUNTERPART)

COMPONENTS = (
    Column("SENS (s)", find("seconds", "semantic"), ",.2f"),
    Column("STNS (s)", find("seconds", "strings"), ",.2f"),
    Column("METIS-CPS (s)", find("seconds", "batches"), ",.2f"),
    Column("training (s)", find("seconds", "structure"), ",.1f"),
    Column("evidence (s)", total("seconds", *_EVIDENCE_STAGES), ",.2f"),
)
"""Seconds of each component; training includes the search among a batch's embeddings."""


def edge_cut(figures: Figures) -> Value:
    """The mean edge-cut rate R_ec of both graphs."""
    source, target = (find("partition", "r_ec", side)(figures) for side in ("source", "target"))
    both = isinstance(source, float) and isinstance(target, float)
    return (source + target) / 2 if both else None  # type: ignore[operator]


CUT = Column("edge cut R_ec", edge_cut)
TEST_TOGETHER = Column("test pairs that meet", find("partition", "same_batch", "test"))

K_MADE = Column("K", mean("k"), ".0f")
ALL_MEET = Column("all pairs meet", mean("same_batch", "total"))
SEEDS_MEET = Column("seeds meet", mean("same_batch", "train"))
TEST_MEET = Column("test pairs meet", mean("same_batch", "test"))
CUT_SOURCE = Column("R_ec source", mean("r_ec", "source"))
CUT_TARGET = Column("R_ec target", mean("r_ec", "target"))
PARTITION_SECONDS = Column("time (s)", mean("seconds"), ",.2f")

MEMORY = (
    Column("data (MB)", peak("host", "source", "target"), ",.0f"),
    Column("name channel (MB)", peak("host", *_NAME_STAGES), ",.0f"),
    Column("structure channel (MB)", peak("host", "structure"), ",.0f"),
    Column("evidence (MB)", peak("host", *_EVIDENCE_STAGES), ",.0f"),
    Column("name channel, GPU (MB)", peak("gpu", *_NAME_STAGES), ",.0f"),
    Column("structure channel, GPU (MB)", peak("gpu", "structure"), ",.0f"),
)
