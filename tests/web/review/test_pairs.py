"""The pairs to review and their neighbours, where an entity is in several pairs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from largeea.finished import FinishedRun
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.web.review.neighbours import Neighbourhoods
from largeea.web.review.pairs import PairTable, Selection

PAIRS = [(0, 0), (0, 1), (1, 1), (2, 0), (2, 2)]


def graph(side: str) -> KnowledgeGraph:
    entities = strings([f"urn:{side}:{number}" for number in range(3)])
    return KnowledgeGraph(entities, strings([None] * 3), strings(), np.empty((0, 3)))


@pytest.fixture
def run() -> Any:
    source, target = graph("a"), graph("b")
    confidence = np.linspace(0.9, 0.5, len(PAIRS), dtype=np.float32)
    accepted = np.ones(len(PAIRS), bool)
    several = Cardinality.MANY_TO_MANY
    alignment = Alignment(source, target, np.array(PAIRS), confidence, accepted, cardinality=several)
    return SimpleNamespace(source=source, target=target, alignment=alignment, seeds=Links(np.array([[0, 0]])))


def iris(*numbers: int) -> list[tuple[str, str]]:
    return [(f"urn:a:{PAIRS[number][0]}", f"urn:b:{PAIRS[number][1]}") for number in numbers]


def test_only_the_last_pair_of_an_entity_was_found(run: Any) -> None:
    table = PairTable(run)
    assert table.find(iris(0, 3, 4)).tolist() == [0, 3, 4]
    assert table.find([("urn:a:1", "urn:b:0"), ("urn:a:9", "urn:b:0"), ("urn:a:0", "urn:b:9")]).tolist() == []
    assert table.find([]).tolist() == []


def test_a_reviewed_pair_stayed_among_the_unreviewed(run: Any) -> None:
    unreviewed = Selection(order="highest", unreviewed=True, since=1)
    assert PairTable(run).queue(unreviewed, lambda _: iris(0)).tolist() == [1, 2, 3, 4]


def test_the_other_pairs_of_a_seed_s_entity_were_missing_in_the_sample(run: Any) -> None:
    assert sorted(PairTable(run).sample.tolist()) == [1, 2, 3, 4]


def test_a_duplicate_on_the_source_side_was_called_in_no_pair(run: Any) -> None:
    ones, within = np.ones(1, np.float32), Cardinality.WITHIN
    one_pair = Alignment(run.source, run.source, np.array([[0, 1]]), ones, ones > 0, cardinality=within)
    run.target, run.alignment, run.seeds = run.source, one_pair, Links.none()
    table = PairTable(run)
    assert [table.partner_of_target(entity) for entity in range(3)] == ["urn:a:1", "urn:a:0", None]


def test_the_partner_of_a_target_is_that_of_its_best_pair(run: Any) -> None:
    table = PairTable(run)
    assert [table.partner_of_target(entity) for entity in range(3)] == ["urn:a:0", "urn:a:0", "urn:a:2"]


TRIPLES = np.array([[0, 0, 2], [1, 0, 2], [0, 1, 3], [1, 1, 4]])
"""Two entities that share a neighbour and have another one each."""


def neighbours(pairs: list[tuple[int, int]], cardinality: Cardinality) -> list[tuple[int, int]]:
    entities = strings([f"urn:{number}" for number in range(5)])
    graph = KnowledgeGraph(entities, strings([None] * 5), strings(["urn:p", "urn:q"]), TRIPLES)
    ones = np.ones(len(pairs), np.float32)
    alignment = Alignment(graph, graph, np.array(pairs), ones, ones > 0, cardinality=cardinality)
    run = SimpleNamespace(source=graph, target=graph, alignment=alignment, same=Links.none(), stages=())
    found = Neighbourhoods(cast(FinishedRun, run)).of(0, 1).matched
    return sorted((one.entity, other.entity) for one, other in found)


def test_duplicates_did_not_share_their_common_neighbour() -> None:
    assert neighbours([(0, 1), (3, 4)], Cardinality.WITHIN) == [(2, 2), (3, 4)]
    assert neighbours([(0, 1)], Cardinality.WITHIN) == [(2, 2)]


def test_only_the_last_counterpart_of_a_neighbour_was_seen() -> None:
    assert neighbours([(0, 1), (3, 4), (3, 0)], Cardinality.MANY_TO_MANY) == [(3, 4)]
    assert neighbours([(0, 1), (2, 3), (2, 2)], Cardinality.MANY_TO_MANY) == [(2, 2)]
