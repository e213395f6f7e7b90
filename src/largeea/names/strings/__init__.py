"""STNS, string-based name similarity: who is spelt alike (`M_st`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea import progress
from largeea.errors import UsageError
from largeea.graph import Float32, Int32, Int64, Strings
from largeea.names.strings.matching import Bearers, Limits, match, unpack
from largeea.names.strings.minhash import BandIndex, Banding, MinHash, band_keys
from largeea.names.strings.shingles import NameSets, Shingle
from largeea.similarity import Similarity

LONGEST = 4096
"""Characters of a name that are looked at: a longer text is no name, and comparing two takes seconds."""

NAMES_AT_ONCE = 4096


def string_similarity(
    source: Strings,
    target: Strings,
    *,
    theta: float = 0.5,
    shingle: Shingle = 3,
    permutations: int = 200,
    recall: float = 0.95,
    max_candidates: int | None = 50,
    max_bucket: int = 256,
    seed: int = 0,
) -> Similarity:
    """`M_st`: the Levenshtein similarity of all names that share enough shingles, `[sources, targets]`.

    `source` and `target` hold normalised names; an entity whose name is null or empty scores nothing. A pair
    is kept if the Jaccard similarity of its shingle sets is at least `theta`; its score is
    `1 - distance / length of the longer name`. Shingles are all windows of `shingle` characters, or "words".

    MinHash-LSH proposes the pairs and every one is verified. A pair of similarity exactly `theta` is
    proposed with a chance of at least `recall`, a closer one with more; equal names always are. Two limits
    keep crowds of similar names from becoming quadratic:

    - the `max_candidates` best pairs of each source are kept (ties: smaller target id); None keeps all.
      A name that several targets bear counts once for each.
    - a bucket of more than `max_bucket` target names is narrowed to the more similar ones, by asking for
      equality under one or two more permutations; if it is still too large, only the names nearest to the
      source's in alphabetical order are looked at. How often that happened is noted.

    Memory: with 200 permutations 625 bytes a distinct target name (see `BandIndex`), 9 a character of the
    distinct names of both sides (20 while they are cut into shingles), and 16 a kept pair. The answer depends
    on the seed, but not on the number of threads.
    """
    _check(theta, shingle, permutations, recall, max_candidates, max_bucket)
    banding = Banding.choose(theta, permutations, recall)
    names, name_of = _distinct(pa.concat_arrays([source, target]))
    name_of_source, name_of_target = name_of[: len(source)], name_of[len(source) :]
    sets = NameSets.cut(names, shingle)
    minhash = MinHash.draw(sets.hashes, banding, seed)
    bearers = _bearers(name_of_target, len(names))
    limits = Limits(theta, max_candidates or len(target), max_bucket)

    def match_part(ours: Int32) -> tuple[Int64, Int32, Float32, Int64]:
        keys = band_keys(sets, ours, minhash)
        counts, pairs, looked_up = match(ours, keys, sets, index, bearers, limits)
        return counts, *unpack(pairs), looked_up

    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        index = BandIndex.build(sets, _used(name_of_target), minhash, pool)
        ours = _used(name_of_source)
        parts = np.split(ours, range(NAMES_AT_ONCE, len(ours), NAMES_AT_ONCE))
        matched = list(progress.track(pool.map(match_part, parts), len(parts)))
    counts, entities, scores, looked_up = (np.concatenate(column) for column in zip(*matched, strict=True))
    asked, narrowed, cut = looked_up.reshape(-1, 3).sum(axis=0)
    if narrowed:
        progress.note(
            f"similar names: {narrowed} of {asked} look-ups met over {max_bucket} names and were narrowed, "
            f"{cut} of them cut"
        )
    rows = _rows_of_entities(name_of_source, ours, counts, entities, scores)
    return Similarity((len(source), len(target)), *rows)


def _distinct(names: Strings) -> tuple[Strings, Int32]:
    """The distinct names in alphabetical order, and which of them each entity bears (-1: none)."""
    longest = pc.max(pc.utf8_length(names)).as_py() or 0
    if longest > LONGEST:
        progress.note(f"a name has {longest} characters: only the first {LONGEST} of any name are compared")
        names = pc.utf8_slice_codeunits(names, 0, LONGEST)
    encoded = pc.if_else(pc.equal(names, ""), None, names).dictionary_encode()
    order = np.asarray(pc.sort_indices(encoded.dictionary))
    rank = np.empty(len(order) + 1, np.int32)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return encoded.dictionary.take(order), rank[np.asarray(pc.fill_null(encoded.indices, -1))]


def _used(name_of: Int32) -> Int32:
    """The names somebody bears, ascending."""
    names = np.unique(name_of)
    return names[names >= 0]


def _bearers(name_of: Int32, names: int) -> Bearers:
    entities = np.argsort(name_of, kind="stable")[np.count_nonzero(name_of < 0) :]
    sizes = np.bincount(name_of[entities], minlength=names)
    return Bearers(entities.astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]))


@numba.njit(cache=True)
def _rows_of_entities(
    name_of: Int32, names: Int32, counts: Int64, targets: Int32, scores: Float32
) -> tuple[Int64, Int32, Float32]:
    """Every source entity's row is a copy of its name's row: row pointers, targets and scores."""
    starts = np.cumsum(counts) - counts
    row_of = np.searchsorted(names, name_of)
    indptr = np.zeros(len(name_of) + 1, np.int64)
    for entity in range(len(name_of)):
        indptr[entity + 1] = indptr[entity] + (counts[row_of[entity]] if name_of[entity] >= 0 else 0)
    entity_targets = np.empty(indptr[-1], np.int32)
    entity_scores = np.empty(indptr[-1], np.float32)
    for entity in range(len(name_of)):
        shift = starts[row_of[entity]] - indptr[entity] if name_of[entity] >= 0 else 0
        for at in range(indptr[entity], indptr[entity + 1]):
            entity_targets[at] = targets[at + shift]
            entity_scores[at] = scores[at + shift]
    return indptr, entity_targets, entity_scores


def _check(
    theta: float,
    shingle: Any,
    permutations: int,
    recall: float,
    max_candidates: int | None,
    max_bucket: int,
) -> None:
    whole = isinstance(shingle, int) and shingle >= 1
    rules: list[tuple[str, Any, bool, str]] = [
        ("theta", theta, 0 < theta <= 1, "above 0 and at most 1"),
        ("shingle", shingle, whole or shingle == "words", 'a length of 1 or more, or "words"'),
        ("permutations", permutations, permutations >= 1, "1 or more"),
        ("recall", recall, 0 < recall < 1, "between 0 and 1"),
        (
            "max_candidates",
            max_candidates,
            max_candidates is None or max_candidates >= 1,
            "1 or more, or None",
        ),
        ("max_bucket", max_bucket, max_bucket >= 1, "1 or more"),
    ]
    for name, value, fine, rule in rules:
        if not fine:
            raise UsageError(f"{name} = {value!r}: it has to be {rule}")
