"""STNS, string-based name similarity: who is spelt alike (`M_st`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea import progress
from largeea.compiled import thread_count
from largeea.errors import UsageError
from largeea.graph import Float32, Int32, Int64, Strings
from largeea.names.strings.matching import Bearers, Limits, Matches, copy_rows, match
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
    - of a bucket of more than `max_bucket` target names only the nearest are looked at: those that agree with
      the source name under two more permutations, too, and among equals its neighbours in alphabetical order.
      How often that happened is noted.

    Memory: with 200 permutations 625 bytes a distinct target name (see `BandIndex`), 9 a character of the
    distinct names of both sides (20 while they are cut into shingles), and 16 a kept pair. The answer depends
    on the seed, but not on the number of threads.
    """
    _check(theta, shingle, permutations, recall, max_candidates, max_bucket)
    banding = Banding.choose(theta, permutations, recall)
    names, name_of = _distinct(pa.concat_arrays([source, target]))
    sets = NameSets.cut(names, shingle)
    minhash = MinHash.draw(sets.hashes, banding, seed)
    name_of_source, name_of_target = name_of[: len(source)], name_of[len(source) :]
    ours, theirs = _bearers(name_of_source, len(names)), _bearers(name_of_target, len(names))
    limits = Limits(theta, max_candidates or len(target), max_bucket)

    def match_part(part: Int32) -> Matches:
        return match(part, band_keys(sets, part, minhash), sets, index, theirs, limits)

    with ThreadPoolExecutor(thread_count()) as pool:
        index = BandIndex.build(sets, _borne(theirs), minhash, pool)
        borne = _borne(ours)
        parts = np.split(borne, range(NAMES_AT_ONCE, len(borne), NAMES_AT_ONCE))
        matches = list(progress.track(pool.map(match_part, parts), len(parts)))
    asked, crowded = np.sum([part.looked_up for part in matches], axis=0)
    if crowded:
        progress.note(
            f"{crowded} of {asked} look-ups for similar names met more than {max_bucket} of them: "
            f"only the nearest {max_bucket} were compared"
        )
    return Similarity((len(source), len(target)), *_rows(parts, matches, ours, name_of_source))


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


def _bearers(name_of: Int32, names: int) -> Bearers:
    entities = np.argsort(name_of, kind="stable")[np.count_nonzero(name_of < 0) :]
    sizes = np.bincount(name_of[entities], minlength=names)
    return Bearers(entities.astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]))


def _borne(bearers: Bearers) -> Int32:
    """The names somebody bears, ascending."""
    return np.flatnonzero(np.diff(bearers.pointer)).astype(np.int32)


def _rows(
    parts: list[Int32], matches: list[Matches], bearers: Bearers, name_of: Int32
) -> tuple[Int64, Int32, Float32]:
    """Row pointers, targets and scores: each source entity has the row of its name."""
    sizes = np.zeros(len(bearers.pointer), np.int64)
    for names, matched in zip(parts, matches, strict=True):
        sizes[names] = matched.counts
    indptr = np.concatenate([[0], np.cumsum(sizes[name_of])])
    targets, scores = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    for names, matched in zip(parts, matches, strict=True):
        copy_rows(names, matched, bearers, indptr, targets, scores)
    return indptr, targets, scores


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
