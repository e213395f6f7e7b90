"""What a graph holds, as sorted tuples of text."""

from __future__ import annotations

from largeea.graph import KnowledgeGraph


def triples(graph: KnowledgeGraph) -> list[tuple[str, ...]]:
    entities, relations = graph.entities.to_pylist(), graph.relations.to_pylist()
    return sorted((entities[h], relations[r], entities[t]) for h, r, t in graph.triples.tolist())


def literals(graph: KnowledgeGraph) -> list[tuple[str, ...]]:
    words = graph.attributes
    columns = (graph.entities, words.predicates, words.values, words.tags)
    return sorted(
        tuple(column[place].as_py() for column, place in zip(columns, row, strict=True))
        for row in words.rows.tolist()
    )
