"""Which relations, attributes and classes of two graphs correspond, counted over accepted pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.evidence.agreement import SMOOTHING
from largeea.evidence.literals import comparable
from largeea.finished import FinishedRun
from largeea.formats.vocabularies import TYPE
from largeea.graph import Float64, Int64, KnowledgeGraph, Links, Strings
from largeea.graph.interning import encoded
from largeea.graph.ranges import expand_ranges
from largeea.matching.cardinality import Cardinality
from largeea.matching.clusters import clusters_by_side
from largeea.schema_mapping.model import Correspondence, Kind, predicate_of
from largeea.schema_mapping.similar_values import similar_attributes

MIN_CONFIDENCE = 0.5
MIN_SHARE = 0.05
"""Of all facts of the rarer term, the share that the other term has to state too: fewer agree by chance."""


class _Facts(NamedTuple):
    """Facts of merged entities: what is stated (`key`) and the number of the term that states it, `[n]`."""

    key: Int64
    term: Int64


def schema_mapping(run: FinishedRun, threshold: float = MIN_CONFIDENCE) -> list[Correspondence]:
    """The corresponding relations, attributes and classes of a finished run, the most confident first.

    Left out are terms with equal IRIs, which correspond anyway, and correspondences with a confidence below
    `threshold`. Attributes with similar values are listed if they do not correspond by equal ones.

    Example: `schema_mapping(FinishedRun(Path("run")), threshold=0.8)[0].predicate`.
    """
    if run.alignment.cardinality is Cardinality.WITHIN:
        raise UsageError(f"the run {run.folder} searched duplicates in one graph, which has one schema")
    source, target = run.source, run.target
    merged = Links(np.concatenate([run.alignment.links.pairs, run.same.pairs]))
    places = clusters_by_side(merged, source.size, target.size)
    found = [
        *_relations(source, target, places, len(merged), threshold),
        *_attributes(source, target, places, threshold),
        *_classes(source, target, places, threshold),
    ]
    known = {(one.source, one.target) for one in found}
    similar = similar_attributes(run, merged, threshold)
    found += [one for one in similar if (one.source, one.target) not in known]
    kept = [one for one in found if one.source != one.target or one.inverse]
    return sorted(kept, key=lambda one: (-one.confidence, -one.support, one.source, one.target))


def _relations(
    source: KnowledgeGraph, target: KnowledgeGraph, places: tuple[Int64, Int64], merged: int, threshold: float
) -> Iterator[Correspondence]:
    """A fact is a pair of merged entities; a term is a relation, of the target in either direction."""
    ends = []
    for graph, place in zip((source, target), places, strict=True):
        head, relation, tail = graph.triples.T
        head, tail = place[head], place[tail]
        inside = (head >= 0) & (tail >= 0)
        ends.append((head[inside], relation[inside].astype(np.int64), tail[inside]))
    head, relation, tail = ends[0]
    ours = _distinct(_Facts(head * merged + tail, relation))
    head, relation, tail = ends[1]
    key, relation = _distinct(_Facts(head * merged + tail, relation))
    theirs = _Facts(
        np.concatenate([key, key % merged * merged + key // merged]),
        np.concatenate([2 * relation, 2 * relation + 1]),
    )
    found = _agreements(ours, theirs, both_ways=True)
    yield from _named("relation", found, source.relations, target.relations, threshold)


def _attributes(
    source: KnowledgeGraph, target: KnowledgeGraph, places: tuple[Int64, Int64], threshold: float
) -> Iterator[Correspondence]:
    """A fact is a merged entity and a value; a term is a predicate. Values count in one spelling."""
    texts = [comparable(graph.attributes.values) for graph in (source, target)]
    both = encoded(pa.concat_arrays(texts))
    values = both.places.astype(np.int64)
    facts = []
    for graph, place, value in zip((source, target), places, np.split(values, [len(texts[0])]), strict=True):
        entity, predicate, literal, _ = graph.attributes.rows.T
        inside = (place[entity] >= 0) & (value[literal] >= 0)
        keys = place[entity[inside]] * len(both.values) + value[literal[inside]]
        facts.append(_distinct(_Facts(keys, predicate[inside].astype(np.int64))))
    names = source.attributes.predicates, target.attributes.predicates
    yield from _named("attribute", _agreements(facts[0], facts[1]), *names, threshold)


def _classes(
    source: KnowledgeGraph, target: KnowledgeGraph, places: tuple[Int64, Int64], threshold: float
) -> Iterator[Correspondence]:
    """A fact is a merged entity that has a class in both graphs; a term is a class."""
    facts = []
    for graph, place in zip((source, target), places, strict=True):
        typing = pc.index(graph.relations, TYPE).as_py()
        head, _, tail = graph.triples[graph.triples[:, 1] == typing].T
        inside = place[head] >= 0
        facts.append(_distinct(_Facts(place[head[inside]], tail[inside].astype(np.int64))))
    both = np.intersect1d(facts[0].key, facts[1].key)
    ours, theirs = (
        _Facts(fact.key[inside], fact.term[inside])
        for fact, inside in ((fact, np.isin(fact.key, both)) for fact in facts)
    )
    yield from _named("class", _agreements(ours, theirs), source.entities, target.entities, threshold)


class _Agreement(NamedTuple):
    """Pairs of terms that state the same facts, `[n]` each; see `Correspondence`."""

    source: Int64
    target: Int64
    support: Int64
    confidence: Float64
    forward: Float64
    backward: Float64


def _agreements(ours: _Facts, theirs: _Facts, both_ways: bool = False) -> _Agreement:
    """Count the facts that terms of both graphs state; pairs of terms that share too few are left out.

    Confidence is the higher share, smoothed like the agreement of relations that evidence learns. With
    `both_ways`, the second half of `theirs` states the first half the other way round.
    """
    order = np.argsort(theirs.key, kind="stable")
    keys = theirs.key[order]
    first, last = np.searchsorted(keys, ours.key), np.searchsorted(keys, ours.key, side="right")
    fact, place = expand_ranges(first, last - first)
    other = order[place]
    stated = np.isin(theirs.key, ours.key)
    if both_ways:
        stated = np.tile(stated.reshape(2, -1).any(axis=0), 2)
    terms = int(theirs.term.max(initial=0)) + 1
    found, support = np.unique(ours.term[fact] * terms + theirs.term[other], return_counts=True)
    source, target = np.divmod(found, terms)
    of_source, of_target = np.bincount(ours.term)[source], np.bincount(theirs.term)[target]
    kept = support >= MIN_SHARE * np.minimum(of_source, of_target)
    source, target, support = source[kept], target[kept], support[kept]
    of_source = np.bincount(ours.term[last > first], minlength=1)[source]
    of_target = np.bincount(theirs.term[stated], minlength=1)[target]
    confidence = support / (np.minimum(of_source, of_target) + SMOOTHING)
    return _Agreement(source, target, support, confidence, support / of_source, support / of_target)


def _named(
    kind: Kind, found: _Agreement, names: Strings, other_names: Strings, threshold: float
) -> Iterator[Correspondence]:
    """The correspondences with IRIs and predicates; target relations have a number for each direction."""
    directions = 2 if kind == "relation" else 1
    kept = found.confidence >= threshold
    for ours, theirs, support, confidence, forward, backward in zip(
        *(column[kept].tolist() for column in found), strict=True
    ):
        place, inverse = divmod(theirs, directions)
        predicate = predicate_of(forward, backward, bool(inverse))
        source, target = names[ours].as_py(), other_names[place].as_py()
        yield Correspondence(
            kind, source, target, predicate, confidence, support, forward, backward, bool(inverse)
        )


def _distinct(facts: _Facts) -> _Facts:
    """Facts without repetitions: two spellings of a value are one, and so are entities that are merged."""
    order = np.lexsort(facts[::-1])
    key, term = facts.key[order], facts.term[order]
    new = np.ones(len(key), bool)
    new[1:] = (key[1:] != key[:-1]) | (term[1:] != term[:-1])
    return _Facts(key[new], term[new])
