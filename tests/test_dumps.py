"""Dumps as they are published: things under opaque IRIs, with labels, and a page about each thing.

The address of a page ends with the name of its thing, so that names alone cannot tell the two apart.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from largeea import Alignment, align
from largeea.datasets.demo import demo_pair
from largeea.evaluation import evaluate
from largeea.graph import KnowledgeGraph, Links

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
LANGUAGE = "http://purl.org/dc/elements/1.1/language"
PAIR = demo_pair(("en", "fr"), 0)


def write_dump(path: Path, graph: KnowledgeGraph, language: str, page_by: str) -> None:
    place = f"http://{language}.data.example/"
    with path.open("w", encoding="utf-8") as file:
        for subject, relation, other in graph.triples.tolist():
            file.write(f"<{place}{subject}> <{place}p{relation}> <{place}{other}> .\n")
        for entity, name in enumerate(graph.names.to_pylist()):
            if name is None:
                continue
            page = f"http://{language}.wiki.example/wiki/{quote(name.replace(' ', '_'))}"
            text = name.replace("\\", "\\\\").replace('"', '\\"')
            file.write(f'<{place}{entity}> <{LABEL}> "{text}"@{language} .\n')
            file.write(f"<{place}{entity}> <{page_by}> <{page}> .\n")
            file.write(f'<{page}> <{LANGUAGE}> "{language}" .\n')


def links(answer: Alignment) -> Links:
    """The true links, by the numbers that the read graphs give to entities."""
    places = [f"http://{language}.data.example/" for language in ("en", "fr")]
    numbers = [
        {iri: number for number, iri in enumerate(graph.entities.to_pylist())}
        for graph in (answer.source, answer.target)
    ]
    ends = (
        [
            number.get(f"{place}{entity}", -1)
            for number, place, entity in zip(numbers, places, pair, strict=True)
        ]
        for pair in PAIR.links.pairs.tolist()
    )
    return Links([pair for pair in ends if -1 not in pair])


@pytest.mark.parametrize(
    ("page_by", "least"),
    [("http://xmlns.com/foaf/0.1/isPrimaryTopicOf", 0.94), ("http://data.example/article", 0.9)],
    ids=["known as pages", "like other entities"],
)
def test_things_are_told_from_the_pages_about_them(page_by: str, least: float, tmp_path: Path) -> None:
    for language, graph in (("en", PAIR.source), ("fr", PAIR.target)):
        write_dump(tmp_path / f"{language}.nt", graph, language, page_by)
    answer = align(tmp_path / "en.nt", tmp_path / "fr.nt")
    assert evaluate(answer, links(answer))["linked_ends"]["f1"] >= least
    linked = answer.source.entities.take(answer.links.source).to_pylist()
    assert ("wiki.example" in "".join(linked)) == (page_by == "http://data.example/article")
