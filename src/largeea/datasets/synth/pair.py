"""The synthetic twin as a pair of graphs whose links are known by construction."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.datasets.synth.facts import draw_facts
from largeea.datasets.synth.names import draw_names, stray
from largeea.datasets.synth.spec import TwinSpec
from largeea.datasets.synth.titles import titles
from largeea.datasets.synth.words import draw_vocabularies, glued
from largeea.formats.vocabularies import LABEL
from largeea.graph import Attributes, Int32, KnowledgeGraph, Links, Pair, ReadCounts, Strings, strings
from largeea.progress import step
from largeea.randomness import generator

_COMMON_WORDS, _PROPER_NAMES = (6.0, 0.45), (30.0, 0.6)
"""Heaps' law: a language has the first constant times n to the power of the second words for n entities."""


def synthetic_pair(spec: TwinSpec, seed: int = 0) -> Pair:
    """Generate two graphs of the sizes in `spec`, and all links between them; deterministic in `seed`.

    Ids are opaque and ordered independently on each side; names are labels. An entity in no link has no
    counterpart.

    Example: `synthetic_pair(find_twin("ids15k-en-fr").scaled(0.2), seed=1)`.
    """
    with step("draw facts"):
        sides = draw_facts(generator(seed, "synthetic facts"), spec)
    with step("draw names"):
        names = _names(generator(seed, "synthetic names"), spec, [community for _, community in sides])
    random = generator(seed, "synthetic ids")
    graphs, places = [], []
    for side, (triples, _) in enumerate(sides):
        place = random.permutation(spec.entities[side]).astype(np.int32)
        prefix = f"http://{spec.languages[side]}.synthetic.example/"
        graphs.append(_graph(prefix, triples, names[side], place))
        places.append(place[: spec.linked])
    return Pair(graphs[0], graphs[1], Links(np.column_stack(places)).canonical())


def _names(random: np.random.Generator, spec: TwinSpec, communities: list[Int32]) -> tuple[Strings, Strings]:
    """Names of source and target entities; the names of linked target entities get noise."""
    size = max(spec.entities)
    common, proper = (round(factor * size**power) for factor, power in (_COMMON_WORDS, _PROPER_NAMES))
    vocabularies = draw_vocabularies(random, spec.languages, common, proper)
    source = draw_names(random, communities[0], vocabularies[0])
    linked = communities[0][: spec.linked]
    same = stray(random, source.take(np.arange(spec.linked)), linked, vocabularies[0], spec.name_noise)
    target = same.followed_by(draw_names(random, communities[1][spec.linked :], vocabularies[1]))
    texts = (
        titles(names, vocabulary, language)
        for names, vocabulary, language in zip((source, target), vocabularies, spec.languages, strict=True)
    )
    return next(texts), next(texts)


def _graph(prefix: str, triples: Int32, names: Strings, place: Int32) -> KnowledgeGraph:
    """The graph in which entity i has the id `place[i]`; relations without a fact are dropped."""
    used, relation = np.unique(triples[:, 1], return_inverse=True)
    moved = np.column_stack([place[triples[:, 0]], relation, place[triples[:, 2]]])
    moved = moved[np.lexsort(moved.T[::-1])]
    labels = names.take(pa.array(np.argsort(place)))
    rows = np.zeros((len(labels), 4), np.int32)
    rows[:, 0] = rows[:, 2] = np.arange(len(labels))
    counts = ReadCounts(statements=len(moved) + len(rows), triples=len(moved), literals=len(rows))
    return KnowledgeGraph(
        _numbered(f"{prefix}entity/e", len(labels)),
        labels,
        _numbered(f"{prefix}relation/r", len(used)),
        moved,
        Attributes(rows, strings([LABEL]), labels, strings([""])),
        counts,
    )


def _numbered(prefix: str, count: int) -> Strings:
    """IRIs numbered from 1 to `count`, zero-padded to equal length."""
    width = len(str(count))
    digits = pc.cast(pa.array(np.arange(1, count + 1)), pa.large_string())
    return glued(prefix, pc.utf8_lpad(digits, width, "0"))
