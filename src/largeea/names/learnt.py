"""Names translated by what anchors teach: which parts of names stand for which in the other graph.

The names of anchors are a parallel corpus. Its units are characters and pairs of characters, so that neither
words nor languages nor scripts need be known.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from largeea.execution.jobs import over_rows
from largeea.graph import Arrays, Float32, Int32, Links
from largeea.matching.sums import top_k_of_sum
from largeea.names import learnt_kernels as kernels
from largeea.names.labels import normalised
from largeea.names.learnt_kernels import Translations, Units
from largeea.names.ngrams import gram_entries, tfidf, tfidf_memory
from largeea.names.rows import Columns
from largeea.randomness import generator
from largeea.search import sparse_top_k
from largeea.search.sparse import sparse_memory
from largeea.search.sparse_index import Csr
from largeea.similarity import Similarity

SHORTEST, LONGEST = 1, 2
"""Characters of a unit."""
ITERATIONS = 5
"""Of expectation maximisation."""
MOST_PRODUCTS = 1 << 25
"""Source units times target units, summed over the pairs of names that translations are learnt from."""
LEAST_SHARE = 0.01
"""Translations of a unit that are expected less often are left out."""
MOST_TRANSLATIONS = 64
"""Translations of a unit that are kept."""
UNITS_PER_QUERY = 100
"""Units of a translated name that candidates are searched by."""
SIDES = "source", "target"


def name_units(rows: Columns) -> Arrays:
    """The units of the main names of both graphs, as they are written, and the weights of all units.

    Units are parts of CSR arrays over one vocabulary. A weight is the square root of the inverse document
    frequency, so that a product of two vectors has it once.
    """
    source, target = (normalised(rows[f"{side}_texts"].slice(0, len(rows[f"{side}_kind"]))) for side in SIDES)
    vectors = tfidf(source, target, SHORTEST, LONGEST)
    units: Arrays = {}
    for side, matrix in zip(SIDES, vectors, strict=True):
        units |= {f"{side}_indptr": matrix.indptr.astype(np.int64), f"{side}_indices": matrix.indices}
    frequency = np.bincount(
        np.concatenate([matrix.indices for matrix in vectors]), minlength=vectors[0].shape[1]
    )
    names = len(source) + len(target)
    return units | {"weights": np.sqrt(1 + np.log((1 + names) / (1 + frequency))).astype(np.float32)}


def learn_translations(units: Arrays, anchors: Links, seed: int) -> Arrays:
    """What source units stand for, learnt from the names of anchors; the fields of `Translations`.

    Poisson regression: a target unit is expected as often as the units of the source name together explain.
    All coefficients are positive; expectation maximisation fits them. Time and memory are bounded by
    `MOST_PRODUCTS`.
    """
    source, target = (_units(units, side) for side in SIDES)
    taught = _some(anchors, source, target, seed)
    ours, theirs = _units_of(source, taught.source), _units_of(target, taught.target)
    vocabulary = len(units["weights"])
    counts, chance = (
        np.bincount(side.ids, minlength=vocabulary).astype(np.float32) for side in (ours, theirs)
    )
    chance /= max(len(taught), 1)
    bearers = _inverted(ours, vocabulary)
    table = Csr(*kernels.count_together(bearers, theirs, counts, chance))
    expected, before = np.empty(len(theirs.ids), np.float32), table.weights
    for _ in range(ITERATIONS):
        before = table.weights.copy()
        kernels.expect(bearers, theirs, table, chance, expected)
        kernels.explain(bearers, theirs, table, expected, counts)
    often = table.weights >= LEAST_SHARE
    unit = np.repeat(np.arange(vocabulary, dtype=np.int32), np.diff(table.pointer))[often]
    shares, earlier = (
        Similarity.from_entries(unit, table.columns[often], some[often], (vocabulary, vocabulary))
        for some in (table.weights, before)
    )
    kept = shares.top_k(MOST_TRANSLATIONS)
    own = np.full(len(source.pointer) - 1, -1, np.int32)
    own[taught.source] = taught.target
    parts = kept.indptr, kept.indices, kept.scores, earlier.scores_on(kept)
    return Translations(*parts, counts, chance, own)._asdict()


def learnt_similarity(
    units: Arrays, translations: Arrays, candidates: list[Similarity], top_k: int
) -> Similarity:
    """Cosines of translated source names and target names, for the `top_k` candidates with the highest sum.

    The vectors hold the roots of expected and of actual frequencies (Bhattacharyya coefficient), weighted. An
    anchor does not confirm itself: what was learnt from its own names is taken out.
    """
    pairs = top_k_of_sum(candidates, top_k)
    scores = np.empty(len(pairs), np.float32)
    over_rows(
        kernels.score_rows, pairs.shape[0], pairs.indptr, pairs.indices, *_translating(units, translations),
        _lengths(units), scores,
    )  # fmt: skip
    return Similarity(pairs.shape, pairs.indptr, pairs.indices, scores)


def find_learnt(
    units: Arrays, translations: Arrays, anchors: Links, kinds: Arrays, per_source: int
) -> Similarity:
    """New candidates of entities that are no anchors, by their translated names.

    They are targets of the same kind that are no anchors either, the `per_source` most similar ones.
    """
    translating, weights = _translating(units, translations), units["weights"]
    sizes = [len(side.pointer) - 1 for side in translating[:2]]
    sources, targets = (
        np.setdiff1d(np.arange(size, dtype=np.int32), ends)
        for size, ends in zip(sizes, anchors.pairs.T, strict=True)
    )
    ids = np.full((len(sources), UNITS_PER_QUERY), -1, np.int32)
    values = np.zeros(ids.shape, np.float32)
    over_rows(kernels.translate_rows, len(sources), sources, *translating, ids, values)
    queries = Similarity.from_top_k(ids, values, len(weights)).to_scipy()
    named = _units_of(translating[1], targets)
    scaled = weights[named.ids] / np.repeat(_lengths(units)[targets], np.diff(named.pointer))
    items = sp.csr_array((scaled, named.ids, named.pointer), shape=(len(targets), len(weights)))
    found, scores = sparse_top_k(queries, items, per_source)
    row, place = np.nonzero(found >= 0)
    pairs = sources[row], targets[found[row, place]], scores[row, place]
    return Similarity.from_entries(*pairs, (sizes[0], sizes[1])).of_equal_kind(
        kinds["source"], kinds["target"]
    )


def units_memory(characters: int) -> int:
    """Bytes that `name_units` needs at its peak, for names of so many characters of both graphs."""
    return tfidf_memory(gram_entries(characters, SHORTEST, LONGEST))


def learn_memory(characters: int) -> int:
    """Bytes that `learn_translations` needs at its peak: 40 for an entry of its table, 16 for a unit."""
    entries = gram_entries(characters, SHORTEST, LONGEST)
    return 40 * min(MOST_PRODUCTS, 8 * entries) + 16 * entries


def score_memory(characters: int, entries: int) -> int:
    """Bytes that `learnt_similarity` needs at its peak, for so many scores."""
    return 24 * entries + 16 * gram_entries(characters, SHORTEST, LONGEST)


def find_memory(characters: int, sources: int, targets: int, per_source: int, threads: int) -> int:
    """Bytes that `find_learnt` needs at its peak, for so many entities that are no anchors."""
    entries, queries = gram_entries(characters, SHORTEST, LONGEST), sources * UNITS_PER_QUERY
    return 16 * queries + sparse_memory(entries + queries, entries, sources, targets, per_source, threads)


def _translating(units: Arrays, translations: Arrays) -> tuple[Units, Units, Translations, Float32]:
    """What names are translated by: the units of both sides, their translations and weights."""
    return _units(units, "source"), _units(units, "target"), Translations(**translations), units["weights"]


def _units(units: Arrays, side: str) -> Units:
    return Units(units[f"{side}_indptr"], units[f"{side}_indices"])


def _units_of(units: Units, names: Int32) -> Units:
    """The units of some names."""
    sizes = np.diff(units.pointer)[names]
    pointer = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    places = np.arange(pointer[-1]) + np.repeat(units.pointer[names] - pointer[:-1], sizes)
    return Units(pointer, units.ids[places])


def _inverted(units: Units, vocabulary: int) -> Units:
    """The names that have each unit."""
    order = np.argsort(units.ids, kind="stable")
    name = np.repeat(np.arange(len(units.pointer) - 1, dtype=np.int32), np.diff(units.pointer))
    return Units(np.searchsorted(units.ids[order], np.arange(vocabulary + 1)), name[order])


def _some(anchors: Links, source: Units, target: Units, seed: int) -> Links:
    """Anchors in random order until `MOST_PRODUCTS` is reached."""
    order = generator(seed, "translations").permutation(len(anchors))
    sizes = np.diff(source.pointer)[anchors.source[order]] * np.diff(target.pointer)[anchors.target[order]]
    return anchors.take(np.sort(order[np.cumsum(sizes) <= MOST_PRODUCTS]))


def _lengths(units: Arrays) -> Float32:
    """The lengths of the vectors of target names, `[targets]`; 1 for a name without units."""
    target = _units(units, "target")
    name = np.repeat(np.arange(len(target.pointer) - 1), np.diff(target.pointer))
    squares = np.bincount(name, units["weights"][target.ids] ** 2, minlength=len(target.pointer) - 1)
    return np.sqrt(np.where(squares > 0, squares, 1)).astype(np.float32)
