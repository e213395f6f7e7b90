"""The terms that a mistyped one may mean."""

from __future__ import annotations

from difflib import SequenceMatcher
from heapq import nlargest

from largeea.formats.prefixes import Curies, last_part
from largeea.graph import Strings

SHOWN = 5
_COMPARED = 2000


def nearest(wanted: str, known: Strings, curies: Curies) -> str:
    """The known terms most similar to a wanted one, as CURIEs where possible, for a message.

    The last parts of IRIs are compared; of many known terms, only the first.
    """
    terms = [curies.shorten(iri) for iri in known.slice(0, _COMPARED).to_pylist()]
    own = last_part(wanted).lower()

    def similarity(term: str) -> float:
        return SequenceMatcher(None, own, last_part(term).lower()).ratio()

    best = nlargest(SHOWN, terms, key=similarity)
    more = f", and {len(known) - len(best):,} more" if len(known) > len(best) else ""
    return ", ".join(best) + more
