"""STNS against datasketch's MinHashLSH: time, and recall of pairs with a Jaccard similarity of .5 or more.

    python benchmarks/strings.py [--size 200000] [--rows 2000] [--turns 1] [--datasketch update|bulk|none]

Real names: NCBI taxonomy 2021 against 2024, half of each sample are the same taxa. Our STNS finds all pairs,
verifies them and computes their Levenshtein similarity. datasketch is used in the standard way: 128
permutations, threshold .5, one `update` a shingle (or the faster `bulk`), one `query` a name. This gives
unverified candidates; verifying and scoring them with Python sets and rapidfuzz is measured on a sample of
rows and scaled up. The ground truth is an exact sparse product for the same sample. CPU seconds are given
too, since the wall clock is unreliable on a busy machine and STNS uses all cores; the best of the turns is
reported.
"""

from __future__ import annotations

import argparse
import lzma
import os
import resource
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import scipy.sparse as sp
from datasketch import MinHash, MinHashLSH
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from largeea.execution import current
from largeea.graph import strings
from largeea.names.strings import string_similarity
from largeea.similarity import Similarity

DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
THETA, SHINGLE = 0.5, 3


def real_names(size: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Two samples of names, half of them of the same taxa."""
    tables = []
    for year in (2021, 2024):
        with lzma.open(DATA / "ncbi_taxonomy" / f"{year}.tsv.xz") as file:
            read = arrow_csv.ReadOptions(column_names=["id", "parent", "rank", "name"])
            parse = arrow_csv.ParseOptions(delimiter="\t", quote_char=False)
            tables.append(arrow_csv.read_csv(file, read_options=read, parse_options=parse))
    random = np.random.default_rng(seed)
    ids = [table["id"].to_numpy() for table in tables]
    common = random.choice(np.intersect1d(*ids), size // 2, replace=False)
    samples = []
    for table, own in zip(tables, ids, strict=True):
        shared = np.flatnonzero(np.isin(own, common))
        others = random.choice(np.setdiff1d(np.arange(len(own)), shared), size - len(shared), replace=False)
        rows = np.sort(np.concatenate([shared, others]))
        samples.append(pc.utf8_lower(table["name"].take(pa.array(rows))).to_pylist())
    return samples[0], samples[1]


def shingles(name: str) -> set[str]:
    return {name[i : i + SHINGLE] for i in range(max(len(name) - SHINGLE + 1, 1))}


def true_pairs(source: list[str], target: list[str], rows: np.ndarray) -> set[tuple[int, int]]:
    """All pairs of the given source rows with a Jaccard similarity of theta or more, by exact counting."""
    numbers: dict[str, int] = {}

    def incidence(names: Iterable[str]) -> Any:
        sets = [[numbers.setdefault(shingle, len(numbers)) for shingle in shingles(name)] for name in names]
        pointer = np.concatenate([[0], np.cumsum([len(one) for one in sets])])
        columns = np.concatenate(sets)
        return sp.csr_array((np.ones(len(columns), np.int32), columns, pointer), (len(sets), 1 << 24))

    theirs = incidence(target).T.tocsr()
    sizes = theirs.sum(axis=0)
    pairs: set[tuple[int, int]] = set()
    for part in np.array_split(rows, len(rows) // 100 + 1):
        ours = incidence(source[row] for row in part)
        shared = (ours @ theirs).tocoo()
        union = ours.sum(axis=1)[shared.row] + sizes[shared.col] - shared.data
        enough = shared.data >= THETA * union
        pairs.update(zip(part[shared.row[enough]].tolist(), shared.col[enough].tolist(), strict=True))
    return pairs


def pairs_of_rows(similarity: Similarity, rows: np.ndarray) -> set[tuple[int, int]]:
    return {(row, other) for row in rows.tolist() for other in similarity.row(row)[0].tolist()}


def by_datasketch(source: list[str], target: list[str], rows: np.ndarray, bulk: bool) -> set[tuple[int, int]]:
    def hashed(names: list[str]) -> list[MinHash]:
        encoded = ([shingle.encode() for shingle in sorted(shingles(name))] for name in names)
        if bulk:
            return list(MinHash.bulk(encoded, num_perm=128))
        hashes = []
        for one in encoded:
            minhash = MinHash(num_perm=128)
            for shingle in one:
                minhash.update(shingle)
            hashes.append(minhash)
        return hashes

    index = MinHashLSH(threshold=THETA, num_perm=128)
    for key, minhash in enumerate(hashed(target)):
        index.insert(key, minhash)
    wanted = set(rows.tolist())
    pairs = set()
    for row, minhash in enumerate(hashed(source)):
        candidates = index.query(minhash)
        if row in wanted:
            pairs.update((row, other) for other in candidates)
    return pairs


def verified_and_measured(
    source: list[str], target: list[str], candidates: set[tuple[int, int]]
) -> list[float]:
    """The Levenshtein similarity of the candidates that have a Jaccard similarity of theta or more."""
    names = {source[row] for row, _ in candidates} | {target[other] for _, other in candidates}
    sets = {name: shingles(name) for name in names}
    ours, theirs = [], []
    for row, other in candidates:
        a, b = sets[source[row]], sets[target[other]]
        shared = len(a & b)
        if shared >= THETA * (len(a) + len(b) - shared):
            ours.append(source[row])
            theirs.append(target[other])
    return list(cpdist(ours, theirs, scorer=Levenshtein.normalized_similarity, workers=-1))


def timed(title: str, work: Callable[[], Any], turns: int = 1) -> tuple[Any, float, float]:
    """The result, and the lowest wall-clock and CPU seconds over all turns."""
    walls, cpus = [], []
    for _ in range(turns):
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    wall, cpu = min(walls), min(cpus)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{title}: {wall:.1f} s by the wall clock, {cpu:.1f} s of CPU, peak so far {peak:.1f} GiB", flush=True
    )
    return result, wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=200_000, help="names on each side")
    parser.add_argument("--rows", type=int, default=2_000, help="source rows the recall is measured on")
    parser.add_argument("--turns", type=int, default=1, help="how often ours is measured")
    parser.add_argument("--datasketch", choices=["update", "bulk", "none"], default="update")
    options = parser.parse_args()

    source, target = real_names(options.size)
    rows = np.random.default_rng(1).choice(options.size, min(options.rows, options.size), replace=False)
    columns = strings(source), strings(target)
    string_similarity(columns[0][:100], columns[1][:100])
    print(f"{options.size} x {options.size} names, {current().thread_count} threads")

    every, wall, cpu = timed(
        "ours, all pairs",
        lambda: string_similarity(*columns, max_candidates=None, max_bucket=options.size),
        options.turns,
    )
    best, _, _ = timed("ours, default limits", lambda: string_similarity(*columns), options.turns)
    truth, _, _ = timed("exact truth of the sample", lambda: true_pairs(source, target, rows))
    print(f"true pairs a row: {len(truth) / len(rows):.1f}; all our pairs: {len(every)}")
    found = pairs_of_rows(every, rows)
    print(f"ours, all pairs: recall {len(found & truth) / len(truth):.4f}, false {len(found - truth)}")
    reference = every.top_k_arrays(10)[1][rows]
    kept = best.top_k_arrays(10)[1][rows]
    for k in (1, 10):
        agree = (kept == reference)[:, :k][reference[:, :k] > 0].mean()
        print(f"ours, default limits: {agree:.4f} of the best {k} scores of a row are as without limits")
    if options.datasketch != "none":
        found, their_wall, their_cpu = timed(
            f"datasketch ({options.datasketch})",
            lambda: by_datasketch(source, target, rows, options.datasketch == "bulk"),
        )
        print(f"datasketch: recall {len(found & truth) / len(truth):.4f}, false {len(found - truth)}")
        print(
            f"ours is {their_wall / wall:.1f} times as fast by the wall clock, {their_cpu / cpu:.1f} in CPU"
        )
        _, more_wall, more_cpu = timed(
            "verifying and measuring their candidates of the sample",
            lambda: verified_and_measured(source, target, found),
        )
        scale = options.size / len(rows)
        wall_ratio, cpu_ratio = (their_wall + scale * more_wall) / wall, (their_cpu + scale * more_cpu) / cpu
        print(f"the whole job, scaled up: {wall_ratio:.1f} times by the wall clock, {cpu_ratio:.1f} in CPU")


if __name__ == "__main__":
    main()
