"""The units of names: what translations are learnt about.

Units are words and one to three characters, as they are written and as they are read, so that neither
languages nor scripts need be known. Three characters are translated but are no translations themselves: they
say more about what a name means than one or two, but too few names share them to be predicted.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from largeea.graph import Arrays, Strings
from largeea.graph.interning import encoded
from largeea.names.labels import normalised
from largeea.names.ngrams import gram_entries, tfidf, tfidf_memory
from largeea.names.rows import Columns

SHORTEST, LONGEST = 1, 3
"""Characters of a unit that is not a word."""
LONGEST_COMPARED = 2
"""Characters of such a unit that names are compared by."""
SIDES = "source", "target"


def name_units(rows: Columns) -> Arrays:
    """The units of the main names of both graphs, as parts of CSR arrays over one vocabulary.

    A name in another script has the units of its reading in Latin letters, too: characters that sound alike
    share what is learnt about them. A weight is the square root of the inverse document frequency, so that a
    product of two vectors has it once; that of a unit that names are not compared by is 0.
    """
    source, target = (_written_and_read(rows, side) for side in SIDES)
    short = tfidf(source, target, SHORTEST, LONGEST_COMPARED)
    words, longer = _words(source, target), tfidf(source, target, LONGEST_COMPARED + 1, LONGEST)
    compared = short[0].shape[1] + words[0].shape[1]
    units: Arrays = {}
    for side, *parts in zip(SIDES, short, words, longer, strict=True):
        matrix = sp.hstack(parts, format="csr")
        units |= {
            f"{side}_indptr": matrix.indptr.astype(np.int64),
            f"{side}_indices": matrix.indices.astype(np.int32),
        }
    frequency = sum(np.bincount(units[f"{side}_indices"], minlength=matrix.shape[1]) for side in SIDES)
    names = len(source) + len(target)
    weights = np.sqrt(1 + np.log((1 + names) / (1 + frequency))).astype(np.float32)
    weights[compared:] = 0
    return units | {"weights": weights}


def unit_entries(characters: int) -> int:
    """About how many units names of so many characters have, their readings included."""
    return 2 * gram_entries(characters, SHORTEST, LONGEST)


def units_memory(characters: int) -> int:
    """Bytes that `name_units` needs at its peak, for names of so many characters of both graphs."""
    return tfidf_memory(unit_entries(characters))


def _written_and_read(rows: Columns, side: str) -> Strings:
    """The main names as they are written and, where that differs, in Latin letters behind it."""
    size = len(rows[f"{side}_kind"])
    text, latin = normalised(rows[f"{side}_texts"].slice(0, size)), rows[f"{side}_latin"].slice(0, size)
    both = pc.binary_join_element_wise(text, latin, pa.scalar(" ", pa.large_string()))
    return pc.if_else(pc.equal(text, latin), text, pc.coalesce(both, text))


def _words(source: Strings, target: Strings) -> list[sp.csr_array]:
    """Which words the names of both sides have, `[names, words]`."""
    words = pc.split_pattern(pa.concat_arrays([source, target]), " ")
    vocabulary, columns = encoded(words.flatten())
    shape = len(words), len(vocabulary)
    matrix = sp.csr_array((np.ones(len(columns), np.float32), columns, np.array(words.offsets)), shape=shape)
    matrix.sum_duplicates()
    return [matrix[: len(source)], matrix[len(source) :]]
