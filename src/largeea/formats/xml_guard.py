"""Checks XML before another parser: expat reads ahead of it and refuses what could do harm."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import IO
from xml.parsers import expat

from largeea.errors import InputError
from largeea.formats.guard import MAX_NAME_BYTES, Guard

MAX_ENTITY_CHARACTERS = 1024
MAX_DEPTH = 500
MAX_ATTRIBUTES = 256
"""Of one element: the parser compares each with every other."""
MAX_NAMESPACES = 1024
"""In scope at one place: the parser searches them one by one for every name."""
MAX_BYTES_BETWEEN_TAGS = 16 << 20
_CONTINUATIONS = bytes(range(0x80, 0xC0))
"""Bytes of UTF-8 that may come first in a block because a character began in the block before."""


class XmlGuard(Guard):
    """Passes an XML stream on, block by block, after expat has found nothing dangerous in the block.

    Flat internal entities, which ontologies use for namespaces, are allowed. Nested, parameter and external
    entities are refused, and so are attributes declared in a DOCTYPE and anything beyond the limits above.
    `prefixes` are those that the first element declares.
    """

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        super().__init__(stream, path, self._follow)
        self._namespaces = [0]
        self.prefixes: dict[str, str] = {}
        self._last_tag = 0
        self._expat = expat.ParserCreate("utf-8")
        self._expat.EntityDeclHandler = self._entity
        self._expat.AttlistDeclHandler = self._attributes
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.ExternalEntityRefHandler = self._external

    def _follow(self, block: bytes) -> None:
        if b"\0" in block:
            raise InputError("holds a zero byte, which is not allowed in XML", self._path)
        try:
            self._expat.Parse(block, not block)
        except expat.ExpatError as error:
            raise InputError(
                f"not well-formed XML: {why_not_well_formed(error, block)}", self._path, error.lineno
            ) from None
        if self.seen - self._last_tag > MAX_BYTES_BETWEEN_TAGS:
            raise self._refuse(f"has a text, tag or comment longer than {MAX_BYTES_BETWEEN_TAGS >> 20} MB")

    def _refuse(self, what: str) -> InputError:
        return InputError(f"{what}, which is refused for safety", self._path, self._expat.CurrentLineNumber)

    def _entity(self, name: str, parameter: bool, value: str | None, *external: object) -> None:
        if parameter or value is None:
            raise self._refuse(f"declares the external or parameter entity {name!r}")
        if "&" in value or len(value) > MAX_ENTITY_CHARACTERS:
            raise self._refuse(f"declares the nested or very long entity {name!r}")

    def _attributes(self, element: str, *_: object) -> None:
        raise self._refuse(f"declares attributes of {element!r} in its DOCTYPE")

    def _external(self, context: str, *_: object) -> int:
        raise self._refuse(f"refers to the external entity {context!r}")

    def _start(self, _: str, attributes: dict[str, str]) -> None:
        self._last_tag = self._expat.CurrentByteIndex
        namespaces = self._namespaces[-1]
        if len(attributes) > MAX_ATTRIBUTES:
            raise self._refuse(f"gives an element more than {MAX_ATTRIBUTES} attributes")
        for name, value in attributes.items():
            if name.startswith("xml"):
                namespaces += 1
                if len(value) > MAX_NAME_BYTES:
                    raise self._refuse(f"has a namespace or base longer than {MAX_NAME_BYTES >> 10} KB")
                if len(self._namespaces) == 1 and name.startswith("xmlns:"):
                    self.prefixes[name.removeprefix("xmlns:")] = value
        if namespaces > MAX_NAMESPACES:
            raise self._refuse(f"declares more than {MAX_NAMESPACES} namespaces at one place")
        if len(self._namespaces) > MAX_DEPTH:
            raise self._refuse(f"nests elements more than {MAX_DEPTH} deep")
        self._namespaces.append(namespaces)

    def _end(self, _: str) -> None:
        self._last_tag = self._expat.CurrentByteIndex
        self._namespaces.pop()


def why_not_well_formed(error: expat.ExpatError, block: bytes) -> str:
    """What expat says of a block of XML, and how to declare an encoding if the block is not UTF-8."""
    reason = expat.ErrorString(error.code)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block.lstrip(_CONTINUATIONS))
    except UnicodeDecodeError as wrong:
        return (
            f"{reason}; the byte 0x{wrong.object[wrong.start]:02x} is not UTF-8. If the file is in another "
            'encoding, declare it in the first line, like <?xml version="1.0" encoding="windows-1252"?>'
        )
    return reason
