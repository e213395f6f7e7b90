"""Looks at JSON-LD before pyoxigraph does: a small file with wild contexts costs it gigabytes, hours or all.

What is bounded, and what it would do otherwise: nesting (memory, crash), contexts in size and in each other
(memory grows with the square of both), terms defined by terms (a crash after some thousand), contexts met
again and again (each time all terms are copied), and long names beside many values (each statement has
a copy).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from largeea.formats import json_lexer as lexer
from largeea.formats.guard import MAX_NAME_BYTES, growth_allowed

MAX_DEPTH = 64
MAX_CONTEXT_BYTES = 1 << 18
"""All contexts that hold at one place; that of schema.org takes 200 KB."""
MAX_CONTEXT_NESTING = 8
MAX_CONTEXT_STRING = 2048
_IRI_KEYS = ("@id", "@reverse")
MAX_CHAIN = 4
"""So many terms may stand between a term and an IRI that is written out."""


@dataclass(frozen=True)
class _Context:
    """A context that holds: depth of the object it stands in, its size, and whether it has more in it.

    `bases` is the length of its base and vocabulary, as a relative one is added to what was there.
    """

    depth: int
    size: int
    scoped: bool
    bases: int
    definitions: tuple[tuple[str, str], ...]
    terms: frozenset[str]


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all its members, though several may have the same name."""


