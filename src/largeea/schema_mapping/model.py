"""A correspondence of two terms, and the predicate that states it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from largeea.formats.vocabularies import OWL, SKOS

EXACT, CLOSE = SKOS + "exactMatch", SKOS + "closeMatch"
BROAD, NARROW = SKOS + "broadMatch", SKOS + "narrowMatch"
RELATED, INVERSE = SKOS + "relatedMatch", OWL + "inverseOf"
ASYMMETRY = 1.5
"""One term is broader than the other if one share is more than this many times the other."""
EXACT_SHARE = 0.5
"""Two terms say the same if both shares are at least this high."""
Kind = Literal["relation", "attribute", "class"]


@dataclass(frozen=True)
class Correspondence:
    """A term of the source and the term of the target that corresponds to it.

    Both terms state `support` facts of the merged entities. Of the facts of the source term that the target
    states at all, `forward` is the share that it states by the target term; `backward` is the same share seen
    from the target. Without them, `support` counts merged entities that have both attributes, with similar
    values. `inverse` says that the target relation leads the other way round.
    """

    kind: Kind
    source: str
    target: str
    predicate: str
    confidence: float
    support: int
    forward: float | None = None
    backward: float | None = None
    inverse: bool = False


def predicate_of(forward: float, backward: float, inverse: bool) -> str:
    """The predicate that the two shares of `Correspondence` stand for.

    The target term is broader if it states nearly all facts of the source term, but the source term few of
    its facts: a high forward and a low backward share. SKOS has no word for a relation and the inverse of a
    broader one except `relatedMatch`.
    """
    lower, higher = sorted((forward, backward))
    if higher > ASYMMETRY * lower:
        return RELATED if inverse else BROAD if forward > backward else NARROW
    if lower >= EXACT_SHARE:
        return INVERSE if inverse else EXACT
    return RELATED if inverse else CLOSE
