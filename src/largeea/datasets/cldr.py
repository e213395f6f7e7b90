"""Facts and names of Unicode CLDR: territories, languages, scripts, currencies, cities and time zones."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from babel import Locale, UnknownLocaleError
from babel.core import get_global, parse_locale
from babel.localedata import locale_identifiers

from largeea.errors import UsageError
from largeea.graph import Int32, Strings, frozen, strings

Thing = tuple[str, str]
"""An entity before it gets an opaque id: its kind and its CLDR code, such as ("currency", "EUR")."""
Fact = tuple[Thing, str, Thing]

_AREAS = {"Africa": "002", "America": "019", "Antarctica": "AQ", "Asia": "142", "Europe": "150"}
"""Territory codes of the IANA time zone areas that are territories, too."""
_LANGUAGE_STATUS = {
    "official": "official-language",
    "de_facto_official": "official-language",
    "official_regional": "regional-language",
    None: "spoken-language",
}


def find_locale(language: str) -> Locale:
    """The CLDR locale for a code such as `fr`, `pt_BR` or `zh-Hant`."""
    try:
        return Locale.parse(language.replace("-", "_"))
    except (UnknownLocaleError, ValueError) as error:
        known = {identifier.casefold(): identifier for identifier in sorted(locale_identifiers())}
        english = sorted(Locale("en").languages.items(), reverse=True)
        known |= {name.casefold(): code for code, name in english if code.casefold() in known}
        near = difflib.get_close_matches(language.replace("-", "_").casefold(), known, n=5)
        examples = dict.fromkeys(known[match] for match in near) or ("en", "fr", "de", "ja", "zh", "pt_BR")
        raise UsageError(
            f"no language {language!r} in CLDR: give a locale code, a language (fr) with a script or "
            f"territory where wanted (zh_Hant, pt_BR), for instance {', '.join(examples)}"
        ) from error


@dataclass(frozen=True)
class World:
    """All facts as int32 `facts[n, 3]`: positions of head in `things`, of relation, of tail in `things`."""

    things: tuple[Thing, ...]
    relations: tuple[str, ...]
    facts: Int32


@cache
def cldr_world() -> World:
    """All facts between entities with an English name in CLDR, former states and all metazones."""
    english = Locale("en")
    known = {
        "territory": english.territories.keys() | get_global("territory_currencies").keys(),
        "language": english.languages.keys() - {"mul", "und", "zxx"},
        "script": english.scripts.keys() - {"Zzzz"},
        "currency": english.currencies.keys(),
        "city": _time_zones().keys(),
        "time": set(get_global("meta_zones").values()),
    }
    found = sorted({fact for fact in _cldr_facts() if all(code in known[kind] for kind, code in fact[::2])})
    things = sorted({thing for head, _, tail in found for thing in (head, tail)})
    relations = sorted({relation for _, relation, _ in found})
    place = {thing: position for position, thing in enumerate(things)}
    facts = [(place[head], relations.index(relation), place[tail]) for head, relation, tail in found]
    return World(tuple(things), tuple(relations), frozen(facts, np.int32, 3))


def _cldr_facts() -> Iterator[Fact]:
    yield from _language_facts()
    yield from _locale_facts()
    yield from _currency_facts()
    yield from _time_facts()
    for former, successors in get_global("territory_aliases").items():
        for successor in successors:
            yield ("territory", former), "succeeded-by", ("territory", successor)


def _language_facts() -> Iterator[Fact]:
    """Languages of each territory, and the facts implied by compound tags such as `uz_Cyrl` or `de_AT`."""
    tags = set(Locale("en").languages)
    for territory, languages in get_global("territory_languages").items():
        for tag, facts in languages.items():
            relation = _LANGUAGE_STATUS[facts["official_status"]]
            yield ("territory", territory), relation, ("language", tag)
            yield ("territory", territory), relation, ("language", parse_locale(tag)[0])
            tags.add(tag)
    for tag in tags:
        language, region, script = parse_locale(tag)[:3]
        if script:
            yield ("language", language), "written-in", ("script", script)
            yield ("language", tag), "written-in", ("script", script)
        if region:
            yield ("language", tag), "variety-of-territory", ("territory", region)
        if tag != language:
            yield ("language", tag), "variety-of-language", ("language", language)


def _locale_facts() -> Iterator[Fact]:
    """Likely language, script and territory for partial locales (CLDR's likely subtags)."""
    for part, whole in get_global("likely_subtags").items():
        language, script, territory = whole.split("_")
        yield ("language", language), "written-in", ("script", script)
        match [given not in (None, "und") for given in parse_locale(part)[:3]]:
            case [True, False, False]:
                yield ("language", language), "main-territory", ("territory", territory)
            case [False, True, False]:
                yield ("territory", territory), "usual-language", ("language", language)
                yield ("territory", territory), "usual-script", ("script", script)
            case [False, False, True]:
                yield ("script", script), "typical-language", ("language", language)
                yield ("script", script), "typical-territory", ("territory", territory)
            case [False, True, True]:
                yield ("territory", territory), "other-script", ("script", script)
    for child, parent in get_global("parent_exceptions").items():
        follower, model = parse_locale(child)[1], parse_locale(parent)[1]
        if follower and model:
            yield ("territory", follower), "follows-usage-of", ("territory", model)


def _currency_facts() -> Iterator[Fact]:
    for territory, currencies in get_global("territory_currencies").items():
        for currency, _, until, tender in currencies:
            relation = "reckons-in" if not tender else "used-currency" if until else "uses-currency"
            yield ("territory", territory), relation, ("currency", currency)


def _time_facts() -> Iterator[Fact]:
    """The territory and the CLDR metazone of each city that names a time zone."""
    aliases = get_global("zone_aliases")
    for zone, territory in _time_zones().items():
        yield ("city", zone), "located-in", ("territory", territory)
        area = zone.split("/")[0]
        if area in _AREAS:
            yield ("city", zone), "filed-under", ("territory", _AREAS[area])
    for zone, time in get_global("meta_zones").items():
        yield ("city", aliases.get(zone, zone)), "keeps-time", ("time", time)


def _time_zones() -> dict[str, str]:
    """Map each time zone that is named after a city to its territory."""
    zones = get_global("zone_territories").items()
    return {zone: territory for zone, territory in zones if not zone.startswith("Etc/")}


def names_in(locale: Locale, things: tuple[Thing, ...]) -> Strings:
    """Names in one language, null where CLDR has none (no fallback to codes or English names)."""
    names = {
        "territory": locale.territories,
        "language": locale.languages,
        "script": locale.scripts,
        "currency": locale.currencies,
        "city": _city_names(locale),
        "time": _time_names(locale),
    }
    return strings([names[kind].get(code) for kind, code in things])


def _city_names(locale: Locale) -> dict[str, str]:
    """Names of the cities that time zones are named after, by zone.

    CLDR omits cities spelt like the last part of their zone id (`Asia/Hong_Kong`); these are taken from the
    id. `babel.dates.get_timezone_location` is not used: it takes `Indiana/Knox` for a city, misses cities
    that CLDR lists under an old id (`Asia/Calcutta`), and needs the system's time zone files.
    """
    aliases = get_global("zone_aliases")
    spelt = {zone: zone.rpartition("/")[2].replace("_", " ") for zone in _time_zones()}
    listed = {zone: names["city"] for zone, names in locale.time_zones.items() if "city" in names}
    return spelt | {aliases.get(zone, zone): city for zone, city in listed.items()}


def _time_names(locale: Locale) -> dict[str, str | None]:
    long = {time: names.get("long", {}) for time, names in locale.meta_zones.items()}
    return {time: forms.get("generic") or forms.get("standard") for time, forms in long.items()}
