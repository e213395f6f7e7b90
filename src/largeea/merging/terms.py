"""Identifiers, blank nodes and literals of one graph as N-Triples terms."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.links.text import C1_CONTROLS, escaped, joined, text_of
from largeea.graph import Int32, Strings, strings
from largeea.graph.interning import StringTable

_NO_IRI = [*range(0x21), *C1_CONTROLS, *map(ord, '<>"{}|^`\\')]


def _percent(code: int) -> str:
    return "".join(f"%{byte:02X}" for byte in chr(code).encode())


_PERCENT = {code: _percent(code) for code in _NO_IRI}
"""Characters that no IRI may hold, percent-encoded."""
_KEY_PERCENT = _PERCENT | {ord("%"): "%25"}
"""For keys, which are not percent-encoded yet."""
_ABSOLUTE = r"^[A-Za-z][A-Za-z0-9+.-]*:"
_NO_LABEL = r"[\x00-,/:-@\[-^`{-\x{9f}]"
"""ASCII and control characters that no label of a blank node may hold."""
_LABEL = {
    code: f"_{code:x}_"
    for code in (*range(0x80), *C1_CONTROLS)
    if not (chr(code).isalnum() or chr(code) in "-.")
}
"""Characters of such labels, escaped; so is the underscore, which begins an escape."""
_LITERAL = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"))
"""What a literal must escape; the backslash comes first."""
_CONTROL = {code: f"\\u{code:04X}" for code in (*range(0x20), *C1_CONTROLS) if chr(code) not in "\t\n\r"}
"""Control characters, which would reach the terminal of whoever looks at the file."""
_MAY_BE_CONTROL = np.isin(np.arange(256), [*range(0x20), 0x7F, 0xC2])
"""Bytes of which control characters are made in UTF-8."""
_LANGUAGE = re.compile(r"@[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*(--(ltr|rtl))?")


class Renaming:
    """Terms that replace identifiers: `known[n]`, all different, becomes `terms[n]`.

    The hash table holds the known identifiers. Others are added when they are looked up; at `_ROOM` others,
    the table is built anew, so that its memory is bounded by the known ones.
    """

    _ROOM = 1 << 18

    def __init__(self, known: Strings, terms: Strings) -> None:
        self._known, self._terms = known, terms
        self._table = StringTable()
        self._table.number_column(known)

    def __len__(self) -> int:
        return len(self._known)

    def apply(self, ids: Strings, terms: Strings) -> Strings:
        """`terms[n]` of `ids[n]`, with the terms of known ids replaced."""
        if not len(self):
            return terms
        if len(self._table) > len(self) + self._ROOM:
            self._table = StringTable()
            self._table.number_column(self._known)
        places = self._table.number_column(ids)
        unknown = places >= len(self)
        if unknown.all():
            return terms
        replaced = self._terms.take(pa.array(places, mask=unknown))
        return pc.coalesce(replaced, terms)


class Terms:
    """The identifiers of one graph as N-Triples terms.

    An id that is not an absolute IRI, such as the key of a table, is appended to `base`. `blank` begins the
    labels of blank nodes, so that those of two graphs differ.
    """

    def __init__(self, base: str, blank: str, renaming: Renaming | None = None) -> None:
        self.base, self._blank = base, blank
        self._renaming = renaming

    def renamed(self, renaming: Renaming) -> Terms:
        """The same terms with some ids replaced."""
        return Terms(self.base, self._blank, renaming)

    def nodes(self, ids: Strings) -> Strings:
        """Subjects and objects: `<IRI>` or `_:label`, `[n]`."""
        terms = self.iris(ids)
        blank = pc.starts_with(ids, "_:")
        if not blank.true_count:
            return terms
        labels = pc.utf8_slice_codeunits(ids.filter(blank), 2)
        malformed = pc.match_substring_regex(labels, _NO_LABEL)
        if malformed.true_count:  # no other label begins with a hyphen
            labels = pc.if_else(malformed, joined("-", escaped(labels, _LABEL)), labels)
        return pc.replace_with_mask(terms, blank, joined(f"_:{self._blank}", labels))

    def iris(self, ids: Strings) -> Strings:
        """Predicates and datatypes: `<IRI>`, `[n]`."""
        absolute = pc.match_substring_regex(ids, _ABSOLUTE)
        if absolute.false_count:
            ids_as_iris = pc.if_else(absolute, ids, joined(self.base, escaped(ids, _KEY_PERCENT)))
        else:
            ids_as_iris = ids
        terms = joined("<", escaped(ids_as_iris, _PERCENT), ">")
        return terms if self._renaming is None else self._renaming.apply(ids, terms)

    def tags(self, tags: Strings) -> tuple[Strings, Int32]:
        """What follows the quoted text of a literal, and the positions of malformed languages.

        A tag is empty, `@language` or a datatype. A malformed language is left out.
        """
        datatypes = self.iris(tags).to_pylist()
        texts, malformed = [], []
        for place, (tag, datatype) in enumerate(zip(tags.to_pylist(), datatypes, strict=True)):
            if tag.startswith("@") and not _LANGUAGE.fullmatch(tag):
                malformed.append(place)
                texts.append("")
            else:
                texts.append(tag if tag.startswith("@") or not tag else f"^^{datatype}")
        return strings(texts), np.array(malformed, np.int32)


def quoted(values: Strings) -> Strings:
    """Literal values in quotes, escaped as N-Triples requires, `[n]`."""
    content = np.frombuffer(text_of(values), np.uint8)
    for character, written in _LITERAL:
        if (content == ord(character)).any():
            values = pc.replace_substring(values, character, written)
    if _MAY_BE_CONTROL[content].any():
        values = escaped(values, _CONTROL)
    return joined('"', values, '"')
