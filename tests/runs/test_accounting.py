from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from largeea.alignment import Alignment
from largeea.graph import Int32, KnowledgeGraph, ReadCounts, strings
from largeea.runs.accounting import account_in_words, account_of, every_entity_is_answered

COUNTS = ReadCounts(files=1, statements=5, triples=2, literals=0, duplicates=3, rejected=4)


def graph(*entities: str, counts: ReadCounts = COUNTS) -> KnowledgeGraph:
    triples = np.array([[0, 0, 1], [1, 0, 0]])
    return KnowledgeGraph(strings(entities), strings(entities), strings(["p"]), triples, counts=counts)


def test_an_account() -> None:
    account = account_of(graph("_:b", "urn:a"))
    assert account_in_words(account) == (
        "2 entities (1 of them blank nodes); 5 statements = 2 triples + 0 literals + 3 duplicates; "
        "4 lines rejected"
    )


@pytest.mark.parametrize(
    "change",
    [{"statements": 6}, {"duplicates": 2}, {"triples": 3, "duplicates": 2}, {"literals": 3, "duplicates": 0}],
)
def test_an_account_that_does_not_add_up(change: dict[str, int]) -> None:
    with pytest.raises(RuntimeError, match="statements were lost in reading"):
        account_of(graph("urn:a", "urn:b", counts=replace(COUNTS, **change)))


def answer(*pairs: tuple[int, int]) -> Alignment:
    side = graph("_:b", "urn:a", "urn:c")
    found = np.array(pairs).reshape(-1, 2)
    return Alignment(side, side, found, np.ones(len(found)), np.arange(len(found)) != 2)


def test_every_entity_has_an_answer() -> None:
    for pairs in [(), ((1, 1),), ((1, 2), (2, 1))]:
        every_entity_is_answered(answer(*pairs))


@pytest.mark.parametrize(
    ("pairs", "complaint"),
    [
        (((0, 1),), "1 source entities have no answer or several, for example '_:b'"),
        (((1, 1), (1, 2)), "1 source entities have no answer or several, for example 'urn:a'"),
        (((1, 2), (2, 2)), "1 target entities have no answer or several, for example 'urn:c'"),
    ],
)
def test_blank_nodes_and_second_answers_are_noticed(
    pairs: tuple[tuple[int, int], ...], complaint: str
) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        every_entity_is_answered(answer(*pairs))


def test_a_lost_entity_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(alignment: Alignment) -> Int32:
        return np.array([2], np.int32)

    monkeypatch.setattr(Alignment, "unmatched_source", property(forgetful))
    with pytest.raises(
        RuntimeError, match="1 source entities have no answer or several, for example 'urn:a'"
    ):
        every_entity_is_answered(answer())
