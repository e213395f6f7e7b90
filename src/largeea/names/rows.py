"""All names of all entities, one a row: the name an entity goes by, then what else it is called.

Names are compared with names, and two entities are as similar as those two of their names that agree best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.config import NamesConfig
from largeea.formats.naming import ALIAS_PREDICATES, LABEL_PREDICATES, label_rows
from largeea.graph import Float32, Int32, Int64, KnowledgeGraph, Strings, Task
from largeea.names.labels import bare_names, latinised, normalised
from largeea.similarity import Similarity

ALIAS_WEIGHT = 0.95
"""What a name counts for that an entity does not go by: if all else is equal, names in use agree better."""
_LANGUAGE = r"^(?:@([^-]+).*|[^@].*)$"


@dataclass(frozen=True, eq=False)
class NameRows:
    """One graph's names as they are written, `texts[rows]`, and whose each is, `entity[rows]`.

    Row i below `size` is the name that entity i goes by, null where it has none. Other names come after.
    """

    texts: Strings
    entity: Int32
    size: int

    @property
    def weight(self) -> Float32:
        """What agreement with each name counts for, `[rows]`."""
        return np.where(np.arange(len(self.entity)) < self.size, 1, ALIAS_WEIGHT).astype(np.float32)

    @cached_property
    def latin(self) -> Strings:
        """The names in Latin letters, `[rows]`."""
        return latinised(self.texts)

    @cached_property
    def stressed(self) -> Strings:
        """The same, with what comes before brackets said twice: "mercury planet mercury", `[rows]`.

        Brackets tell namesakes apart, each graph in its own words: to n-grams they should count for less.
        """
        bare = bare_names(self.texts)
        bracketed = pc.is_valid(bare)
        twice = [self.latin.filter(bracketed), latinised(bare.filter(bracketed))]
        joined = pc.binary_join_element_wise(*twice, pa.scalar(" ", pa.large_string()))
        return pc.replace_with_mask(self.latin, bracketed, pc.coalesce(joined, twice[0]))


@dataclass(frozen=True, eq=False)
class Names:
    """The names of both graphs."""

    source: NameRows
    target: NameRows

    @classmethod
    def of(cls, task: Task, config: NamesConfig) -> Names:
        """Every entity's name and up to `config.aliases` others, those in languages of both graphs first."""
        graphs = task.source, task.target
        predicates = config.alias_predicates or (*LABEL_PREDICATES, *ALIAS_PREDICATES)
        labels = [label_rows(graph.attributes, predicates if config.aliases else ()) for graph in graphs]
        source, target = (
            _rows(graph, _by_preference(*side), config.aliases)
            for graph, *side in zip(graphs, labels, *_languages(graphs, labels), strict=True)
        )
        return cls(source, target)

    def fold(self, by_name: Similarity, top_k: int) -> Similarity:
        """From names to entities: the best pair of their names counts, `[source.size, target.size]`."""
        shape = self.source.size, self.target.size
        if by_name.shape == shape:
            return by_name
        scores = by_name.scores * self.source.weight[by_name.rows] * self.target.weight[by_name.indices]
        entries = self.source.entity[by_name.rows], self.target.entity[by_name.indices], scores
        return Similarity.from_entries(*entries, shape).top_k(top_k)


def _languages(
    graphs: tuple[KnowledgeGraph, KnowledgeGraph], labels: list[Int32]
) -> tuple[list[Int32], list[Int32]]:
    """For the tags of each graph: how many labels both graphs have in that language, and its number.

    A language stands for its variants (`pt` for `pt-BR`); labels without one are a language, too.
    """
    spoken = [pc.replace_substring_regex(graph.attributes.tags, _LANGUAGE, r"\1") for graph in graphs]
    known = pc.unique(pa.concat_arrays(spoken)).sort()
    number = [np.asarray(pc.index_in(languages, value_set=known), np.int32) for languages in spoken]
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
    keys = (value, language[tag], -common[tag], predicate, common[tag] == 0, entity)
    return labels[np.lexsort(keys)]


def _rows(graph: KnowledgeGraph, labels: Int32, aliases: int) -> NameRows:
    """The names of a graph, given its labels by entity and preference."""
    everyone, values = np.arange(graph.size, dtype=np.int32), graph.attributes.values
    in_use = pc.equal(values.take(labels[:, 2]), graph.names.take(labels[:, 0]))
    others = labels[~np.asarray(pc.fill_null(in_use, False))]
    if not len(others):
        return NameRows(graph.names, everyone, graph.size)
    others = others[_first_distinct(others, graph, aliases)]
    texts = pa.concat_arrays([graph.names, values.take(others[:, 2])])
    return NameRows(texts, np.concatenate([everyone, others[:, 0]]), graph.size)


def _first_distinct(labels: Int32, graph: KnowledgeGraph, aliases: int) -> Int64:
    """Which labels to keep: of each entity the first `aliases` that differ from those before, normalised.

    The name that it goes by comes before all of them.
    """
    bearers = labels[np.append(True, labels[1:, 0] != labels[:-1, 0]), 0]
    values, value = np.unique(labels[:, 2], return_inverse=True)
    texts = pa.concat_arrays([graph.names.take(bearers), graph.attributes.values.take(values)])
    words = normalised(texts).dictionary_encode()
    word = np.asarray(pc.fill_null(words.indices, -1), np.int64)
    word = np.concatenate([word[: len(bearers)], word[len(bearers) :][value]])
    entity = np.concatenate([bearers, labels[:, 0]]).astype(np.int64)
    _, first = np.unique(entity * (len(words.dictionary) + 1) + word, return_index=True)
    new = np.sort(first[(first >= len(bearers)) & (word[first] >= 0)])
    rank = np.arange(len(new)) - np.searchsorted(entity[new], entity[new])
    return np.asarray(new[rank < aliases] - len(bearers))
