"""The built-in demo: two graphs of real-world facts from Unicode CLDR, in two languages of the user's choice.

The graphs hold territories, languages, scripts, currencies, cities and time zones as CLDR records them, with
their names in each language. Ids are opaque, and each side lacks some facts at random. An alignment can
therefore use only names and structure, and needs both.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from babel import Locale
from babel.core import get_locale_identifier

from largeea.datasets.cldr import World, cldr_world, find_locale, names_in
from largeea.formats.vocabularies import LABEL
from largeea.graph import Attributes, Int64, KnowledgeGraph, Links, Pair, ReadCounts, Strings, strings
from largeea.graph.lookup import distinct, places_in

ENTITIES_DROPPED = 0.08
"""Share of the entities removed from each side, so that some entities have no counterpart."""
FACTS_DROPPED = 0.15
"""Share of the facts removed from each side, in addition to those of removed entities."""


def demo_pair(languages: tuple[str, str] = ("en", "fr"), seed: int = 0) -> Pair:
    """Return the demo pair in two languages; deterministic in `seed` for one release of babel (CLDR).

    From each side, a share `ENTITIES_DROPPED` of the entities and `FACTS_DROPPED` of the facts is removed
    independently. Links join the entities that remain on both sides. Entities that have no name in a language
    are kept without a name.

    Example: `demo_pair(("de", "ja"), seed=1)`.
    """
    world = cldr_world()
    locales = [find_locale(language) for language in languages]
    (source, source_at), (target, target_at) = (
        _side(world, locale, side, seed) for side, locale in enumerate(locales, start=1)
    )
    shared = (source_at >= 0) & (target_at >= 0)
    links = Links(np.column_stack([source_at[shared], target_at[shared]])).canonical()
    return Pair(source, target, links)


def _side(world: World, locale: Locale, side: int, seed: int) -> tuple[KnowledgeGraph, Int64]:
    """The graph of one side, and the entity id of each thing in it, -1 if it was removed."""
    random = np.random.default_rng([seed, side])
    count = len(world.things)
    opaque = random.permutation(count)
    present = random.random(count) >= ENTITIES_DROPPED
    stated = random.random(len(world.facts)) >= FACTS_DROPPED
    facts = world.facts[stated & present[world.facts[:, 0]] & present[world.facts[:, 2]]]

    names = names_in(locale, world.things)
    connected = np.bincount(facts[:, [0, 2]].ravel(), minlength=count) > 0
    present &= connected | np.asarray(pc.is_valid(names))
    things = np.flatnonzero(present)
    things = things[np.argsort(opaque[things])]
    entity_of = np.full(count, -1, np.int64)
    entity_of[things] = np.arange(len(things))

    language = _language_tag(locale)
    prefix = f"urn:demo:{side}:{language}:"
    digits = len(str(count - 1))
    entities = strings([f"{prefix}e{number:0{digits}}" for number in opaque[things]])
    relations, relation = np.unique(facts[:, 1], return_inverse=True)
    triples = np.unique(np.column_stack([entity_of[facts[:, 0]], relation, entity_of[facts[:, 2]]]), axis=0)
    names = names.take(things)
    labels = _labels(names, language)
    graph = KnowledgeGraph(
        entities,
        names,
        strings([prefix + world.relations[number] for number in relations]),
        triples,
        labels,
        ReadCounts(statements=len(triples) + len(labels), triples=len(triples), literals=len(labels)),
    )
    return graph, entity_of


def _language_tag(locale: Locale) -> str:
    parts = (locale.language, locale.territory, locale.script, locale.variant)
    return str(get_locale_identifier(parts, sep="-")).lower()


def _labels(names: Strings, language: str) -> Attributes:
    """The names as label attributes, as a graph read from a file has them."""
    named = names.drop_null()
    values = distinct(named).sort()
    rows = np.zeros((len(named), 4), np.int32)
    rows[:, 0] = np.flatnonzero(pc.is_valid(names))
    rows[:, 2] = places_in(named, values)
    return Attributes(rows, strings([LABEL]), values, strings([f"@{language}"]))
