"""Looks at XML before another parser does, so that a hostile file cannot hurt: expat reads ahead of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO
from xml.parsers import expat

from largeea.errors import InputError

MAX_ENTITY_CHARACTERS = 1024
MAX_DEPTH = 500


class XmlGuard(io.RawIOBase):
    """Passes an XML stream on, block by block, once expat has found nothing dangerous in it.

    Flat internal entities, as ontologies use them for namespaces, are fine; nested, parameter and external
    entities are not, nor is nesting beyond `MAX_DEPTH`.
    """

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path, self._depth = stream, path, 0
        self._expat = expat.ParserCreate("utf-8")
        self._expat.EntityDeclHandler = self._entity
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.ExternalEntityRefHandler = self._external

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read, look, pass on."""
        data = self._stream.read(len(buffer))
        if b"\0" in data:
            raise InputError("holds a zero byte; RDF/XML is read as UTF-8 text only", self._path)
        try:
            self._expat.Parse(data, not data)
        except expat.ExpatError as error:
            raise InputError(
                f"not well-formed XML: {expat.ErrorString(error.code)}", self._path, error.lineno
            ) from None
        buffer[: len(data)] = data
        return len(data)

    def _refuse(self, what: str) -> InputError:
        return InputError(f"{what}, which is refused for safety", self._path, self._expat.CurrentLineNumber)

    def _entity(self, name: str, parameter: bool, value: str | None, *external: object) -> None:
        if parameter or value is None:
            raise self._refuse(f"declares the external or parameter entity {name!r}")
        if "&" in value or len(value) > MAX_ENTITY_CHARACTERS:
            raise self._refuse(f"declares the nested or very long entity {name!r}")

    def _external(self, context: str, *_: object) -> int:
        raise self._refuse(f"refers to the external entity {context!r}")

    def _start(self, *_: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._refuse(f"nests elements more than {MAX_DEPTH} deep")

    def _end(self, *_: object) -> None:
        self._depth -= 1
