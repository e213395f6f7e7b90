"""The accepted links of a finished run: from a source entity's name or identifier to its counterpart."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from largeea.matching.alignment import Alignment
from largeea.names.labels import latinised
from largeea.web.reconcile.lookup import SortedTexts


class Counterpart(NamedTuple):
    """An entity of the target graph, and the run's confidence in the link."""

    entity: int
    confidence: float


class RunLinks:
    """The counterparts of source entities.

    Example: `RunLinks(finished.alignment).find("http://example.org/a", None)`.
    """

    def __init__(self, alignment: Alignment) -> None:
        accepted = alignment.accepted
        source = pa.array(alignment.pairs[accepted, 0])
        self._target, self._confidence = alignment.pairs[accepted, 1], alignment.confidence[accepted]
        self._by_iri = SortedTexts.of(alignment.source.entities.take(source))
        self._by_name = SortedTexts.of(latinised(alignment.source.names.take(source)))

    def find(self, text: str, latin: str | None) -> Counterpart | None:
        """The counterpart of the source entity with this identifier, or the only one with this Latin name."""
        rows = self._by_iri.rows_of(text)
        if not len(rows) and latin:
            rows = self._by_name.rows_of(latin)
        if len(rows) != 1:
            return None
        return Counterpart(int(self._target[rows[0]]), float(self._confidence[rows[0]]))
