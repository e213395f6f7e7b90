"""The labels of the entities of a benchmark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.datasets.dbp1m.resources import canonical
from largeea.datasets.dbp1m.stored import Kind, StoredDump, rows_of
from largeea.formats.distinct import unique_rows
from largeea.formats.vocabularies import LABEL
from largeea.graph import Attributes, Strings, strings
from largeea.graph.interning import StringTable
from largeea.graph.lookup import places_in

_LOOKED_UP_AT_ONCE = 1 << 19
"""Rows per batch; large, because every look-up first indexes all entities."""


def labels_of(entities: Strings, dumps: list[StoredDump], language: str) -> Attributes:
    """The labels of these entities, for any spelling of their IRIs in the dumps.

    Labels of pages that redirect to an entity are ignored: at best they are synonyms.
    """
    keys, texts = canonical(entities), StringTable()
    found = [np.empty((0, 2), np.int32)]
    for subject, _, text in rows_of(dumps, Kind.LABEL, _LOOKED_UP_AT_ONCE):
        entity = places_in(canonical(subject), keys)
        ours = entity >= 0
        found.append(np.column_stack([entity[ours], texts.number_column(text.filter(pa.array(ours)))]))
    rows = np.concatenate(found)
    if not len(rows):
        return Attributes.none()
    values = texts.strings()
    order = np.asarray(pc.sort_indices(values))
    rows[:, 1] = np.argsort(order)[rows[:, 1]]
    rows = unique_rows(rows)
    zeros = np.zeros(len(rows), np.int32)
    attributes = np.column_stack([rows[:, 0], zeros, rows[:, 1], zeros])
    return Attributes(attributes, strings([LABEL]), values.take(pa.array(order)), strings([f"@{language}"]))
