from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from largeea.experiments import columns as c
from largeea.experiments.measure import unlinked
from largeea.graph import KnowledgeGraph, Links, Pair, strings

FIGURES: dict[str, Any] = {
    "protocols": {
        "paper": {"hits@1": 0.1, "hits@5": 0.2, "hits@10": 0.3, "mrr": 0.4},
        "open": {"hits@1": 0.5, "hits@5": 0.6, "hits@10": 0.7, "mrr": 0.8},
    },
    "alignment": {"precision": 0.11, "recall": 0.12, "f1": 0.13, "ece": 0.14},
    "linked_ends": {"precision": 0.15, "recall": 0.16, "f1": 0.17, "ece": 0.21},
    "no_counterpart": {"precision": 0.18, "recall": 0.19, "f1": 0.2},
    "memory_mb": {"source": {"host": 512.0, "gpu": 0.0}, "names": {"host": 1536.0, "gpu": 4096.0}},
}


def test_where_figures_are_found() -> None:
    found = {column.title: column.of(FIGURES) for column in (*c.RANKING, *c.DECISION, c.PEAK)}
    assert found == {
        "Hits@1": 0.1,
        "Hits@5": 0.2,
        "MRR": 0.4,
        "open Hits@1": 0.5,
        "open Hits@10": 0.7,
        "open MRR": 0.8,
        "accepted F1": 0.13,
        "precision": 0.15,
        "recall": 0.16,
        "ECE": 0.21,
        "unmatched F1": 0.2,
        "peak (GB)": 1.5,
    }
    assert all(column.of({"error": "why"}) is None for column in (*c.RANKING, *c.DECISION, c.PEAK))


STAGES = {
    *("source", "target", "given-seeds", "seeds-to-learn-from", "seeds-to-check-with", "seeds"),
    *("name-rows", "vectors", "by-vectors", "by-ngrams", "semantic", "strings", "names"),
    *("names-without-seeds", "no-evidence", "batches", "structure"),
    *("edges", "anchors-1", "agreement", "neighbours", "candidates", "surroundings"),
    *("fused", "likelihood", "alignment"),
}
"""The stages of a run that has all parts."""


def test_columns_look_at_stages_that_there_are() -> None:
    """A stage under a new name would leave a column empty, and an empty column is left out."""
    figures = {
        "seconds": dict.fromkeys(STAGES, 2.0),
        "memory_mb": {stage: {"host": 3.0, "gpu": 4.0} for stage in STAGES},
        "partition": {"seconds": 1.0},
    }
    columns = (*c.COMPONENTS, *c.MEMORY, c.STRUCTURE_SECONDS)
    assert all(column.of(figures) for column in columns), [
        column.title for column in columns if not column.of(figures)
    ]
    evidence = next(column for column in c.COMPONENTS if column.title.startswith("evidence"))
    assert evidence.of(figures) == 12, "edges, anchors, agreement, neighbours, candidates, surroundings"


@pytest.mark.parametrize(("count", "shown"), [(0, None), (3, 0.2)])
def test_unmatched_means_nothing_where_all_are_linked(count: int, shown: float | None) -> None:
    assert c.NO_COUNTERPART.of({**FIGURES, "unlinked": count}) == shown


def test_unlinked_entities_of_both_sides() -> None:
    def graph(size: int) -> KnowledgeGraph:
        names = strings([f"urn:{i}" for i in range(size)])
        return KnowledgeGraph(names, names, strings(["urn:r"]), np.array([[0, 0, 1]]))

    links = Links(np.array([[0, 0], [0, 1], [2, 2]]))
    assert unlinked(Pair(graph(4), graph(5), links)) == 2 + 2
