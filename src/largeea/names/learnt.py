"""Names translated by what anchors teach: which parts of names stand for which in the other graph.

The names of anchors are a parallel corpus, whose units `name_units` gives. The names of each graph are
translated into those of the other: both directions make different mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from largeea.execution.jobs import over_rows
from largeea.execution.settings import current
from largeea.graph import Arrays, Float32, Int32, Links
from largeea.matching.sums import top_k_of_sum
from largeea.names import learnt_kernels as kernels
from largeea.names.learnt_kernels import Translations, Units
from largeea.names.units import SIDES, unit_entries
from largeea.randomness import generator
from largeea.search import sparse_top_k
from largeea.search.sparse import sparse_memory
from largeea.search.sparse_index import Csr
from largeea.similarity import Similarity

ITERATIONS = 5
"""Of expectation maximisation."""
MOST_PRODUCTS = 1 << 25
"""Units of a name times compared units of its counterpart, summed over the anchors that teach."""
LEAST_SHARE = 0.01
"""Translations of a unit that are expected less often are left out."""
MOST_TRANSLATIONS = 64
"""Translations of a unit that are kept."""
UNITS_PER_QUERY = 100
"""Units of a translated name that candidates are searched by."""


def learn_translations(units: Arrays, anchors: Links, seed: int) -> Arrays:
    """What the units of each graph stand for in the other, learnt from the names of anchors.

    The fields of `Translations`, after the side whose units they translate. Time and memory are bounded by
    `MOST_PRODUCTS`.
    """
    source, target = (_units(units, side) for side in SIDES)
    compared = [_compared(named, units["weights"]) for named in (source, target)]
    taught, vocabulary = _some(anchors, (source, target), compared, seed), len(units["weights"])
    ends = taught.source, taught.target
    ours, theirs = map(_units_of, (source, target), ends)
    our_outputs, their_outputs = map(_units_of, compared, ends)
    with ThreadPoolExecutor(min(current().thread_count, 2)) as pool:
        forth, back = pool.map(_fit, (ours, theirs), (their_outputs, our_outputs), (vocabulary, vocabulary))
    return _kept(forth, "source", taught, len(source.pointer) - 1) | _kept(
        back, "target", taught.reversed(), len(target.pointer) - 1
    )


def learnt_similarity(
    units: Arrays, translations: Arrays, candidates: list[Similarity], top_k: int
) -> Similarity:
    """Cosines of translated names and names of the other graph, averaged over both directions.

    For the `top_k` candidates with the highest sum. An anchor does not confirm itself: what was learnt from
    its own names is taken out.
    """
    return _scored(units, translations, top_k_of_sum(candidates, top_k))


def find_learnt(
    units: Arrays, translations: Arrays, anchors: Links, kinds: Arrays, per_source: int
) -> Similarity:
    """New candidates of entities that are no anchors, by their translated names in both directions.

    They are entities of the same kind: the `per_source` most similar ones that are no anchors either and,
    because some anchors are wrong, a fifth as many of all.
    """
    sizes = len(kinds["source"]), len(kinds["target"])
    every = [np.arange(size, dtype=np.int32) for size in sizes]
    free = [np.setdiff1d(some, ends) for some, ends in zip(every, anchors.pairs.T, strict=True)]
    pairs = Similarity.empty(sizes)
    for others, most in ((free, per_source), (every, max(per_source // 5, 1))):
        forth = _search(units, translations, SIDES, free[0], others[1], most)
        back = _search(units, translations, SIDES[::-1], free[1], others[0], most)
        pairs = pairs + forth + back.transpose()
    return _scored(units, translations, pairs.of_equal_kind(kinds["source"], kinds["target"]))


class _Fitted(NamedTuple):
    """Shares of all units that occur together, those of the iteration before, and see `Translations`."""

    table: Csr
    before: Float32
    counts: Float32
    chance: Float32


def _fit(ours: Units, theirs: Units, vocabulary: int) -> _Fitted:
    """What our units stand for, given the units of both names of each pair.

    Poisson regression: a unit of theirs is expected as often as the units of our name together explain. All
    coefficients are positive; expectation maximisation fits them.
    """
    counts, chance = (
        np.bincount(side.ids, minlength=vocabulary).astype(np.float32) for side in (ours, theirs)
    )
    chance /= max(len(theirs.pointer) - 1, 1)
    bearers = _inverted(ours, vocabulary)
    table = Csr(*kernels.count_together(bearers, theirs, counts, chance))
    expected, before = np.empty(len(theirs.ids), np.float32), table.weights
    for _ in range(ITERATIONS):
        before = table.weights.copy()
        kernels.expect(bearers, theirs, table, chance, expected)
        kernels.explain(bearers, theirs, table, expected, counts)
    return _Fitted(table, before, counts, chance)


def _kept(fitted: _Fitted, side: str, pairs: Links, names: int) -> Arrays:
    """The fields of `Translations`: the most frequent translations of each unit of a side."""
    table, vocabulary = fitted.table, len(fitted.counts)
    often = table.weights >= LEAST_SHARE
    unit = np.repeat(np.arange(vocabulary, dtype=np.int32), np.diff(table.pointer))[often]
    shares, earlier = (
        Similarity.from_entries(unit, table.columns[often], some[often], (vocabulary, vocabulary))
        for some in (table.weights, fitted.before)
    )
    kept = shares.top_k(MOST_TRANSLATIONS)
    own = np.full(names, -1, np.int32)
    own[pairs.source] = pairs.target
    parts = kept.indptr, kept.indices, kept.scores, earlier.scores_on(kept)
    known = Translations(*parts, fitted.counts, fitted.chance, own)
    return {f"{side}_{part}": values for part, values in known._asdict().items()}


def _scored(units: Arrays, translations: Arrays, pairs: Similarity) -> Similarity:
    """The pairs with the mean of the cosines in both directions."""
    forth = _cosines(units, translations, SIDES, pairs)
    back = _cosines(units, translations, SIDES[::-1], pairs.transpose()).transpose()
    return Similarity(pairs.shape, pairs.indptr, pairs.indices, (forth.scores + back.scores) / np.float32(2))


def _cosines(
    units: Arrays, translations: Arrays, direction: tuple[str, ...], pairs: Similarity
) -> Similarity:
    """The pairs with the cosines of the translations of one side and the names of the other."""
    cosines = np.empty(len(pairs), np.float32)
    over_rows(
        kernels.score_rows, pairs.shape[0], pairs.indptr, pairs.indices,
        *_translating(units, translations, direction), _lengths(units, direction[1]), cosines,
    )  # fmt: skip
    return Similarity(pairs.shape, pairs.indptr, pairs.indices, cosines)


def _search(
    units: Arrays, translations: Arrays, direction: tuple[str, ...], names: Int32, others: Int32, most: int
) -> Similarity:
    """Those of some other names that are most similar to the translations of some names."""
    ours, theirs, known, weights = _translating(units, translations, direction)
    ids = np.full((len(names), UNITS_PER_QUERY), -1, np.int32)
    values = np.zeros(ids.shape, np.float32)
    over_rows(kernels.translate_rows, len(names), names, ours, theirs, known, weights, ids, values)
    queries = Similarity.from_top_k(ids, values, len(weights)).to_scipy()
    named = _units_of(theirs, others)
    scaled = weights[named.ids] / np.repeat(_lengths(units, direction[1])[others], np.diff(named.pointer))
    items = sp.csr_array((scaled, named.ids, named.pointer), shape=(len(others), len(weights)))
    found, scores = sparse_top_k(queries, items, most)
    row, place = np.nonzero(found >= 0)
    pairs = names[row], others[found[row, place]], scores[row, place]
    return Similarity.from_entries(*pairs, (len(ours.pointer) - 1, len(theirs.pointer) - 1))


def learn_memory(characters: int) -> int:
    """Bytes that `learn_translations` needs at its peak: 40 for an entry of both tables, 16 for a unit."""
    entries = unit_entries(characters)
    return 2 * (40 * min(MOST_PRODUCTS, 8 * entries) + 16 * entries)


def score_memory(characters: int, entries: int) -> int:
    """Bytes that `learnt_similarity` needs at its peak, for so many scores."""
    return 48 * entries + 16 * unit_entries(characters)


def find_memory(characters: int, sources: int, targets: int, per_source: int, threads: int) -> int:
    """Bytes that `find_learnt` needs at its peak, for so many entities that are no anchors."""
    entries, names = unit_entries(characters), max(sources, targets)
    queries = names * UNITS_PER_QUERY
    searching = sparse_memory(entries + queries, entries, names, names, per_source, threads)
    return 16 * queries + searching + score_memory(characters, (sources + targets) * per_source)


def _translating(
    units: Arrays, translations: Arrays, direction: tuple[str, ...]
) -> tuple[Units, Units, Translations, Float32]:
    """What names are translated by: the units of both graphs, what those of one stand for, and weights."""
    known = (translations[f"{direction[0]}_{part}"] for part in Translations._fields)
    ours, theirs = (_units(units, side) for side in direction)
    return ours, theirs, Translations(*known), units["weights"]


def _lengths(units: Arrays, side: str) -> Float32:
    """The lengths of the vectors of a graph's names, `[names]`; 1 for a name without units."""
    named = _units(units, side)
    name = np.repeat(np.arange(len(named.pointer) - 1), np.diff(named.pointer))
    squares = np.bincount(name, units["weights"][named.ids] ** 2, minlength=len(named.pointer) - 1)
    return np.sqrt(np.where(squares > 0, squares, 1)).astype(np.float32)


