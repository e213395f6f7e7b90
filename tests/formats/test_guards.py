"""What is looked at before a parser sees it: the looks find the same as a slow and simple way does."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.errors import InputError
from largeea.formats import json_lexer as lexer
from largeea.formats import jsonld_guard, read_graph, turtle_guard
from largeea.formats.guard import MAX_NAME_BYTES, Guard, growth_allowed
from largeea.formats.jsonld_guard import JsonLdLook
from largeea.formats.turtle_guard import TurtleLook

often = settings(deadline=None, max_examples=100, database=None, derandomize=True)


def in_pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


def test_a_guard_passes_everything_on_and_looks_first():
    looked = []
    data = bytes(range(256)) * 5000
    guard = Guard(io.BytesIO(data), Path("x"), looked.append)
    assert guard.read() == data
    assert b"".join(looked) == data
    assert guard.seen == len(data)


def test_a_guard_refuses_a_block_before_any_of_it_is_passed_on():
    guard = Guard(io.BytesIO(b"evil"), Path("x"), lambda block: "is evil" if block == b"evil" else None)
    with pytest.raises(InputError, match="x: is evil, which is refused for safety"):
        guard.read(1)


def test_little_may_become_much_but_much_not_boundless():
    assert growth_allowed(1) == 256 << 20
    assert growth_allowed(1 << 30) == 300 << 30


# Turtle


@pytest.mark.parametrize(
    ("text", "depth", "iri"),
    [
        ("<urn:a> <urn:p> [ <urn:q> ( 1 2 ) ] .", 2, 6),
        ('<urn:a> <urn:p> "[[[[" , "\\"[[[" , \'[[\' .', 0, 6),
        ("<urn:a> <urn:p> '''[[ '' \\''' [[''' , \"\"\"[\"\"[\"\"\" , [] .", 1, 6),
        ("# [[[[ <urn:long-in-a-comment>\n<urn:a> <urn:p> () .", 1, 6),
        ("<urn:[[[> <urn:p> \"\" , '' , [] .", 1, 8),
        ("<urn:a> <urn:p> <<( <urn:s> <urn:p> <<( <urn:s> <urn:p> 1 )>> )>> , [] .", 4, 6),
        ("<< <urn:s> <urn:p> <urn:o> >> <urn:p> << <urn:s> <urn:p> 1 >> , <urn:longer> .", 1, 11),
        ('a:b\\(c\\\'d a:p [ a:q "x"@en ] .', 1, 0),
        ("]]]] [ [ ]", 2, 0),
    ],
)
def test_depth_of_turtle(text, depth, iri):
    look = TurtleLook()
    assert look(text.encode()) is None
    memory = look._memory
    assert (memory[turtle_guard._DEEPEST], memory[turtle_guard._LONGEST]) == (depth, iri)


@often
@given(st.text("<>\"'#\\[](){} a\n", max_size=60), st.lists(st.integers(0, 7), max_size=12))
def test_turtle_may_come_in_any_pieces(text, sizes):
    whole, parts = TurtleLook(), TurtleLook()
    whole(text.encode())
    for piece in in_pieces(text.encode(), sizes):
        parts(piece)
    # How long an IRI is that has not ended yet is all that may be noticed at different times.
    assert whole._memory[:6].tolist() == parts._memory[:6].tolist()


def test_turtle_at_the_limits():
    depth = turtle_guard.MAX_DEPTH
    assert TurtleLook()(b"[" * depth) is None
    assert TurtleLook()(b"[" * (depth + 1)) == "nests more than 256 deep"
    assert TurtleLook()(b"<" + b"a" * (MAX_NAME_BYTES - 1) + b">") is None
    look = TurtleLook()
    assert look(b"<" + b"a" * MAX_NAME_BYTES) is None
    assert look(b"a") == "has an IRI longer than 32 KB"


# JSON-LD


names = st.sampled_from(["@id", "@context", "@graph", "p", "\u00e9\u4e2d", "id", "", 'q"\\'])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a"\\{}[]:,@\u00e9', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


def depth_of(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


def contexts_in(value: object) -> list[object]:
    """Outermost contexts in the order of the text; a number or null is none."""
    if isinstance(value, list):
        return [context for inner in value for context in contexts_in(inner)]
    if not isinstance(value, dict):
        return []
    found = []
    for name, inner in value.items():
        if name != "@context":
            found += contexts_in(inner)
        elif isinstance(inner, dict | list | str):
            found.append(inner)
    return found


def names_in(value: object) -> list[str]:
    """Names and identifiers outside contexts."""
    if isinstance(value, list):
        return [name for inner in value for name in names_in(inner)]
    if not isinstance(value, dict):
        return []
    found = list(value)
    for name, inner in value.items():
        found += [inner] if name == "@id" and isinstance(inner, str) else []
        found += names_in(inner) if name != "@context" else []
    return found


class Noting(JsonLdLook):
    """Keeps the contexts that the lexer finds, as they are in the text, instead of weighing them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[object] = []

    def _enter(self, text: bytes) -> None:
        self.found.append(json.loads(text))


