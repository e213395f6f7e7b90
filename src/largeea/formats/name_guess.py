"""Names of entities that have no label, by predicates that read like one, such as `ex:fullName`.

What a user gives with `--label` leaves nothing to guess, and well-known labels come before every guess.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.column_facts import ColumnFacts, facts_of
from largeea.formats.column_guess import could_be_name, may_be_names
from largeea.formats.header import (
    FAMILY_NAME_WORDS,
    GIVEN_NAME_WORDS,
    PART_OF_NAME_WORDS,
    VALUE_WORDS,
    normal,
    rank_of_name,
    words_of,
)
from largeea.formats.naming import ALIAS_PREDICATES, LABEL_PREDICATES, Naming, best_labels
from largeea.formats.vocabularies import TEXTS
from largeea.graph import Attributes, Bool, Int32, KnowledgeGraph, Role, Strings, strings
from largeea.graph.lookup import are_in

_LAST_PART = re.compile(r"[^/#:]*$")
_FILLER = re.compile(r"^(has|is)[_ -]?(?=[A-Z]|name|label|title)")
_SAMPLE = 1000
"""Literals of a predicate that are looked at."""
_MOST_PREDICATES = 100
"""So many that are called names are looked at. With more predicates, none is found by its values alone."""
_INSIDE = {"name", "label", "title"}
_OTHER_NAMES = {
    *("alternative", "alternate", "alt", "other", "former", "previous", "old", "variant", "hidden", "short"),
    *("abbreviated", "nick", "alias"),
}
"""Words of predicates that give an entity's other names."""


def with_guessed_names(graph: KnowledgeGraph, naming: Naming) -> KnowledgeGraph:
    """The graph with names for individuals and classes that have none.

    These are their literals under predicates that read like a name, else the text of a node that such a
    predicate leads to, else given name and family name together.
    """
    unnamed = ~graph.named & np.isin(graph.roles, (Role.INDIVIDUAL, Role.CLASS)) & ~graph.anonymous
    if not unnamed.any():
        return graph
    guessed = guessed_predicates(graph.attributes, unnamed)
    names = _filled(graph.names, unnamed, *best_labels(graph.attributes, Naming(guessed, naming.languages)))
    for texts in (_texts_of_nodes(graph, naming, unnamed), _whole_names(graph.attributes, naming)):
        names = _filled(names, unnamed & np.asarray(pc.is_null(names)), *texts)
    return replace(graph, names=names, label_predicates=(*naming.predicates, *guessed) if guessed else ())


def _texts_of_nodes(graph: KnowledgeGraph, naming: Naming, unnamed: Bool) -> tuple[Int32, Strings]:
    """Unnamed entities that have a blank node for their name, as in `bf:title [ bf:mainTitle "Walden" ]`, and
    the text of the first such node."""
    called = np.array([_rank(_last_part(iri)) > 0 for iri in graph.relations.to_pylist()], bool)
    owner, relation, node = graph.triples.T
    links = graph.triples[called[relation] & unnamed[owner] & graph.anonymous[node]]
    of_names = np.zeros(graph.size, bool)
    of_names[links[:, 2]] = True
    texts = (*naming.predicates, *TEXTS, *guessed_predicates(graph.attributes, of_names))
    named, text = best_labels(graph.attributes, Naming(texts, naming.languages))
    place = np.full(graph.size, -1)
    place[named] = np.arange(len(named))
    links = links[place[links[:, 2]] >= 0]
    owners, first = np.unique(links[:, 0], return_index=True)
    return owners.astype(np.int32), text.take(pa.array(place[links[first, 2]]))


def _whole_names(attributes: Attributes, naming: Naming) -> tuple[Int32, Strings]:
    """The entities with a given name and a family name, and both together."""
    given, family = (_called(words, attributes, naming) for words in (GIVEN_NAME_WORDS, FAMILY_NAME_WORDS))
    both, first, second = np.intersect1d(given[0], family[0], return_indices=True)
    texts = given[1].take(pa.array(first)), family[1].take(pa.array(second))
    return both, pc.binary_join_element_wise(*texts, pa.scalar(" ", pa.large_string()))


def guessed_predicates(attributes: Attributes, unnamed: Bool) -> tuple[str, ...]:
    """The predicates whose literals name some of the `unnamed` entities, `[entities]`, the best first.

    They are called names and have different texts as values. If there are none, the only predicate with
    short, different texts counts, if half of these entities that have texts have it.
    """
    literals = _texts_of(attributes, unnamed)
    known = are_in(attributes.predicates, strings([*LABEL_PREDICATES, *ALIAS_PREDICATES]))
    literals = literals[~known[literals[:, 1]]]
    literals = literals[np.argsort(literals[:, 1], kind="stable")]
    found, starts = np.unique(literals[:, 1], return_index=True)
    ends = np.append(starts[1:], len(literals))
    iris = attributes.predicates.take(pa.array(found)).to_pylist()
    ranks = [_rank(_last_part(iri)) for iri in iris]

    def facts(at: int) -> ColumnFacts:
        sample = literals[starts[at] : ends[at]][:_SAMPLE]
        return facts_of(at, _last_part(iris[at]), attributes.values.take(pa.array(sample[:, 2])))

    best_first = sorted(range(len(iris)), key=lambda at: (-ranks[at], starts[at] - ends[at], at))
    called = [at for at in best_first[:_MOST_PREDICATES] if ranks[at] and may_be_names(facts(at))]
    if called:
        return tuple(iris[at] for at in called)
    described = len(np.unique(literals[:, 0]))
    often = [at for at in range(len(iris)) if 2 * (ends[at] - starts[at]) >= described]
    texts = [at for at in often if len(iris) <= _MOST_PREDICATES and could_be_name(facts(at))]
    return (iris[texts[0]],) if len(texts) == 1 else ()


def _rank(title: str) -> float:
    """How likely a predicate that is called like this gives names, and the main ones; 0: it does not.

    A word for names may also stand inside: `preferredNameForThePerson`.
    """
    words = words_of(_FILLER.sub("", title))
    inside = 0.5 * (bool(set(words) & _INSIDE) and normal(title) not in PART_OF_NAME_WORDS)
    rank = rank_of_name(words) or inside * (not set(words) & VALUE_WORDS)
    return rank / 10 if set(words) & _OTHER_NAMES else rank


def _texts_of(attributes: Attributes, entities: Bool) -> Int32:
    """The literals of some entities that are plain text, or text in a language."""
    plain = np.asarray(pc.or_(pc.equal(attributes.tags, ""), pc.starts_with(attributes.tags, "@")), bool)
    rows = attributes.rows
    found: Int32 = rows[entities[rows[:, 0]] & plain[rows[:, 3]]]
    return found


def _called(words: set[str], attributes: Attributes, naming: Naming) -> tuple[Int32, Strings]:
    """The entities with a literal of a predicate that is called like this, and the best one of each."""
    iris = attributes.predicates.to_pylist()
    called = tuple(iri for iri in iris if normal(_last_part(iri)) in words)
    return best_labels(attributes, Naming(called, naming.languages))


def _last_part(iri: str) -> str:
    """What follows the last separator of an IRI."""
    return str(_LAST_PART.findall(iri.rstrip("/#:"))[0])


def _filled(names: Strings, unnamed: Bool, entities: Int32, texts: Strings) -> Strings:
    """The names, with these texts for those of the entities that are unnamed."""
    wanted = unnamed[entities]
    mask = np.zeros(len(names), bool)
    mask[entities[wanted]] = True
    return pc.replace_with_mask(names, pa.array(mask), texts.filter(pa.array(wanted)))