def _units(units: Arrays, side: str) -> Units:
    return Units(units[f"{side}_indptr"], units[f"{side}_indices"])


def _units_of(units: Units, names: Int32) -> Units:
    """The units of some names."""
    sizes = np.diff(units.pointer)[names]
    pointer = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    places = np.arange(pointer[-1]) + np.repeat(units.pointer[names] - pointer[:-1], sizes)
    return Units(pointer, units.ids[places])


def _compared(units: Units, weights: Float32) -> Units:
    """Those units that names are compared by."""
    kept = weights[units.ids] > 0
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    return Units(before[units.pointer], units.ids[kept])


def _inverted(units: Units, vocabulary: int) -> Units:
    """The names that have each unit."""
    order = np.argsort(units.ids, kind="stable")
    name = np.repeat(np.arange(len(units.pointer) - 1, dtype=np.int32), np.diff(units.pointer))
    return Units(np.searchsorted(units.ids[order], np.arange(vocabulary + 1)), name[order])


def _some(anchors: Links, units: Sequence[Units], compared: Sequence[Units], seed: int) -> Links:
    """Anchors in random order until `MOST_PRODUCTS` is reached in one of the directions."""
    order = generator(seed, "translations").permutation(len(anchors))
    (ours, theirs), (our_outputs, their_outputs) = (
        [np.diff(side.pointer)[ends[order]] for side, ends in zip(sides, anchors.pairs.T, strict=True)]
        for sides in (units, compared)
    )
    products = np.maximum(np.cumsum(ours * their_outputs), np.cumsum(theirs * our_outputs))
    return anchors.take(np.sort(order[products <= MOST_PRODUCTS]))
