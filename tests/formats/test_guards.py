"""Guards pass sound files on and refuse dangerous ones before the parser gets them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.errors import InputError
from largeea.formats import turtle_guard
from largeea.formats.guard import MAX_NAME_BYTES, Guard, growth_allowed
from largeea.formats.turtle_guard import TurtleCheck

often = settings(deadline=None, max_examples=100, database=None, derandomize=True)


def in_pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


def test_a_guard_passes_everything_on_and_checks_it_first():
    checked = []
    data = bytes(range(256)) * 5000
    guard = Guard(io.BytesIO(data), Path("x"), checked.append)
    assert guard.read() == data
    assert b"".join(checked) == data
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
    check = TurtleCheck()
    assert check(text.encode()) is None
    memory = check._memory
    assert (memory[turtle_guard._DEEPEST], memory[turtle_guard._LONGEST]) == (depth, iri)


@often
@given(st.text("<>\"'#\\[](){} a\n", max_size=60), st.lists(st.integers(0, 7), max_size=12))
def test_turtle_may_come_in_any_pieces(text, sizes):
    whole, parts = TurtleCheck(), TurtleCheck()
    whole(text.encode())
    for piece in in_pieces(text.encode(), sizes):
        parts(piece)
    # How long an IRI is that has not ended yet is all that may be noticed at different times.
    assert whole._memory[:6].tolist() == parts._memory[:6].tolist()


def test_turtle_at_the_limits():
    depth = turtle_guard.MAX_DEPTH
    assert TurtleCheck()(b"[" * depth) is None
    assert TurtleCheck()(b"[" * (depth + 1)) == "nests more than 256 deep"
    assert TurtleCheck()(b"<" + b"a" * (MAX_NAME_BYTES - 1) + b">") is None
    check = TurtleCheck()
    assert check(b"<" + b"a" * MAX_NAME_BYTES) is None
    assert check(b"a") == "has an IRI longer than 32 KB"
