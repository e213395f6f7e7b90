"""Names across scripts: open Hits@1 of pairs of graphs in many scripts, with and without learnt names.

    python benchmarks/scripts.py [--languages ja-en ar-en] [--folder srprs_en_de] [--train 0.05]

Rows of languages are the built-in demo without seeds. With a folder of Latin names, those of its source are
enciphered into other scripts, with errors. No transliteration rules know these ciphers, so they are learnt
from seeds and anchors alone. Columns: n-grams without learning, n-grams with learning, all that is installed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from largeea.config import as_config
from largeea.datasets.demo import demo_pair
from largeea.experiments.bench import bench
from largeea.formats import ReadOptions, read
from largeea.graph import Pair, strings
from largeea.names.labels import latinised

LANGUAGES = (
    *("ja-en", "zh-en", "ar-en", "ru-en", "ko-en", "el-en", "he-en", "th-en", "hi-en"),
    *("ja-ar", "zh-ru", "ko-el"),
)
NGRAMS: dict[str, Any] = {"names": {"encoder": "ngram", "dictionaries": False}}
COLUMNS: dict[str, dict[str, Any]] = {
    "not learnt": NGRAMS | {"evidence": {"learnt_weight": 0.0}},
    "learnt": NGRAMS,
    "installed": {},
}
ERRORS = 0.05
"""Share of the units of a name that are enciphered at random."""
LETTER, SYLLABLE = re.compile("[a-z]"), re.compile("[^aeiou ]?[aeiou]*")
CIPHERS = {"Cyrillic by letter": (LETTER, 0x430, 32), "kana by syllable": (SYLLABLE, 0x30A2, 80)}
CIPHERS |= {"Han by syllable": (SYLLABLE, 0x4E00, 8000)}
"""What is enciphered together, and the first and the number of the characters it may become."""


def enciphered(pair: Pair, unit: re.Pattern[str], first: int, count: int) -> Pair:
    """The pair with the source's names in another script; each unit has a random character."""
    random, code = np.random.default_rng(0), dict[str, str]()

    def character(found: re.Match[str]) -> str:
        if not found[0]:
            return ""
        drawn = chr(first + int(random.integers(count)))
        return drawn if random.random() < ERRORS else code.setdefault(found[0], drawn)

    names = latinised(pair.source.names).to_pylist()
    texts = strings(None if name is None else unit.sub(character, name) for name in names)
    return replace(pair, source=replace(pair.source, names=texts), folds={})


def rows(languages: list[str], folder: Path | None, train: float) -> Iterator[tuple[str, Pair, float]]:
    """Name, graphs and share of seeds of each row."""
    for two in languages:
        source, target = two.split("-")
        yield two, demo_pair((source, target)), 0.0
    if folder is not None:
        pair = read(folder, ReadOptions(max_errors=0))
        assert isinstance(pair, Pair)
        for name, cipher in CIPHERS.items():
            yield f"{folder.name}, {name}", enciphered(pair, *cipher), train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--languages", nargs="*", default=LANGUAGES, help="pairs such as ja-en")
    parser.add_argument("--folder", type=Path, help="pair folder with Latin names")
    parser.add_argument("--train", type=float, default=0.05, help="share of its links that are seeds")
    given = parser.parse_args()
    print(f"{'pair':36}", *(f"{column:>10}" for column in COLUMNS))
    for name, pair, train in rows(given.languages, given.folder, given.train):
        shares = (_hits(pair, settings, train) for settings in COLUMNS.values())
        print(f"{name:36}", *(f"{share:10.3f}" for share in shares), flush=True)


def _hits(pair: Pair, settings: dict[str, Any], train: float) -> float:
    figures, _ = bench(pair, "scripts", "default", as_config(settings), train)
    return float(figures["protocols"]["open"]["hits@1"])


if __name__ == "__main__":
    main()