@often
@given(values, st.booleans(), st.lists(st.integers(0, 9), max_size=30), st.sampled_from([None, 1]))
def test_the_lexer_finds_what_a_parser_finds(value, ascii_only, sizes, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    look = Noting()
    assert all(look(piece) is None for piece in in_pieces(text, sizes))
    assert look.found == contexts_in(value)
    assert look._memory[lexer.DEEPEST] == depth_of(value)
    assert look._memory[lexer.DEPTH] == 0
    if not ascii_only:
        longest = max(
            (len(json.dumps(name, ensure_ascii=False).encode()) - 2 for name in names_in(value)), default=0
        )
        escapes = max((name.count('"') + name.count("\\") for name in names_in(value)), default=0)
        assert longest - escapes <= look._memory[lexer.LONGEST_NAME] <= longest


@pytest.mark.parametrize("name", ["@context", "@id", "\u00e9\u4e2d", "a b"])
def test_a_name_is_known_however_it_is_written(name):
    escaped = "".join(f"\\u{ord(c):04x}" for c in name)
    for written in (name, escaped, escaped.upper().replace("\\U", "\\u")):
        memory, hashes = lexer.new_memory()
        data = lexer.np.frombuffer(f'"{written}"'.encode(), lexer.np.uint8)
        lexer.follow(data, 0, memory, hashes, hashes[:0])
        assert int(hashes[1]) == lexer.name_hash(name)


def test_contexts_beside_each_other_do_not_add_up(tmp_path):
    """Each object may have its own; only those that hold at the same place count together."""
    context = {f"term{i}": f"http://example.org/{i}" for i in range(50)}
    nodes = [{"@context": context, "@id": f"urn:{i}", "term1": "x"} for i in range(2000)]
    for name, document in {"list": nodes, "graph": {"@context": {"x": "urn:x"}, "@graph": nodes}}.items():
        path = tmp_path / f"{name}.jsonld"
        path.write_text(json.dumps(document))
        assert path.stat().st_size > 10 * jsonld_guard.MAX_CONTEXT_BYTES
        assert read_graph(path).counts.literals == 2000


def test_a_context_as_large_as_that_of_schema_org_is_fine(tmp_path):
    terms = {f"property{i}": {"@id": f"schema:property{i}", "@type": "@id"} for i in range(2500)}
    context = {"schema": "http://schema.org/", "id": "@id", "type": "@type", **terms}
    nodes = [{"id": f"schema:{i}", "type": "schema:Thing", "property1": "schema:x"} for i in range(500)]
    path = tmp_path / "a.jsonld"
    path.write_text(json.dumps({"@context": context, "@graph": nodes}))
    assert len(json.dumps(context)) > 150_000
    assert read_graph(path).counts.triples == 1000


def test_prefixes_of_prefixes_are_fine(tmp_path):
    context = {"a": "http://a/", "b": "a:b/", "c": "b:c/", "name": {"@id": "c:name"}, "c:x": {"@type": "@id"}}
    path = tmp_path / "a.jsonld"
    path.write_text(json.dumps({"@context": context, "@id": "c:d", "name": "n", "c:x": "b:y"}))
    graph = read_graph(path)
    assert graph.entities.to_pylist() == ["http://a/b/c/d", "http://a/b/y"]
    assert graph.relations.to_pylist() == ["http://a/b/c/x"]
