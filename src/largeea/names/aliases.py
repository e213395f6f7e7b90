"""Which other names of an entity are compared besides its main name."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.naming import ALIAS_PREDICATES, ALIAS_WEIGHT, LABEL_PREDICATES, label_rows
from largeea.graph import Float32, Int32, Int64, KnowledgeGraph, Strings
from largeea.graph.interning import encoded
from largeea.graph.lookup import distinct, places_in
from largeea.names.labels import normalised

_LANGUAGE = r"^(?:@([^-]+).*|[^@].*)$"
Aliases = tuple[Int32, Strings, Float32]
"""The entity of each alias, ascending, its text, and its weight relative to the main name."""


def choose_aliases(
    source: KnowledgeGraph, target: KnowledgeGraph, max_aliases: int, predicates: tuple[str, ...]
) -> tuple[Aliases, Aliases]:
    """Up to `max_aliases` of each entity of both graphs, those in languages of both graphs first.

    Aliases are the literals under `predicates`; without any, under the predicates that give a graph its names
    and the customary ones of aliases.
    """
    graphs = source, target
    searched = [_searched(graph, predicates) if max_aliases else () for graph in graphs]
    labels = [label_rows(graph.attributes, words) for graph, words in zip(graphs, searched, strict=True)]
    ours, theirs = (
        _aliases(graph, _by_preference(*side), max_aliases, words)
        for graph, words, *side in zip(graphs, searched, labels, *_languages(graphs, labels), strict=True)
    )
    return ours, theirs


def _searched(graph: KnowledgeGraph, predicates: tuple[str, ...]) -> tuple[str, ...]:
    return predicates or (*(graph.label_predicates or LABEL_PREDICATES), *ALIAS_PREDICATES)


def _languages(
    graphs: tuple[KnowledgeGraph, KnowledgeGraph], labels: list[Int32]
) -> tuple[list[Int32], list[Int32]]:
    """For the tags of each graph: how many labels both graphs have in that language, and its number.

    A language stands for its variants (`pt` for `pt-BR`); labels without a language count as a language, too.
    """
    languages = [pc.replace_substring_regex(graph.attributes.tags, _LANGUAGE, r"\1") for graph in graphs]
    known = distinct(pa.concat_arrays(languages)).sort()
    number = [places_in(side, known) for side in languages]
    counts = [
        np.bincount(of[rows[:, 3]], minlength=len(known)) for of, rows in zip(number, labels, strict=True)
    ]
    common = np.minimum(*counts)
    return [common[of] for of in number], number


def _by_preference(labels: Int32, common: Int32, language: Int32) -> Int32:
    """Labels by entity, the most useful of each first.

    Those in languages of both graphs lead; among these the better predicate, then the commoner language.
    """
    entity, predicate, value, tag = labels.T
    combination = predicate.astype(np.int64) * len(common) + tag
    predicates, tags = np.divmod(np.flatnonzero(np.bincount(combination)), len(common))
    keys = np.column_stack([common[tags] == 0, predicates, -common[tags], language[tags]])
    _, ranks = np.unique(keys, axis=0, return_inverse=True)
    rank = np.zeros((predicates.max(initial=0) + 1, len(common)), np.int64)
    rank[predicates, tags] = ranks.ravel()
    preference = entity.astype(np.int64) * len(keys) + rank[predicate, tag]
    return labels[np.lexsort((value, preference))]


def _aliases(graph: KnowledgeGraph, labels: Int32, max_aliases: int, predicates: tuple[str, ...]) -> Aliases:
    """The aliases of a graph, given its labels by entity and preference, under these predicates."""
    values = graph.attributes.values
    is_main = pc.equal(values.take(labels[:, 2]), graph.names.take(labels[:, 0]))
    others = labels[~np.asarray(pc.fill_null(is_main, False))]
    if len(others):
        others = others[_first_distinct(others, graph, max_aliases)]
    weights = np.array([ALIAS_PREDICATES.get(iri, ALIAS_WEIGHT) for iri in predicates], np.float32)
    return others[:, 0], values.take(others[:, 2]), weights[others[:, 1]]


def _first_distinct(labels: Int32, graph: KnowledgeGraph, max_aliases: int) -> Int64:
    """Which labels to keep: of each entity the first `max_aliases` that differ from those before, normalised.

    The main name comes before all of them.
    """
    bearers = labels[np.append(True, labels[1:, 0] != labels[:-1, 0]), 0]
    values, value = np.unique(labels[:, 2], return_inverse=True)
    texts = pa.concat_arrays([graph.names.take(bearers), graph.attributes.values.take(values)])
    words = encoded(normalised(texts))
    word = words.places.astype(np.int64)
    word = np.concatenate([word[: len(bearers)], word[len(bearers) :][value]])
    entity = np.concatenate([bearers, labels[:, 0]]).astype(np.int64)
    _, first = np.unique(entity * (len(words.values) + 1) + word, return_index=True)
    new = np.sort(first[(first >= len(bearers)) & (word[first] >= 0)])
    rank = np.arange(len(new)) - np.searchsorted(entity[new], entity[new])
    return np.asarray(new[rank < max_aliases] - len(bearers))
