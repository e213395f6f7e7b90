"""Which names are spelt alike: MinHash-LSH proposes pairs, Jaccard verifies and Levenshtein measures them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea import progress
from largeea.errors import UsageError
from largeea.execution.jobs import in_order, row_blocks, run_jobs
from largeea.execution.memory import release_free_memory
from largeea.graph import Arrays, Int32, Int64, Strings
from largeea.names.distinct import distinct_names
from largeea.names.strings.levenshtein import CODE_POINTS
from largeea.names.strings.matching import Bearers, Limits, match_block
from largeea.names.strings.minhash import BandIndex, Banding, MinHash
from largeea.names.strings.shingles import NameSets, Shingle
from largeea.similarity import Similarity

LONGEST = 512
"""Characters of a name that are compared: a longer text is not a name, and time grows with their square."""
PERMUTATIONS, RECALL = 200, 0.95
PAIRS_PER_NAME = 10
"""Pairs that a source name has on average, for estimates."""
NAMES_PER_JOB = 8192
ROWS_AT_ONCE = 1 << 16


def string_similarity(
    source: Strings,
    target: Strings,
    *,
    theta: float = 0.5,
    shingle: Shingle = 3,
    permutations: int = PERMUTATIONS,
    recall: float = RECALL,
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
    - of a bucket of more than `max_bucket` target names only the nearest are compared: those that agree with
      the source name under two more permutations, too, and among equals its neighbours in alphabetical order.
      A note tells how often that happened.

    The answer depends on the seed. Blocks of distinct source names are the jobs.
    """
    _check(theta, shingle, permutations, recall, max_candidates, max_bucket)
    banding = Banding.choose(theta, permutations, recall)
    names, name_of = _distinct(pa.concat_arrays([source, target]))
    sets = NameSets.cut(names, shingle)
    release_free_memory()
    minhash = MinHash.draw(sets.hashes, banding, seed)
    name_of_source, name_of_target = name_of[: len(source)], name_of[len(source) :]
    theirs = Bearers.of(name_of_target, len(names))
    index = BandIndex.build(sets, theirs.borne(), minhash)
    asked = Bearers.of(name_of_source, len(names)).borne()
    limits = Limits(theta, max_candidates or len(target), max_bucket)
    blocks = row_blocks(len(asked), most=NAMES_PER_JOB)
    matches = in_order(run_jobs(match_block, blocks, asked, sets, minhash, index, theirs, limits))
    _note_large_buckets(matches, max_bucket)
    sizes = np.zeros(len(names) + 1, np.int64)
    sizes[asked] = np.concatenate([np.empty(0, np.int64), *(block["counts"] for block in matches)])
    return _rows_of_entities(matches, sizes, name_of_source, len(target))


def string_memory(source_names: int, target_names: int, characters: int, theta: float, threads: int) -> int:
    """Bytes that `string_similarity` needs at its peak; `characters` are those of all distinct names.

    The index takes 12.5 bytes a band and target name, and 24 a name while a thread sorts a band. A character
    takes 9 bytes, and 21 while names are cut into shingles. A name takes 100 bytes and 8 a thread, a kept
    pair 20; each source name is taken to have `PAIRS_PER_NAME`.
    """
    names = source_names + target_names
    bands = Banding.choose(theta, PERMUTATIONS, RECALL).bands
    index = int(12.5 * bands * target_names) + 24 * threads * target_names
    scratch = threads * (8 * names + 8 * CODE_POINTS)
    matching = 9 * characters + index + scratch + 20 * PAIRS_PER_NAME * source_names
    return 100 * names + max(21 * characters, matching)


def _distinct(names: Strings) -> tuple[Strings, Int32]:
    """The distinct names in alphabetical order, and which of them each entity bears (-1: none)."""
    longest = pc.max(pc.utf8_length(names)).as_py() or 0
    if longest > LONGEST:
        progress.note(f"a name has {longest} characters: only the first {LONGEST} of any name are compared")
        names = pc.utf8_slice_codeunits(names, 0, LONGEST)
    return distinct_names(names)


def _note_large_buckets(matches: list[Arrays], max_bucket: int) -> None:
    asked, crowded = np.sum([np.zeros(2, np.int64), *(block["looked_up"] for block in matches)], axis=0)
    if crowded:
        progress.note(
            f"{crowded} of {asked} look-ups for similar names met more than {max_bucket} of them: "
            f"only the nearest {max_bucket} were compared"
        )


def _rows_of_entities(matches: list[Arrays], sizes: Int64, name_of: Int32, targets: int) -> Similarity:
    """Give each source entity the pairs of its name. `sizes[names + 1]` are the pairs of each name."""
    starts = np.cumsum(sizes) - sizes
    indptr = np.concatenate([[0], np.cumsum(sizes[name_of])])
    targets_of_names, scores_of_names = (
        np.concatenate([np.empty(0, dtype), *(block.pop(column) for block in matches)])
        for column, dtype in (("targets", np.int32), ("scores", np.float32))
    )
    indices, scores = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    for first in range(0, len(name_of), ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, len(name_of))
        names, span = name_of[first:last], slice(indptr[first], indptr[last])
        place = np.repeat(starts[names] - indptr[first:last], sizes[names]) + np.arange(span.start, span.stop)
        indices[span], scores[span] = targets_of_names[place], scores_of_names[place]
    return Similarity((len(name_of), targets), indptr, indices, scores)


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
