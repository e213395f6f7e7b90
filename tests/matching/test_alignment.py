from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from largeea.graph import KnowledgeGraph, strings
from largeea.matching.alignment import Alignment

SOURCE = KnowledgeGraph(
    strings(["_:b", "urn:a", "urn:b", "urn:c"]), strings([None, "Ä", None, "C"]), strings(), np.empty((0, 3))
)
TARGET = KnowledgeGraph(
    strings(["_:x", "urn:x", "urn:y"]), strings(["blank", "X", None]), strings(), np.empty((0, 3))
)
ALIGNMENT = Alignment(
    SOURCE,
    TARGET,
    np.array([[1, 2], [3, 1]]),
    np.array([0.75, 0.25]),
    np.array([True, False]),
    {"name": np.array([0.5, 0.25])},
)


def test_only_accepted_pairs_are_links() -> None:
    assert len(ALIGNMENT) == 1
    assert ALIGNMENT.links.pairs.tolist() == [[1, 2]]
    assert ALIGNMENT.links.weight is not None
    assert ALIGNMENT.links.weight.tolist() == [0.75]


def test_neither_doubtful_pairs_nor_blank_nodes_are_unmatched() -> None:
    assert ALIGNMENT.unmatched_source.to_pylist() == ["urn:b"]
    assert ALIGNMENT.unmatched_target.to_pylist() == []
    assert ALIGNMENT.unmatched_source_ids.tolist() == [2]
    assert ALIGNMENT.unmatched_target_ids.tolist() == []
    assert ALIGNMENT.unmatched_source_ids.dtype == np.int32


def test_the_answer_in_numbers() -> None:
    numbers = {"accepted": 1, "doubtful": 1, "unmatched_source": 1, "unmatched_target": 0, "same_iri": 0}
    assert ALIGNMENT.summary == numbers
    assert repr(ALIGNMENT) == (
        "Alignment(1 accepted, 1 doubtful, 1 unmatched source, 0 unmatched target, 0 same iri)"
    )


def test_arrays_and_back() -> None:
    arrays = ALIGNMENT.to_arrays()
    assert set(arrays) == {"pairs", "confidence", "accepted", "given", "same", "evidence/name"}
    again = Alignment.from_arrays(SOURCE, TARGET, arrays)
    assert again.to_table() == ALIGNMENT.to_table()
    assert again.accepted.tolist() == ALIGNMENT.accepted.tolist()


def test_to_table() -> None:
    assert ALIGNMENT.to_table().to_pydict() == {
        "source": ["urn:a", "urn:c"],
        "target": ["urn:y", "urn:x"],
        "source_name": ["Ä", "C"],
        "target_name": [None, "X"],
        "confidence": [0.75, 0.25],
        "status": ["accepted", "doubtful"],
        "evidence_name": [0.5, 0.25],
    }


def test_the_empty_answer() -> None:
    empty = Alignment(SOURCE, TARGET, np.empty((0, 2)), np.empty(0), np.empty(0), {"name": np.empty(0)})
    assert len(empty) == 0
    assert empty.unmatched_source.to_pylist() == ["urn:a", "urn:b", "urn:c"]
    assert empty.unmatched_source_ids.tolist() == [1, 2, 3]
    table = empty.to_table()
    assert table.num_rows == 0
    assert table.schema == ALIGNMENT.to_table().schema


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"confidence": np.array([1.0])}, "2 pairs but 1 values of confidence"),
        ({"accepted": np.array([True])}, "2 pairs but 1 values of accepted"),
        ({"evidence": {"structure": np.array([1.0])}}, "2 pairs but 1 values of structure"),
    ],
)
def test_columns_must_fit(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(ALIGNMENT, **wrong)  # type: ignore[arg-type]


def test_it_cannot_be_changed() -> None:
    for column in (ALIGNMENT.pairs, ALIGNMENT.confidence, ALIGNMENT.accepted, ALIGNMENT.evidence["name"]):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0
