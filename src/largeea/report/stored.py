"""`StoredRun`: a finished run read for a report, and what its manifest says about the way to the answer."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from largeea.errors import InputError
from largeea.finished import CHANNELS, FEATURES, FinishedRun
from largeea.graph import Bool, Int32, KnowledgeGraph, Links
from largeea.graph.ranges import expand_ranges
from largeea.matching.cardinality import Cardinality
from largeea.runs.artifacts import load_artifact
from largeea.runs.manifest import read_manifest, stage_file, way_on
from largeea.similarity import Similarity


class StoredRun(FinishedRun):
    """A finished run whose results are read once and stay memory-mapped.

    With `trusted`, files are not checked against their hashes: this process has just written them, and to
    hash all matrices takes longer than the report.
    """

    def __init__(self, folder: Path, trusted: bool = False) -> None:
        super().__init__(folder)
        self.manifest = read_manifest(folder)
        self.trusted = trusted
        self._loaded: dict[str, Any] = {}

    def load(self, stage: str) -> Any:
        """Return the stored result of a stage, whether the answer is directly made of it or not."""
        if stage not in self._loaded:
            record, path = self.manifest["stages"].get(stage), stage_file(self.folder, stage)
            if record is None or not path.is_file() or path.stat().st_size != record["bytes"]:
                problem = f"the result of the stage {stage!r} is missing or damaged"
                raise InputError(f"{problem}; repair it with: {way_on(self.folder)}", path)
            sha256 = None if self.trusted else record["sha256"]
            self._loaded[stage] = load_artifact(path, sha256, checked=not self.trusted)
        return self._loaded[stage]

    def has(self, stage: str) -> bool:
        """Return whether a stage belongs to this answer: an earlier one may have left others."""
        record = self.manifest["stages"].get(stage)
        timed = self.manifest["timings"].get(stage, {})
        return stage in self.stages or (record is not None and record["key"] in timed)

    @cached_property
    def evidence(self) -> dict[str, Similarity]:
        """The matrices that the answer was made of: channels, and features of names."""
        return {kind: self.load(stage) for kind, stage in self._evidence_stages().items()}

    def _evidence_stages(self) -> dict[str, str]:
        """Return the stage of each kind of evidence: those that the decision was called with, by key."""
        by_key = {record["key"]: name for name, record in self.manifest["stages"].items()}
        called = self.manifest["stages"].get("alignment", {}).get("arguments", [])
        found = {
            kind: by_key[handle["stage"]]
            for argument in called
            if isinstance(argument, dict)
            for kind, handle in argument.items()
            if isinstance(handle, dict) and handle.get("stage") in by_key
        }
        stages = CHANNELS | {feature: feature for feature in FEATURES}
        return found or {kind: stage for stage, kind in stages.items() if stage in self.stages}

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each channel in the fused score; 1 for channels that are added as they are."""
        called = self.manifest["stages"].get("fused", {}).get("arguments", [])
        numbers = (argument for argument in called if isinstance(argument, dict))
        learnt = next((found for found in numbers if _are_numbers(found.values())), {})
        return {kind: float(learnt.get(kind, 1.0)) for kind in self.evidence if kind not in FEATURES}

    @cached_property
    def worth(self) -> dict[str, float]:
        """The share of the uncertainty that each channel removes; empty if it was not measured."""
        measured_in = (
            re.fullmatch(r"worth-(\d+)", name) for name in self.manifest["stages"] if self.has(name)
        )
        rounds = [int(found[1]) for found in measured_in if found]
        if not rounds or not self.has("names-worth"):
            return {}
        measured = {kind: float(share[0]) for kind, share in self.load(f"worth-{max(rounds)}").items()}
        return measured | {"name": float(self.load("names-worth")["worth"][0])}

    @cached_property
    def rounds(self) -> list[Links]:
        """The anchors of each round, in order."""
        found: list[Links] = []
        while self.has(f"anchors-{len(found) + 1}"):
            found.append(self.load(f"anchors-{len(found) + 1}"))
        return found

    @property
    def is_calibrated(self) -> bool:
        """Whether confidence is a probability; without evidence, it is the mean of the channels."""
        return "likelihood" in self.stages

    @cached_property
    def is_given(self) -> Bool:
        """Whether people have given each pair of the answer, as a seed or by a review, `[pairs]`."""
        return self.alignment.given | Links(self.alignment.pairs).are_in(self.seeds)

    @cached_property
    def names_of_graphs(self) -> tuple[str, str]:
        """The names of both graphs, those of their files if they differ; equal if both are one graph."""
        request = self.manifest.get("request") or {}
        names = [Path(str(request.get(side) or "")).name for side in ("source", "target")]
        if self.is_within:
            return (names[0] or "the graph",) * 2
        distinct = all(names) and names[0] != names[1]
        return (names[0], names[1]) if distinct else ("the source graph", "the target graph")

    @property
    def is_within(self) -> bool:
        """Whether duplicates were searched within one graph."""
        return self.alignment.cardinality is Cardinality.WITHIN

    @property
    def graphs(self) -> dict[str, KnowledgeGraph]:
        """The graphs by name: two, or the one in which duplicates were searched."""
        return dict(zip(self.names_of_graphs, (self.source, self.target), strict=True))


def rows_of(matrix: Similarity, sources: Int32) -> Similarity:
    """Return the rows of some sources as a matrix of its own; only these are read from the file."""
    starts = matrix.indptr[sources]
    lengths = matrix.indptr[sources + 1] - starts
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    _, entries = expand_ranges(starts, lengths)
    shape = len(sources), matrix.shape[1]
    return Similarity(shape, pointers, matrix.indices[entries], matrix.scores[entries], matrix.floor)


def _are_numbers(values: Any) -> bool:
    found = list(values)
    return bool(found) and all(isinstance(value, int | float) for value in found)
