"""Entities with equal IRIs are the same by definition; they are not matched with others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph.links import Links
from largeea.graph.types import Arrays, KnowledgeGraph

_ABSOLUTE = r"^[A-Za-z][A-Za-z0-9+.-]*:."
"""An IRI with a scheme; blank nodes (`_:b1`) have none."""


def equal_iris(source: KnowledgeGraph, target: KnowledgeGraph) -> Links:
    """Return the pairs of entities that have the same absolute IRI; none unless both have global ids."""
    if not (source.global_ids and target.global_ids and source.size and target.size):
        return Links.none()
    found = pc.index_in(source.entities, value_set=target.entities)
    ours = np.flatnonzero(np.asarray(pc.is_valid(found)))
    absolute = np.asarray(pc.match_substring_regex(source.entities.take(pa.array(ours)), _ABSOLUTE), bool)
    ours = ours[absolute]
    theirs = np.asarray(found.take(pa.array(ours)), np.int32)
    return Links(np.column_stack([ours.astype(np.int32), theirs]))


def matched_kinds(source: KnowledgeGraph, target: KnowledgeGraph, same: Links) -> Arrays:
    """Return the kinds of the entities to be matched, int8 `[size]` of each side by name.

    They are -1 for entities that are out of scope or in `same`, the pairs that are known to be the same.
    """
    kinds = {"source": source.kinds, "target": target.kinds}
    kinds["source"][same.source] = -1
    kinds["target"][same.target] = -1
    return dict(kinds)
