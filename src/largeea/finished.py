"""`FinishedRun`: the answer of a finished run and everything it was made of, read back from its folder."""

from __future__ import annotations

from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from largeea.evidence.literals import value_numbers
from largeea.evidence.witnesses import JoinedGraphs
from largeea.formats.links import GivenPairs
from largeea.graph import Int32, KnowledgeGraph, Links
from largeea.matching.alignment import Alignment
from largeea.matching.forbidden import without_pairs
from largeea.runs.folder import load_stage
from largeea.runs.manifest import records_of_answer
from largeea.similarity import Similarity

CHANNELS = {"equal-names": "name", "names": "name", "neighbours-of-others": "neighbours"} | {
    kind: kind for kind in ("structure", "neighbours", "surroundings", "literals", "learnt")
}
"""Stages that hold the matrices of the channels: stage to channel.

An answer with evidence has `equal-names`, without it `names`.
"""
MATCHED_AGAIN = "matched-again"
"""The stage that holds `M` instead of `fused` where reviews have taught something about other pairs."""
ITSELF = "itself"
"""The stage that holds every entity with itself, where a graph was compared with itself."""
FEATURES = ("semantic", "strings")
"""Stages that hold what the name channel is made of."""


class FinishedRun:
    """A finished run; each part is read when it is first asked for.

    Example: `FinishedRun(Path("run")).alignment.to_table()`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stages = tuple(records_of_answer(folder))

    def _repr_html_(self) -> str:
        """The folder and the first pairs of the answer, for notebooks."""
        return f"<p>{escape(f'Finished run in {self.folder}')}</p>{self.alignment._repr_html_()}"

    def load(self, stage: str) -> Any:
        """The stored result of one stage."""
        return load_stage(self.folder, stage)

    @cached_property
    def source(self) -> KnowledgeGraph:
        """The source graph."""
        graph: KnowledgeGraph = self.load("source")
        return graph

    @cached_property
    def target(self) -> KnowledgeGraph:
        """The target graph."""
        graph: KnowledgeGraph = self.load("target")
        return graph

    @cached_property
    def seeds(self) -> Links:
        """The seeds that were given."""
        links: Links = self.load("given-seeds")
        return links

    @cached_property
    def reviewed(self) -> Links:
        """The pairs that the run knows people to have called right (weight 1) or wrong (0)."""
        return GivenPairs.from_arrays(self.load("given-pairs")).reviewed

    @cached_property
    def same(self) -> Links:
        """The pairs with equal IRIs, those that are not matched included."""
        links: Links = self.load("same-iri")
        return links

    @cached_property
    def fused(self) -> Similarity:
        """`M`: the scores that the answer was drawn from."""
        matrix: Similarity = self.load(MATCHED_AGAIN if MATCHED_AGAIN in self.stages else "fused")
        return matrix

    @cached_property
    def alignment(self) -> Alignment:
        """The answer."""
        return Alignment.from_arrays(self.source, self.target, self.load("alignment"))

    @cached_property
    def evidence(self) -> dict[str, Similarity]:
        """What each channel found, and each feature of names."""
        kinds = CHANNELS | {feature: feature for feature in FEATURES}
        found = {kind: self.load(stage) for stage, kind in kinds.items() if stage in self.stages}
        if ITSELF not in self.stages:
            return found
        itself = self.load(ITSELF)
        return {kind: without_pairs(matrix, itself) for kind, matrix in found.items()}

    @cached_property
    def anchors(self) -> Links | None:
        """The anchors that the evidence of the last round was made from; None without evidence."""
        if ITSELF in self.stages:
            itself: Links = self.load(ITSELF)
            return itself
        rounds = [int(name.removeprefix("anchors-")) for name in self.stages if name.startswith("anchors-")]
        return self.load(f"anchors-{max(rounds)}") if rounds else None

    @cached_property
    def joined(self) -> JoinedGraphs | None:
        """Both graphs, joined by the anchors of the last round; None without evidence."""
        if self.anchors is None:
            return None
        return JoinedGraphs.of(self.load("edges"), self.anchors, self.load("agreement"))

    @cached_property
    def value_numbers(self) -> Int32:
        """The number of each source literal's value among those that both graphs have, `[literals]`."""
        return value_numbers(self.source, self.target)[0]
