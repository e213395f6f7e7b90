"""The scanner against pyoxigraph: what that parser says of a line is the truth."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.errors import InputError
from largeea.formats import ntriples, read_graph
from largeea.formats.builder import GraphBuilder
from largeea.formats.naming import Naming
from largeea.formats.rdf import read_rdf
from largeea.formats.rejects import Rejects
from largeea.formats.scanner import OBJECT, SUBJECT, TAG
from largeea.runs.accounting import account_of

often = settings(deadline=None, max_examples=80, database=None, derandomize=True)
XSD = "http://www.w3.org/2001/XMLSchema#"
PLAIN_ESCAPES = {"\t": r"\t", "\b": r"\b", "\n": r"\n", "\r": r"\r", "\f": r"\f", '"': r"\"", "\\": r"\\"}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("ntriples") / "a.nt"


def facts(graph):
    """Statements by text: triples, and literals with their tag."""
    entities, relations = graph.entities.to_pylist(), graph.relations.to_pylist()
    words = graph.attributes
    predicates, values, tags = (c.to_pylist() for c in (words.predicates, words.values, words.tags))
    triples = {(entities[h], relations[r], entities[t]) for h, r, t in graph.triples.tolist()}
    literals = {(entities[e], predicates[p], values[v], tags[t]) for e, p, v, t in words.rows.tolist()}
    return triples | literals


def ours(path, content: bytes, max_errors=0):
    path.write_bytes(content)
    rejects, builder = Rejects(max_errors), GraphBuilder()
    read_rdf(path, "n-triples", builder, rejects)
    builder.rejected = len(rejects)
    graph = builder.build(Naming())
    account_of(graph)
    return facts(graph), [reject.line for reject in [*rejects.lines, *rejects.repaired]]


def oracle(content: bytes, lenient=False):
    found = set()
    for quad in ox.parse(content, format=ox.RdfFormat.N_QUADS, lenient=lenient):
        subject = str(quad.subject) if isinstance(quad.subject, ox.BlankNode) else quad.subject.value
        value = quad.object
        if isinstance(value, ox.Literal):
            datatype = "" if value.datatype.value == f"{XSD}string" else value.datatype.value
            tag = f"@{value.language.lower()}" if value.language else datatype
            found.add((subject, quad.predicate.value, value.value, tag))
        else:
            tail = str(value) if isinstance(value, ox.BlankNode) else value.value
            found.add((subject, quad.predicate.value, tail))
    return found


# Lines of every shape the grammar knows


def escaped(character: str, how: int) -> str:
    if how == 1 or character in '"\\\n\r':
        return PLAIN_ESCAPES.get(character, character)
    if how == 2:
        return f"\\U{ord(character):08X}"
    return f"\\u{ord(character):04x}" if how == 3 and ord(character) < 0x10000 else character


spelling = st.lists(st.integers(0, 3), min_size=8, max_size=8)
iri_parts = st.sampled_from(
    ["a", "Z9", "-._~", "/", "é", "中", "\U0001f5fc", "%C3%A9", r"\u00e9", r"\U0001F5FC"]
)
iris = st.builds(
    lambda scheme, parts: f"<{scheme}:{''.join(parts)}>",
    st.sampled_from(["http", "urn", "x-y.z+1"]),
    st.lists(iri_parts, max_size=4),
)
blanks = st.sampled_from(["_:b", "_:b1", "_:0", "_:a_-b", "_:a.b", "_:é", "_:a中", "_:_x"])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
quoted = st.builds(
    lambda text, how: '"' + "".join(escaped(c, h) for c, h in zip(text, how, strict=False)) + '"',
    texts,
    spelling,
)
languages = st.sampled_from(["@en", "@EN", "@de-AT", "@zh-Hans-CN", "@en--ltr", "@x-klingon"])
tags = st.just("") | languages | st.builds(lambda iri: f"^^{iri}", iris) | st.just(f"^^<{XSD}string>")
literals = st.builds("".join, st.tuples(quoted, tags))
gaps = st.sampled_from(["", " ", "\t", " \t  "])
comments = st.sampled_from(["", "", "# a comment", "#\"<'."])
statements = st.builds(
    lambda gap, subject, predicate, value, graph, end, comment: (
        f"{gap}{subject}{gap}{predicate}{gap}{value}{gap}{graph}{end}.{gap}{comment}"
    ),
    gaps,
    iris | blanks,
    iris,
    iris | blanks | literals,
    st.just("") | iris,
    st.sampled_from([" ", "\t"]),
    comments,
)
lines = statements | st.sampled_from(["", "  ", "\t", "# nothing here", "  #"])
line_ends = st.sampled_from(["\n", "\r\n"])


@often
@given(st.lists(lines, max_size=12), line_ends, st.booleans(), st.booleans())
def test_every_well_formed_line_is_read_like_by_pyoxigraph(file, lines, end, last_end, mark):
    text = (end.join(lines) + (end if last_end else "")).encode()
    expected = oracle(text)
    found, rejected = ours(file, (b"\xef\xbb\xbf" if mark else b"") + (text or b"\n"))
    assert not rejected
    assert found == expected


@often
@given(st.lists(statements, min_size=2, max_size=12), st.randoms())
def test_the_order_of_lines_leaves_no_trace(file, lines, random):
    graphs = []
    for _ in range(2):
        file.write_text("\n".join(lines), newline="")
        graphs.append(read_graph(file))
        random.shuffle(lines)
    one, other = graphs
    for column in ("entities", "names", "relations"):
        assert getattr(one, column).equals(getattr(other, column))
    for column in ("predicates", "values", "tags"):
        assert getattr(one.attributes, column).equals(getattr(other.attributes, column))
    np.testing.assert_array_equal(one.triples, other.triples)
    np.testing.assert_array_equal(one.attributes.rows, other.attributes.rows)


@often
@given(statements, st.data())
def test_a_wrong_line_is_not_taken_for_a_right_one(file, line, data):
    """What pyoxigraph takes, we take alike; what we take, it takes at least when told not to check IRIs."""
    at = data.draw(st.integers(0, len(line) - 1))
    line = (
        line[:at]
        + data.draw(st.sampled_from(["", " ", "<", ">", '"', "\\", ".", "_", "@", "^", "é"]))
        + line[at + 1 :]
    )
    content = line.encode() + b"\n"
    found, rejected = ours(file, content, max_errors=1)
    try:
        strict = oracle(content)
    except SyntaxError:
        if not rejected:
            assert found == oracle(content, lenient=True)
    else:
        assert not rejected
        assert found == strict


WRONG = [
    "<urn:a> <urn:b> <urn:c>",
    "<urn:a> <urn:b> .",
    "<urn:a> <urn:b> <urn:c> . <urn:d> <urn:e> <urn:f> .",
    "<urn:a> _:b <urn:c> .",
    '"x" <urn:b> <urn:c> .',
    '<urn:a> <urn:b> "\\uD83D" .',
    '<urn:a> <urn:b> "\\U00110000" .',
    '<urn:a> <urn:b> "\\x" .',
    '<urn:a> <urn:b> "x .',
    "<a> <urn:b> <urn:c> .",
    "<urn:a> <urn:b> <urn:c d> .",
    "<urn:a> <urn:b> <urn:c>. x",
    '<urn:a> <urn:b> "a\rb" .',
]


@pytest.mark.parametrize("line", WRONG)
def test_wrong_lines_are_rejected(file, line):
    content = f"<urn:a> <urn:b> <urn:c> .\n{line}\n<urn:d> <urn:e> <urn:f> .".encode()
    found, rejected = ours(file, content, max_errors=1)
    assert rejected == [2]
    assert found == {("urn:a", "urn:b", "urn:c"), ("urn:d", "urn:e", "urn:f")}


@pytest.mark.parametrize(
    ("tag", "part"),
    [
        ("@en-- ", "language tag"),
        ("@1 ", "language tag"),
        ("@en_US", "language tag"),
        ("@ ", "language tag"),
        ("@en_US <urn:graph>", "language tag"),
        ("^^<not an IRI> ", "datatype"),
        ("^^xsd:string ", "datatype"),
        ("^^<relative> _:g ", "datatype"),
    ],
)
def test_a_literal_is_kept_without_its_malformed_tag(file, tag, part):
    file.write_text(f'<urn:a> <urn:b> "say \\"x\\" @ ^^"{tag}. # comment\n<urn:d> <urn:e> <urn:f> .\n')
    rejects = Rejects(1)
    graph = read_graph(file, rejects=rejects)
    account_of(graph)
    assert facts(graph) == {("urn:a", "urn:b", 'say "x" @ ^^', ""), ("urn:d", "urn:e", "urn:f")}
    assert [(kept.line, kept.part) for kept in rejects.repaired] == [(1, part)]
    assert len(rejects) == graph.counts.rejected == 0
    with pytest.raises(InputError, match=r"a\.nt:1: .*\n.*\nThat makes 1 malformed line"):
        read_graph(file, rejects=Rejects(0))


def test_looking_for_a_tag_takes_no_time(file):
    for tag in ("@" + "_:" * 500_000, "@" + ".#" * 500_000, "^^" + "." * 1_000_000, "@_" + " " * 1_000_000):
        file.write_text(f'<urn:a> <urn:b> "x"{tag}\n' + "<urn:a> <urn:b> <urn:c> .\n")
        started = time.perf_counter()
        rejects = Rejects()
        read_graph(file, rejects=rejects)
        assert rejects
        assert time.perf_counter() - started < 10


def test_old_line_ends_are_understood(file):
    found, rejected = ours(file, b"<urn:a> <urn:b> <urn:c> .\r<urn:d> <urn:e> <urn:f> .\r")
    assert not rejected
    assert len(found) == 2


def test_all_kinds_of_lines_in_one_block():
    block = (
        "<urn:a> <urn:p> <urn:b> .\n"
        "# comment\n"
        "\n"
        '_:x <urn:p> "v"@en .\r\n'
        r'<urn:\u0061> <urn:p> "v" .' + "\n"
        '<urn:a> <urn:q> "v" .\n'
        "rubbish\n"
    ).encode()
    scanned = ntriples.scan_lines(block)

    def texts(statements, term):
        return [block[s:e].decode() for s, e in zip(statements[term], statements[term + 1], strict=True)]

    assert texts(scanned.triples, OBJECT) == ["urn:b"]
    assert texts(scanned.literals, SUBJECT) == ["_:x", "urn:a"]
    assert texts(scanned.literals, OBJECT) == ["v", "v"]
    assert texts(scanned.literals, TAG) == ["@en", ""]
    assert scanned.unsure.tolist() == [4, 6]
    assert scanned.nothing == 2
    assert (
        scanned.lines.tolist()
        == np.cumsum([0] + [len(line) + 1 for line in block.split(b"\n")[:-1]]).tolist()
    )


def test_the_bulk_of_lines_needs_no_second_opinion():
    """Plain lines must not go to the slow path: that is what the scanner is for."""
    plain = [
        "<http://dbpedia.org/resource/Caf%C3%A9_(x)> <http://x/p#q> <http://x/Zürich,_'a'> .",
        '_:b0 <urn:p> "text with \\"quotes\\", tabs\\t and \\u00e9"@pt-BR .',
        f'<urn:a> <urn:p> "1"^^<{XSD}integer> <urn:graph> .',
        '<urn:a>\t<urn:p>\t"tabs between"\t.\r',
        "<urn:a> <urn:p> _:b-1 . # comment",
        "   # comment",
    ]
    assert not len(ntriples.scan_lines(("\n".join(plain) + "\n").encode()).unsure)


def test_lines_of_three_terms_only():
    """A graph name or a comment may be part of an IRI that holds a `>`."""
    lines = [
        "<urn:a> <urn:p> <urn:b> .",
        "<urn:a> <urn:p> <urn:b> <urn:g> .",
        "<urn:a> <urn:p> <urn:b> . #> .",
    ]
    block = ("\n".join(lines) + "\n").encode()
    assert not len(ntriples.scan_lines(block).unsure)
    assert ntriples.scan_lines(block, triples_only=True).unsure.tolist() == [1, 2]


@often
@given(st.lists(texts), spelling)
def test_unescaping(values, how):
    literals = ["".join(escaped(c, h) for c, h in zip(value, how * 2, strict=False)) for value in values]
    block = b"\0".join(literal.encode() for literal in literals) + b"\0"
    ends = np.array([i for i, byte in enumerate(block) if byte == 0], np.int64)
    if len(ends) != len(literals) or not literals:
        return  # a literal that holds the separator itself
    starts = np.append(0, ends[:-1] + 1)
    data, offsets = ntriples.unescape(np.frombuffer(block, np.uint8), starts, ends)
    found = [bytes(data[s:e]).decode() for s, e in pairwise(offsets.tolist())]
    assert found == [value[:16] for value in values]
