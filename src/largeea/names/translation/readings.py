"""Names read by what they mean: the stage that translates names."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Int64, Strings, strings
from largeea.graph.lookup import counted
from largeea.names.labels import bare_names, latinised
from largeea.names.rows import Columns, NameRows, Names
from largeea.names.scripts import LATIN, SCRIPTS, scripts_of
from largeea.names.translation.dictionaries import CHINESE
from largeea.names.translation.glossary import Pairs, both_directions, glossary_fingerprint
from largeea.names.translation.person_names import person_names_release
from largeea.names.translation.terms import folded, one_form, plain


def translate_names(rows: Columns, dictionaries: bool, lexicon: str, fingerprint: str) -> Columns:
    """Names as in `name_rows`, those in other scripts read by their translations into English.

    How a name is read letter by letter becomes an alias. `lexicon` is a user's glossary, "" for none; it
    translates the graph that has more names in other scripts, the source if both have equally many.
    `fingerprint` identifies dictionaries and glossary: names that were read by others must not be reused.
    """
    names = Names.from_columns(rows)
    source, target = names.source, names.target
    foreign = [np.flatnonzero(scripts_of(side.texts) > LATIN) for side in (source, target)]
    glossary = both_directions(Path(lexicon)) if lexicon else []
    of_target = len(foreign[1]) > len(foreign[0])
    source_terms, target_terms = ([], glossary) if of_target else (glossary, [])
    return Names(
        _translated(source, target, foreign[0], source_terms, dictionaries),
        _translated(target, source, foreign[1], target_terms, dictionaries),
    ).to_columns()


def lexicon_fingerprint(dictionaries: bool, lexicon: str) -> str:
    """A hash that changes with the installed dictionaries and with the contents of a glossary."""
    releases = [dictionary.release for dictionary in CHINESE] + [person_names_release()]
    glossary = glossary_fingerprint(Path(lexicon)) if lexicon else ""
    return hashlib.sha256(repr((releases if dictionaries else [], glossary)).encode()).hexdigest()[:32]


def translation_memory(names: int, characters: int, dictionaries: bool) -> int:
    """Bytes that `translate_names` needs at its peak for so many names of both sides.

    Dictionaries take the file of places (80 MB), the table of person names (280 MB) and the terms found.
    """
    return 300 * names + 12 * characters + (500_000_000 if dictionaries else 0)


def missing_extras(scripts: Collection[str]) -> list[str]:
    """The extras with dictionaries for names in these scripts that are not installed; cjk has places, too."""
    absent = {one.extra for one in CHINESE if one.serves(scripts) and not one.installed}
    dictionaries = ["cjk"] if "cjk" in absent else sorted(absent)
    return [*dictionaries, *(() if person_names_release() else ("person-names",))]


def _translated(
    side: NameRows, other: NameRows, foreign: Int64, glossary: Pairs, dictionaries: bool
) -> NameRows:
    """One graph's names, as far as they have known terms read by their translations.

    Dictionaries translate the rows in foreign scripts, a glossary all rows.
    """
    chosen = np.arange(len(side)) if glossary else foreign if dictionaries else foreign[:0]
    if not len(chosen):
        return side
    from largeea.names.translation.selection import terms_of  # imported lazily: most names are not translated

    texts = side.texts.take(chosen)
    bracketed = np.isin(chosen, side.bracketed)
    bare = bare_names(texts.filter(pa.array(bracketed)))
    names = plain(texts.to_pylist())
    scripts = Counter(SCRIPTS[script] for script in scripts_of(texts) if script > LATIN)
    terms = terms_of(names, scripts, _vocabulary(other.latin), glossary, dictionaries)
    both = one_form(names) + folded(bare.to_pylist())
    latin = latinised(strings(map(terms.translate, both)))
    reading = latin.slice(0, len(names))
    is_new = np.asarray(pc.fill_null(pc.not_equal(reading, side.latin.take(chosen)), False))
    return side.read_as(
        chosen[is_new],
        reading.filter(pa.array(is_new)),
        latin.slice(len(names)).filter(pa.array(is_new[bracketed])),
    )


def _vocabulary(latin: Strings) -> dict[str, int]:
    """How many times each word occurs in Latin names."""
    words, counts = counted(pc.list_flatten(pc.split_pattern(latin.drop_null(), " ")))
    return dict(zip(words.to_pylist(), counts.tolist(), strict=True))
