"""`Alignment`: the accepted pairs, the doubtful ones, and the unmatched entities."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from largeea.errors import UsageError
from largeea.graph import Arrays, Bool, Float32, Int32, Int64, KnowledgeGraph, Links, Strings, frozen
from largeea.graph.html import ROWS_SHOWN, html_table
from largeea.matching.cardinality import Cardinality
from largeea.matching.clusters import cluster_numbers


@dataclass(frozen=True, eq=False)
class Alignment:
    """Matched pairs between two graphs, best first.

    `pairs[n, 2]` are as many for each entity as the `cardinality` allows. `confidence[n]` is in [0, 1],
    `accepted[n]` is False for doubtful pairs, and `evidence` holds one column `[n]` per kind of evidence
    ("name", "structure", ...), by name.
    `same` are pairs with equal IRIs, which are known to be the same: none of their entities is in `pairs`.
    `given[n]` is True for pairs that people have given, as seeds or by a review; without it, none is.
    """

    source: KnowledgeGraph
    target: KnowledgeGraph
    pairs: Int32
    confidence: Float32
    accepted: Bool
    evidence: dict[str, Float32] = field(default_factory=dict)
    same: Links = field(default_factory=Links.none)
    given: Bool = None  # type: ignore[assignment]
    cardinality: Cardinality = Cardinality.ONE_TO_ONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", frozen(self.pairs, np.int32, 2))
        object.__setattr__(self, "confidence", frozen(self.confidence, np.float32))
        object.__setattr__(self, "accepted", frozen(self.accepted, np.bool_))
        given = np.zeros(len(self.pairs), bool) if self.given is None else self.given
        object.__setattr__(self, "given", frozen(given, np.bool_))
        evidence = {name: frozen(column, np.float32) for name, column in sorted(self.evidence.items())}
        object.__setattr__(self, "evidence", evidence)
        columns = {name: getattr(self, name) for name in ("confidence", "accepted", "given")} | evidence
        for name, column in columns.items():
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
    def unmatched_source(self) -> Strings:
        """IRIs of source entities that can be linked and are in no pair, not even a doubtful one."""
        return self.source.entities.take(self.unmatched_source_ids)

    @property
    def unmatched_target(self) -> Strings:
        """IRIs of target entities that can be linked and are in no pair, not even a doubtful one."""
        return self.target.entities.take(self.unmatched_target_ids)

    @property
    def unmatched_source_ids(self) -> Int32:
        """Positions of the entities in `unmatched_source`."""
        paired = self.pairs if self.cardinality is Cardinality.WITHIN else self.pairs[:, 0]
        return _left_over(self.source, paired, self.same.source)

    @property
    def unmatched_target_ids(self) -> Int32:
        """Positions of the entities in `unmatched_target`; none within one graph, which is the source."""
        if self.cardinality is Cardinality.WITHIN:
            return np.empty(0, np.int32)
        return _left_over(self.target, self.pairs[:, 1], self.same.target)

    @property
    def clusters(self) -> Int64:
        """The cluster of each entity that accepted pairs join, -1 for others, `[entities]`.

        Entities of the source graph come first, then those of the target, unless both are the same graph.
        """
        within = self.cardinality is Cardinality.WITHIN
        return cluster_numbers(self.links, self.source.size, self.target.size, within)

    @property
    def summary(self) -> dict[str, int]:
        """The numbers of accepted and doubtful pairs, unmatched entities and pairs of equal IRIs."""
        return {
            "accepted": len(self),
            "doubtful": int((~self.accepted).sum()),
            "unmatched_source": len(self.unmatched_source_ids),
            "unmatched_target": len(self.unmatched_target_ids),
            "same_iri": len(self.same),
        }

    def __repr__(self) -> str:
        numbers = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in self.summary.items())
        return f"Alignment({numbers})"

    def _repr_html_(self) -> str:
        """The counts and the first pairs, for notebooks."""
        first = self.pairs[:ROWS_SHOWN]
        rows = zip(
            self.source.entities.take(first[:, 0]).to_pylist(),
            self.target.entities.take(first[:, 1]).to_pylist(),
            self.source.names.take(first[:, 0]).to_pylist(),
            self.target.names.take(first[:, 1]).to_pylist(),
            self.confidence[:ROWS_SHOWN].tolist(),
            ["accepted" if accepted else "doubtful" for accepted in self.accepted[:ROWS_SHOWN]],
            strict=True,
        )
        header = ("source", "target", "source name", "target name", "confidence", "status")
        return html_table(repr(self), header, rows, len(self.pairs) - ROWS_SHOWN)

    def to_arrays(self) -> Arrays:
        """Return everything except the graphs, as arrays by name."""
        columns = {f"evidence/{name}": column for name, column in self.evidence.items()}
        if self.cardinality is not Cardinality.ONE_TO_ONE:
            columns["cardinality"] = np.array([list(Cardinality).index(self.cardinality)])
        return {
            "pairs": self.pairs,
            "confidence": self.confidence,
            "accepted": self.accepted,
            "given": self.given,
            "same": self.same.pairs,
            **columns,
        }

    @classmethod
    def from_arrays(cls, source: KnowledgeGraph, target: KnowledgeGraph, arrays: Arrays) -> Alignment:
        """Build an alignment from its graphs and the arrays of `to_arrays`."""
        columns = {
            name.removeprefix("evidence/"): column
            for name, column in arrays.items()
            if name.startswith("evidence/")
        }
        decided = arrays["pairs"], arrays["confidence"], arrays["accepted"]
        given = arrays.get("given", np.zeros(len(arrays["pairs"]), bool))
        cardinality = list(Cardinality)[int(arrays.get("cardinality", [0])[0])]
        return cls(source, target, *decided, columns, Links(arrays["same"]), given, cardinality)

    def to_table(self) -> pa.Table:
        """Return all pairs as a table: IRIs, names, confidence, status, evidence."""
        columns: dict[str, Strings] = {
            "source": self.source.entities.take(self.pairs[:, 0]),
            "target": self.target.entities.take(self.pairs[:, 1]),
            "source_name": self.source.names.take(self.pairs[:, 0]),
            "target_name": self.target.names.take(self.pairs[:, 1]),
            "confidence": pa.array(self.confidence),
            "status": pa.array(np.where(self.accepted, "accepted", "doubtful")),
        }
        columns |= {f"evidence_{name}": pa.array(column) for name, column in self.evidence.items()}
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """Return the table of `to_table` as a pandas `DataFrame`."""
        _package("pandas")
        return self.to_table().to_pandas()

    def to_polars(self) -> Any:
        """Return the table of `to_table` as a polars `DataFrame`."""
        return _package("polars").from_arrow(self.to_table())

    def to_duckdb(self, connection: Any = None) -> Any:
        """Return the table of `to_table` as a DuckDB relation, of the default connection unless one is given.

        Example: `alignment.to_duckdb().filter("confidence < 0.9").order("confidence").limit(20)`.
        """
        database = _package("duckdb")
        return (database if connection is None else connection).from_arrow(self.to_table())


def _left_over(graph: KnowledgeGraph, paired: Int32, same: Int32) -> Int32:
    left = graph.linkable.copy()
    left[paired] = left[same] = False
    return np.flatnonzero(left).astype(np.int32)


def _package(name: str) -> Any:
    """Return the Python package that a conversion needs."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"to_{name} needs the Python package {name!r}, which is not installed: pip install {name}"
        ) from error
