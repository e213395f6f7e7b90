"""Transliteration by script: place names of GeoNames, matched with their Latin names by n-grams alone.

    python benchmarks/transliteration.py [--size 3000]

Each row is a script with at least 100 places. The baseline is anyascii, which reads each character by itself.
A place counts as found if the most similar Latin name among those of the script's places is its own.
"""

from __future__ import annotations

import argparse
import unicodedata
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from anyascii import anyascii

from largeea.graph import Strings, strings
from largeea.names.labels import latinised, normalised
from largeea.names.ngrams import tfidf
from largeea.names.scripts import SCRIPTS
from largeea.names.translation.dictionaries import GEONAMES
from largeea.search import sparse_top_k

LEAST = 100
LEFT_OUT = ("LATIN", "CJK")
"""Scripts without transliteration by sound."""


def places() -> dict[str, dict[str, str]]:
    """By script, the Latin names of places and one name of each in the script."""
    found = defaultdict[str, dict[str, str]](dict)
    for name, latin in GEONAMES.read(SCRIPTS[1:]):
        scripts = {unicodedata.name(letter).split(" ")[0] for letter in name if letter.isalpha()}
        if len(scripts) == 1:
            found[scripts.pop()].setdefault(latin, name)
    return {script: found[script] for script in sorted(found) if script not in LEFT_OUT}


def found_first(names: list[str], places: list[str], read: Callable[[Strings], Strings]) -> float:
    """Share of the names whose most similar Latin name is their own."""
    source, target = read(strings(names)), latinised(strings(places))
    best = sparse_top_k(*tfidf(source, target, 2, 4), 1)[0][:, 0]
    return float((best == np.arange(len(names))).mean())


def letter_by_letter(names: Strings) -> Strings:
    """Names as anyascii reads them."""
    return normalised(strings(anyascii(name or "") for name in normalised(names).to_pylist()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=3000, help="places of a script")
    size = parser.parse_args().size
    print(f"{'script':12} {'places':>6} {'anyascii':>8} {'largeea':>8}")
    for script, latin_names in places().items():
        if len(latin_names) < LEAST:
            continue
        chosen = np.random.default_rng(0).permutation(sorted(latin_names))[:size].tolist()
        names = [latin_names[place] for place in chosen]
        shares = (found_first(names, chosen, read) for read in (letter_by_letter, latinised))
        print(f"{script.capitalize():12} {len(names):6}", *(f"{share:8.3f}" for share in shares))


if __name__ == "__main__":
    main()
