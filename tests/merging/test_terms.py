"""Identifiers and literals as terms that a strict parser accepts."""

from __future__ import annotations

import re

import pyoxigraph as ox
import pytest

from largeea.graph import strings
from largeea.merging.terms import Renaming, Terms, quoted

TERMS = Terms("urn:base:", "s")


def test_keys_are_appended_to_the_base_and_iris_stay() -> None:
    found = TERMS.iris(strings(["http://a.org/x", "urn:y", "key", "a b", "50%", "Ünal"]))
    wanted = ["http://a.org/x", "urn:y", "urn:base:key", "urn:base:a%20b", "urn:base:50%25", "urn:base:Ünal"]
    assert found.to_pylist() == [f"<{iri}>" for iri in wanted]


@pytest.mark.parametrize("bad", ['"', "<", ">", "\\", "^", "`", "{", "|", "}", " ", "\x00", "\x7f", "\x85"])
def test_no_identifier_breaks_a_line(bad: str) -> None:
    ids = strings([f"http://a.org/{bad}", f"key{bad}", f"_:b{bad}"])
    text = " .\n".join(f"{term} <urn:p> {term}" for term in TERMS.nodes(ids).to_pylist()) + " ."
    statements = list(ox.parse(text.encode(), format=ox.RdfFormat.N_TRIPLES))
    assert len(statements) == 3
    assert isinstance(statements[2].subject, ox.BlankNode)


def test_blank_nodes_of_two_graphs_differ() -> None:
    labels = strings(["_:b", "_:0.b", "http://a.org/x", "_:a_b", "_:a:b", "_:a_3a_b"])
    wanted = ["_:sb", "_:s0.b", "<http://a.org/x>", "_:sa_b", "_:s-a_3a_b", "_:sa_3a_b"]
    assert TERMS.nodes(labels).to_pylist() == wanted
    assert Terms("urn:base:", "t").nodes(labels).to_pylist()[0] == "_:tb"


def test_literals_are_escaped_and_read_back() -> None:
    values = ['a"b', "back\\slash", "\\n", "line\nfeed", "return\rhere", "tab\t", "", "\x00\x1f", "é😀\u2028"]
    for term, value in zip(quoted(strings(values)).to_pylist(), values, strict=True):
        (statement,) = ox.parse(f"<urn:s> <urn:p> {term} .".encode(), format=ox.RdfFormat.N_TRIPLES)
        assert statement.object.value == value


def test_control_characters_in_literals_do_not_reach_a_terminal() -> None:
    values = ["\x1b[31mred", "\x9b2J", "\x7f\x08\x00", "tab\t", "«é»\u2028", "\\\x1b"]
    terms = quoted(strings(values)).to_pylist()
    assert terms[:2] == [r'"\u001B[31mred"', r'"\u009B2J"']
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", "".join(terms))
    for term, value in zip(terms, values, strict=True):
        (statement,) = ox.parse(f"<urn:s> <urn:p> {term} .".encode(), format=ox.RdfFormat.N_TRIPLES)
        assert statement.object.value == value


def test_tags() -> None:
    tags = strings(["", "@en-GB", "http://www.w3.org/2001/XMLSchema#int", "@-", "year"])
    texts, malformed = TERMS.tags(tags)
    wanted = ["", "@en-GB", "^^<http://www.w3.org/2001/XMLSchema#int>", "", "^^<urn:base:year>"]
    assert texts.to_pylist() == wanted
    assert malformed.tolist() == [3]


def test_renaming_replaces_what_it_knows_and_forgets_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Renaming, "_ROOM", 10)
    renaming = Renaming(strings(["urn:a", "urn:b"]), strings(["<urn:A>", "<urn:B>"]))
    terms = TERMS.renamed(renaming)
    for block in range(20):
        ids = strings(["urn:b", *(f"urn:{block}:{number}" for number in range(7)), "urn:a"])
        found = terms.nodes(ids).to_pylist()
        assert (found[0], found[-1]) == ("<urn:B>", "<urn:A>")
        assert found[1] == f"<urn:{block}:0>"
        assert len(renaming._table) <= 2 + 10 + 9, "its memory is bounded"
