"""Real RDF that nobody prepared: what is an entity there, and what is linked."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from largeea import align
from largeea.errors import LargeEAWarning
from largeea.formats import read_graph
from largeea.formats.vocabularies import NAMESPACES
from largeea.graph import KnowledgeGraph, Role, strings
from largeea.runs.accounting import account_of

DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).parents[2] / "shared" / "data")) / "real_rdf"
PAIRS = ("anatomy", "sabine", "restaurants")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no such folder: {DATA}")


def graphs(name: str) -> list[KnowledgeGraph]:
    return [read_graph(DATA / name / f"{side}.rdf.gz") for side in ("source", "target")]


def test_anatomy_consists_of_classes() -> None:
    """The seven and six classes of the format itself (`oboInOwl:Synonym`, ...) are vocabulary."""
    for graph, classes, of_format in zip(graphs("anatomy"), (2744, 3304), (7, 6), strict=True):
        account_of(graph)
        declared = graph.triples[
            graph.triples[:, 2] == graph.find(strings(["http://www.w3.org/2002/07/owl#Class"]))[0], 0
        ]
        assert len(declared) == classes
        assert (graph.roles[declared] == Role.CLASS).sum() == classes - of_format
        assert (graph.roles[declared] == Role.VOCABULARY).sum() == of_format
        assert not any("genid" in iri for iri in graph.entities.to_pylist())
        assert not graph.anonymous.any()
        assert "part_of" in "".join(graph.relations.to_pylist()), "restrictions are edges"
        synonyms = "http://www.geneontology.org/formats/oboInOwl#hasRelatedSynonym"
        assert synonyms in graph.attributes.predicates.to_pylist()


@pytest.mark.parametrize(
    ("name", "with_alias_nodes"), [("sabine", [True, False]), ("restaurants", [False, False])]
)
def test_individuals_and_classes_are_told_apart(name: str, with_alias_nodes: list[bool]) -> None:
    for graph, folded in zip(graphs(name), with_alias_nodes, strict=True):
        account_of(graph)
        counts = np.bincount(graph.roles, minlength=len(Role))
        assert counts[Role.INDIVIDUAL] > 0.9 * graph.size
        assert bool(graph.counts.folded) == bool(graph.counts.text_nodes) == folded


@pytest.mark.parametrize("name", PAIRS)
def test_no_vocabulary_term_is_linked(name: str) -> None:
    source, target = graphs(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeEAWarning)  # how sure the answer is, is not the question here
        alignment = align(source, target, config={"evidence": {"rounds": 1}})
    assert len(alignment.pairs)
    for graph, ends in ((alignment.source, alignment.pairs[:, 0]), (alignment.target, alignment.pairs[:, 1])):
        wanted = Role.CLASS if name == "anatomy" else Role.INDIVIDUAL
        assert set(graph.roles[ends]) <= {wanted}
        assert not any(iri.startswith(NAMESPACES) for iri in graph.entities.take(ends).to_pylist())