class JsonLdLook:
    """Follows the blocks of a JSON-LD text; says what is wrong with a block, if anything."""

    def __init__(self) -> None:
        self._memory, self._hashes = lexer.new_memory()
        self._identifiers = np.array([lexer.name_hash("@id")], np.uint64)
        self._contexts: list[_Context] = []
        self._text: bytearray | None = None
        self._seen = 0

    def __call__(self, block: bytes) -> str | None:
        """Why the block is refused, or None."""
        data, at, event = np.frombuffer(block, np.uint8), 0, -1
        self._seen += len(block)
        while event != lexer.END_OF_BLOCK:
            start = at
            event, at = lexer.follow(data, at, self._memory, self._hashes, self._identifiers)
            if reason := self._excess() or self._handle(event, block[start:at]):
                return reason
        return None

    def _handle(self, event: int, text: bytes) -> str | None:
        if self._text is not None:
            self._text += text
        if event == lexer.CONTEXT_BEGINS:
            self._text = bytearray()
        elif event == lexer.OWNER_ENDED and self._contexts:
            self._contexts.pop()
            self._remember()
        if self._text is None:
            return None
        if len(self._text) + sum(context.size for context in self._contexts) > MAX_CONTEXT_BYTES:
            return f"has a JSON-LD context of more than {MAX_CONTEXT_BYTES >> 10} KB"
        if event != lexer.CONTEXT_ENDED:
            return None
        text, self._text = bytes(self._text), None
        return self._enter(text)

    def _excess(self) -> str | None:
        """What of the lexer's figures is beyond all measure."""
        memory, allowed = self._memory, growth_allowed(self._seen)
        if memory[lexer.DEEPEST] > MAX_DEPTH:
            return f"nests more than {MAX_DEPTH} deep"
        if memory[lexer.LONGEST_NAME] > MAX_NAME_BYTES:
            return f"has a name longer than {MAX_NAME_BYTES >> 10} KB"
        if memory[lexer.REPEATED] > allowed:
            return "repeats names so long that its statements would take all memory"
        if memory[lexer.COST] > allowed:
            return "has large JSON-LD contexts that hold again and again"
        return None

    def _enter(self, text: bytes) -> str | None:
        """Weigh a context that has been read; it holds until the object it stands in ends."""
        try:
            value = json.loads(text, object_pairs_hook=_Pairs, strict=False, parse_int=str, parse_float=str)
        except ValueError:
            return "has a JSON-LD context that is no JSON"
        depth, nesting = int(self._memory[lexer.DEPTH]), _nesting(value)
        if self._contexts and self._contexts[-1].depth >= depth:
            return "gives an object more than one JSON-LD context"
        if nesting > MAX_CONTEXT_NESTING:
            return f"nests JSON-LD contexts more than {MAX_CONTEXT_NESTING} deep"
        strings = list(_strings(value))
        longest = max(map(len, strings), default=0)
        if longest > MAX_CONTEXT_STRING:
            return f"has a string longer than {MAX_CONTEXT_STRING} characters in a JSON-LD context"
        definitions = tuple(_definitions(value))
        terms = frozenset(term for term, _ in definitions)
        own_bases = sum(len(iri) for term, iri in definitions if term in ("@base", "@vocab"))
        self._contexts.append(_Context(depth, len(text), nesting > 0, own_bases, definitions, terms))
        self._remember()
        self._memory[lexer.COST] += sum(context.size for context in self._contexts)
        bases = sum(context.bases for context in self._contexts)
        expansion = longest * (1 + MAX_CHAIN) + bases
        self._memory[lexer.EXPANSION] = max(self._memory[lexer.EXPANSION], expansion)
        if bases > MAX_CHAIN * MAX_CONTEXT_STRING:
            return "sets the base or vocabulary of JSON-LD contexts over and over"
        aliases = [term for term, iri in definitions if iri == "@id"]
        if any(character > "\uffff" for alias in aliases for character in alias):
            return "calls @id by a name that can be written in several ways"
        hashes = np.array([lexer.name_hash(alias) for alias in aliases], np.uint64)
        self._identifiers = np.union1d(self._identifiers, hashes)
        if self._chained(definitions):
            return f"defines terms of a JSON-LD context by each other in chains of more than {MAX_CHAIN}"
        return None

    def _remember(self) -> None:
        """Tell the lexer when the innermost context ends, and what an object costs while it holds."""
        self._memory[lexer.OWNER_DEPTH] = self._contexts[-1].depth if self._contexts else 0
        scoped = any(context.scoped for context in self._contexts)
        self._memory[lexer.COST_PER_OBJECT] = sum(c.size for c in self._contexts) if scoped else 0

    def _chained(self, fresh: tuple[tuple[str, str], ...]) -> bool:
        """Whether terms that hold lead to each other over more than `MAX_CHAIN` steps, or in a circle."""
        if not any(True for definition in fresh for _ in self._steps(*definition)):
            return False
        everything = (definition for context in self._contexts for definition in context.definitions)
        steps = [step for definition in everything for step in self._steps(*definition)]
        for _ in range(MAX_CHAIN):
            starts = {term for term, _ in steps}
            steps = [(term, to) for term, to in steps if to in starts]
        return bool(steps)

    def _steps(self, term: str, iri: str) -> Iterator[tuple[str, str]]:
        """From a term to the others that have to be known first: what it is an alias of, and prefixes."""
        for other in {iri, _prefix(iri), _prefix(term)} - {term, ""}:
            if any(other in context.terms for context in self._contexts):
                yield term, other


def _prefix(iri: str) -> str:
    prefix, colon, rest = iri.partition(":")
    return prefix if colon and not rest.startswith("//") else ""


def _nesting(value: Any) -> int:
    """How many contexts are in each other, below this one."""
    if isinstance(value, _Pairs):
        return max((_nesting(inner) + (name == "@context") for name, inner in value), default=0)
    return max(map(_nesting, value), default=0) if isinstance(value, list) else 0


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, _Pairs):
        for name, inner in value:
            yield name
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _definitions(value: Any) -> Iterator[tuple[str, str]]:
    """Terms and what they stand for, of this context and of those in it."""
    if isinstance(value, _Pairs):
        for name, inner in value:
            if isinstance(inner, str):
                yield name, inner
            elif isinstance(inner, _Pairs):
                yield from ((name, iri) for key, iri in inner if key in _IRI_KEYS and isinstance(iri, str))
                yield name, name
                for key, scoped in inner:
                    yield from _definitions(scoped) if key == "@context" else ()
    elif isinstance(value, list):
        for inner in value:
            yield from _definitions(inner)
