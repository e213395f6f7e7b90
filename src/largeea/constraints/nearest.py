"""The terms that a mistyped one may mean."""

from __future__ import annotations

from difflib import SequenceMatcher
from heapq import nlargest

from largeea.formats.prefixes import Curies
from largeea.graph import Strings

SHOWN = 5
_COMPARED = 2000


def nearest(wanted: str, known: Strings, curies: Curies) -> str:
    """The known terms most similar to a wanted one, as CURIEs where possible, for a message.

    The last parts of IRIs are compared; of many known terms, only the first.
    """
    terms = [curies.shorten(iri) for iri in known.slice(0, _COMPARED).to_pylist()]
    own = _last_part(wanted)
    best = nlargest(SHOWN, terms, key=lambda term: SequenceMatcher(None, own, _last_part(term)).ratio())
    more = f", and {len(known) - len(best):,} more" if len(known) > len(best) else ""
    return ", ".join(best) + more


def _last_part(term: str) -> str:
    bare = term.rstrip("#/:")
    return bare[max(map(bare.rfind, "#/:")) + 1 :].lower()
