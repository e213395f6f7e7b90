"""pyoxigraph as a parser whose every complaint is a `SyntaxError`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import pyoxigraph as ox


def parsed(
    source: IO[bytes] | bytes, format: ox.RdfFormat, base_iri: str | None = None, lenient: bool = False
) -> Iterator[Any]:
    """What pyoxigraph makes of a text; its limit on the length of a value counts as a syntax error."""
    try:
        yield from ox.parse(source, format=format, base_iri=base_iri, lenient=lenient)
    except MemoryError as error:
        if "maximal size" not in str(error):
            raise
        raise SyntaxError("a single value takes more than 16 MB; is its end missing?") from None
