"""The index of a graph's names, made once, and the search for the names of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from largeea.config import NamesConfig
from largeea.graph import Bool, Float32, Int32, KnowledgeGraph, Strings, strings
from largeea.names.aliases import choose_aliases
from largeea.names.equal import BONUS
from largeea.names.lexicon import Lexicon
from largeea.names.rows import NameRows
from largeea.names.words import averaged_with_words
from largeea.search.sparse import POSTINGS_PER_KEPT, POSTINGS_PER_QUERY, CompiledSearch
from largeea.search.sparse_index import Csr, SparseIndex
from largeea.similarity import Similarity
from largeea.web.reconcile.lookup import SortedTexts
from largeea.web.reconcile.vocabulary import GramVocabulary, WordVocabulary

NAMES_PER_QUERY = 100
"""Names that the n-grams find for a query; their words are compared next."""
NAMESAKES = 100
"""Names equal to the query that are taken up, even if others hide them."""
LEAST_SCORE = 0.1
"""Names below have little more in common with the query than a common n-gram."""
_BUDGET = max(POSTINGS_PER_QUERY, POSTINGS_PER_KEPT * NAMES_PER_QUERY)


class Found(NamedTuple):
    """Candidates of one query, best first, `[n]` each: entity, score in [0, 1], whether a name is equal."""

    entity: Int32
    score: Float32
    equal: Bool

    def keep(self, mask: Bool) -> Found:
        """The candidates of a mask, `[n]`."""
        return Found(self.entity[mask], self.score[mask], self.equal[mask])


@dataclass(frozen=True, eq=False)
class NameIndex:
    """The names of all entities that can be linked, aliases included, one a row."""

    entity: Int32
    weights: Float32
    texts: Strings
    """Latin names in which what comes before brackets counts twice, see `NameRows.discounted`."""
    by_name: SortedTexts
    """The rows by their Latin name."""
    grams: GramVocabulary
    words: WordVocabulary
    by_grams: SparseIndex

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> NameIndex:
        """Index the names of the entities of a graph that can be linked."""
        aliases, _ = choose_aliases(graph, graph, NamesConfig().max_aliases, ())
        rows = NameRows.of(graph, aliases, graph.kinds)
        texts = rows.discounted
        grams, vectors = GramVocabulary.of(texts)
        by_grams = SparseIndex.build(Csr.of(vectors), vectors.shape[1], _BUDGET)
        by_name, words = SortedTexts.of(rows.latin), WordVocabulary.of(texts)
        return cls(rows.entity, rows.weights, texts, by_name, grams, words, by_grams)

    def search(self, queries: Sequence[str]) -> list[Found]:
        """The candidates of each query by name; queries do not depend on each other.

        The score of a name is the mean of the cosine of n-grams and of the overlap of words, with a bonus for
        an equal name, times the weight of the name. An entity has the score of its best name.
        """
        asked = name_rows(queries)
        rows, scored = self._best_names(asked.discounted)
        return [
            self._of_entities(rows[columns], scores, latin)
            for (columns, scores), latin in zip(
                map(scored.row, range(len(queries))), asked.latin.to_pylist(), strict=True
            )
        ]

    def _best_names(self, queries: Strings) -> tuple[Int32, Similarity]:
        """Rows that were found for any query, `[n]`, and the scores of each query's, `[queries, n]`."""
        search = CompiledSearch(Csr.of(self.grams.vectors(queries)), self.by_grams, _BUDGET)
        ids, cosines = search.find(0, len(queries), NAMES_PER_QUERY)
        rows = np.unique(ids[ids >= 0])
        columns = np.where(ids >= 0, np.searchsorted(rows, ids), -1)
        found = Similarity.from_top_k(columns, cosines, len(rows))
        words = self.words.cut(pa.concat_arrays([queries, self.texts.take(pa.array(rows))]))
        asked, lexicon = np.arange(len(queries), dtype=np.int32), _no_lexicon(len(words.weights))
        return rows, averaged_with_words(found, asked, len(queries), words, lexicon)

    def _of_entities(self, rows: Int32, scores: Float32, latin: str | None) -> Found:
        """From the rows of one query to entities, the best first; ties go to smaller ids."""
        namesakes = self.by_name.rows_of(latin)[:NAMESAKES] if latin else rows[:0]
        scores = np.concatenate([scores, np.ones(len(namesakes), np.float32)])
        rows = np.concatenate([rows, namesakes])
        equal = np.isin(rows, namesakes)
        raised = np.where(equal, scores + np.float32(BONUS), scores) / np.float32(1 + BONUS)
        scores = np.asarray(self.weights[rows] * raised, np.float32)
        entity = self.entity[rows]
        order = np.lexsort((entity, -scores))
        _, first = np.unique(entity[order], return_index=True)
        best = order[np.sort(first)]
        best = best[scores[best] >= LEAST_SCORE]
        return Found(entity[best], scores[best], np.isin(entity[best], entity[equal]))


def name_rows(texts: Sequence[str]) -> NameRows:
    """Texts as names, one entity a text, in the forms that names are compared in."""
    numbers = strings(map(str, range(len(texts))))
    graph = KnowledgeGraph(numbers, strings(texts), strings(), np.empty((0, 3), np.int32))
    none = np.empty(0, np.int32), strings(), np.empty(0, np.float32)
    return NameRows.of(graph, none, np.zeros(len(texts), np.int8))


def _no_lexicon(vocabulary: int) -> Lexicon:
    return Lexicon(np.zeros(vocabulary + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
