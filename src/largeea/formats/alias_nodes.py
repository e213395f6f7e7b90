"""Nodes that are nothing but another name of an entity (`:UN :isAliasOf :United_Nations`)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.folding import Statements, joined
from largeea.formats.naming import ALIAS_PREDICATES, LABEL_PREDICATES, local_names
from largeea.formats.vocabularies import SKOS, TYPE
from largeea.graph import Bool, Int32, Strings, strings
from largeea.graph.lookup import are_in, distinct, places_in

_ALIAS_OF = r"(?i)(alias|synonym|abbreviation|acronym|nickname|(alternative|alternate|other)_?name)_?of$"
_ALT_LABEL = SKOS + "altLabel"


def fold_alias_nodes(statements: Statements) -> None:
    """Give the names of a node that is only an alias to the entity it is an alias of.

    A node is folded if "alias of" (by the predicate's name) is all that is said of it beside types and
    labels, and nothing refers to it. Without a label, the last part of its IRI is the name.
    """
    leads = np.asarray(pc.match_substring_regex(statements.predicates, _ALIAS_OF), bool)
    links = statements.triples[leads[statements.triples[:, 1]]]
    links = links[_only_aliases(statements, leads)[links[:, 0]]] if len(links) else links
    if not len(links):
        return
    labels = statements.is_predicate((*LABEL_PREDICATES, *ALIAS_PREDICATES))
    texts = statements.literals[labels[statements.literals[:, 1]]]
    row, text = joined(links[:, 0], texts[:, 0])
    named = np.column_stack([links[row, 2], texts[text, 2:]])
    unlabelled = links[~np.isin(links[:, 0], texts[:, 0])]
    by_iri = local_names(statements.entities.take(pa.array(unlabelled[:, 0])))
    has_name = np.asarray(pc.is_valid(by_iri), bool)
    value, tag = _numbers(statements, by_iri.filter(pa.array(has_name)))
    named = np.concatenate([named, np.column_stack([unlabelled[has_name, 2], value, tag])])
    predicate = statements.add_predicates(strings([_ALT_LABEL]))[0]
    made = np.insert(named, 1, predicate, axis=1).astype(np.int32)
    gone = statements.mask(links[:, 0])
    statements.fold(gone, np.empty((0, 3), np.int32), made, text_nodes=int(gone.sum()))


def _only_aliases(statements: Statements, leads: Bool) -> Bool:
    """Mask of the nodes of which only types, labels and one "alias of" are said, `[entities]`."""
    triples, literals, count = statements.triples, statements.literals, len(statements.entities)
    is_type = triples[:, 1] == statements.predicate(TYPE)
    is_link = leads[triples[:, 1]]
    labels = statements.is_predicate((*LABEL_PREDICATES, *ALIAS_PREDICATES))
    owners = np.bincount(triples[is_link, 0], minlength=count)
    others = np.bincount(triples[~is_type & ~is_link, 0], minlength=count)
    others += np.bincount(triples[:, 2], minlength=count)
    others += np.bincount(literals[~labels[literals[:, 1]], 0], minlength=count)
    return np.asarray((owners == 1) & (others == 0))


def _numbers(statements: Statements, names: Strings) -> tuple[Int32, Int32]:
    """Positions of names among the values, new ones appended, and of the empty tag, `[n]` each."""
    new = distinct(names.filter(pa.array(~are_in(names, statements.values))))
    statements.values = pa.concat_arrays([statements.values, new])
    if not are_in(strings([""]), statements.tags)[0]:
        statements.tags = pa.concat_arrays([statements.tags, strings([""])])
    tag = pc.index(statements.tags, pa.scalar("", pa.large_string())).as_py()
    value = places_in(names, statements.values)
    return value, np.full(len(value), tag, np.int32)
