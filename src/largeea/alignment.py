"""The answer: which pairs are the same thing, which need a look, and what has no counterpart."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from largeea.graph import Arrays, Bool, Float32, Int32, KnowledgeGraph, Links, Strings, frozen


@dataclass(frozen=True, eq=False)
class Alignment:
    """Matched pairs between two graphs, best first.

    `pairs[n, 2]` are one-to-one, `confidence[n]` is in [0, 1], `accepted[n]` tells accepted pairs from pairs
    for review, and `evidence` holds one column `[n]` per kind of evidence ("name", "structure", ...), sorted.
    """

    source: KnowledgeGraph
    target: KnowledgeGraph
    pairs: Int32
    confidence: Float32
    accepted: Bool
    evidence: dict[str, Float32] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", frozen(self.pairs, np.int32, 2))
        object.__setattr__(self, "confidence", frozen(self.confidence, np.float32))
        object.__setattr__(self, "accepted", frozen(self.accepted, np.bool_))
        columns = {name: frozen(column, np.float32) for name, column in sorted(self.evidence.items())}
        object.__setattr__(self, "evidence", columns)
        for name, column in [("confidence", self.confidence), ("accepted", self.accepted), *columns.items()]:
            if len(column) != len(self.pairs):
                raise ValueError(f"{len(self.pairs)} pairs but {len(column)} values of {name}")

    def __len__(self) -> int:
        """Number of accepted pairs."""
        return int(self.accepted.sum())

    @property
    def links(self) -> Links:
        """The accepted pairs, weighted by confidence."""
        return Links(self.pairs[self.accepted], self.confidence[self.accepted])

    @property
    def unmatched_source(self) -> Int32:
        """Source entities in no accepted pair; blank nodes are not counted."""
        return _left_over(self.source, self.links.source)

    @property
    def unmatched_target(self) -> Int32:
        """Target entities in no accepted pair; blank nodes are not counted."""
        return _left_over(self.target, self.links.target)

    def to_arrays(self) -> Arrays:
        """All but the graphs, by name."""
        columns = {f"evidence/{name}": column for name, column in self.evidence.items()}
        return {"pairs": self.pairs, "confidence": self.confidence, "accepted": self.accepted, **columns}

    @classmethod
    def from_arrays(cls, source: KnowledgeGraph, target: KnowledgeGraph, arrays: Arrays) -> Alignment:
        """What `to_arrays` took apart, with its graphs."""
        columns = {
            name.removeprefix("evidence/"): column
            for name, column in arrays.items()
            if name.startswith("evidence/")
        }
        return cls(source, target, arrays["pairs"], arrays["confidence"], arrays["accepted"], columns)

    def to_table(self) -> pa.Table:
        """Every pair as a table: IRIs, names, confidence, status, evidence."""
        columns: dict[str, Strings] = {
            "source": self.source.entities.take(self.pairs[:, 0]),
            "target": self.target.entities.take(self.pairs[:, 1]),
            "source_name": self.source.names.take(self.pairs[:, 0]),
            "target_name": self.target.names.take(self.pairs[:, 1]),
            "confidence": pa.array(self.confidence),
            "status": pa.array(np.where(self.accepted, "accepted", "review")),
        }
        columns |= {f"evidence_{name}": pa.array(column) for name, column in self.evidence.items()}
        return pa.table(columns)


def _left_over(graph: KnowledgeGraph, matched: Int32) -> Int32:
    left = ~graph.anonymous
    left[matched] = False
    return np.flatnonzero(left).astype(np.int32)
