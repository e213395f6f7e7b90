"""The n-grams and words of the indexed names, and queries expressed in them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from largeea.graph import Float32, Float64, Strings, UInt64
from largeea.graph.interning import encoded
from largeea.graph.ranges import expand_ranges
from largeea.names.characters import code_points
from largeea.names.cutting import MAX_WORDS, Words
from largeea.names.ngrams import count_grams, tfidf
from largeea.names.numbering import number_codes

SHORTEST, LONGEST = 2, 4
"""Lengths of the n-grams, as in the name channel."""
_LETTER_AND_NUMBER = r"\b([a-z])([0-9]+)\b"
"""What `Words` cuts into two words."""


@dataclass(frozen=True, eq=False)
class GramVocabulary:
    """The n-grams of the indexed names: hash codes, ascending, and inverse document frequencies, `[n]`."""

    codes: UInt64
    idf: Float64
    unknown_idf: float
    """Of an n-gram that no indexed name has."""

    @classmethod
    def of(cls, names: Strings) -> tuple[GramVocabulary, sp.csr_array]:
        """The vocabulary of Latin names, and their vectors in the name channel, `[names, n-grams]`."""
        _, vectors = tfidf(names.slice(0, 0), names, SHORTEST, LONGEST)
        grams = count_grams(*code_points(names), SHORTEST, LONGEST)
        pointer = np.concatenate([np.zeros(1, np.int64), np.cumsum(grams.sizes)])
        _, numbering = number_codes(grams.codes, grams.starts, pointer)
        idf = 1 + np.log((1 + len(names)) / (1 + numbering.frequency))
        return cls(numbering.codes, idf, 1 + float(np.log(1 + len(names)))), vectors

    def vectors(self, texts: Strings) -> sp.csr_array:
        """L2-normalised vectors of Latin texts, `[texts, n-grams]`.

        An unknown n-gram has no column but counts for the length of the vector.
        """
        grams = count_grams(*code_points(texts), SHORTEST, LONGEST)
        row, place = expand_ranges(grams.starts, grams.sizes)
        codes, counts = grams.codes[place], grams.counts[place]
        column = np.searchsorted(self.codes, codes)
        column[column == len(self.codes)] = 0
        known = self.codes[column] == codes if len(self.codes) else np.zeros(len(codes), bool)
        idf = np.full(len(codes), self.unknown_idf)
        idf[known] = self.idf[column[known]]
        weights = (1 + np.log(counts)) * idf
        length = np.sqrt(np.bincount(row, weights**2, minlength=len(texts)))
        shape = len(texts), len(self.codes)
        entries = (weights / length[row])[known].astype(np.float32), (row[known], column[known])
        return sp.csr_array(entries, shape=shape)


@dataclass(frozen=True, eq=False)
class WordVocabulary:
    """Inverse document frequency of each word of the indexed names."""

    weights: dict[str, float]
    unknown: float
    """Of a word that no indexed name has."""

    @classmethod
    def of(cls, names: Strings) -> WordVocabulary:
        """The words of Latin names; a name counts once for each of its words."""
        words = _words(names)
        found = encoded(pc.list_flatten(words))
        name = np.asarray(pc.list_parent_indices(words), np.int64)
        pairs = np.unique(name * max(len(found.values), 1) + found.places)
        counts = np.bincount(pairs % max(len(found.values), 1), minlength=len(found.values))
        weights = np.log1p(len(names) / np.maximum(counts, 1))
        known = dict(zip(found.values.to_pylist(), weights.tolist(), strict=True))
        return cls(known, float(np.log1p(len(names))))

    def cut(self, texts: Strings) -> Words:
        """Cut Latin texts into words that weigh what they weigh among the indexed names."""
        words = Words.cut(texts)
        in_order = dict.fromkeys(chain.from_iterable(_words(texts).to_pylist()))
        return words._replace(weights=self._weights(in_order))

    def _weights(self, words: dict[str, None]) -> Float32:
        """`Words` numbers words in the order they come."""
        return np.array([self.weights.get(word, self.unknown) for word in words], np.float32)


def _words(texts: Strings) -> pa.LargeListArray:
    """The words of each Latin text, as `Words` cuts them; none of a null text."""
    texts = pc.replace_substring_regex(pc.fill_null(texts, ""), _LETTER_AND_NUMBER, r"\1 \2")
    words = pc.split_pattern(texts, " ")
    blank = pc.equal(texts, "")
    empty = pa.scalar([], words.type)
    return pc.list_slice(pc.if_else(blank, empty, words), 0, MAX_WORDS)
