"""Attributes that correspond although their values are only similar, such as spellings of a phone number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from largeea.evidence.attributes.correspondence import learn_partners
from largeea.evidence.attributes.facts import Facts
from largeea.evidence.attributes.values import Values, attribute_values
from largeea.finished import FinishedRun
from largeea.graph import Int32, Links
from largeea.graph.ranges import expand_ranges
from largeea.schema_mapping.model import CLOSE, Correspondence


def similar_attributes(run: FinishedRun, merged: Links, threshold: float) -> Iterator[Correspondence]:
    """Attributes whose agreement distinguishes the anchors of the last round from other pairs.

    Confidence is `1 - exp(-information)`: information is how much the agreement of the two attributes tells
    about a matching pair, in nats (Fellegi and Sunter's `log(m / u)` on average). Attributes of nodes that an
    entity owns have a path instead of an IRI and are left out.
    """
    if run.anchors is None or not all(len(graph.attributes) for graph in (run.source, run.target)):
        return
    columns = attribute_values(run.source, run.target)
    values = Values.of(columns)
    partners = learn_partners(values, run.anchors, run.fused, seed=0)
    left = np.repeat(np.arange(len(partners.pointers) - 1), np.diff(partners.pointers))
    confidence = 1 - np.exp(-partners.information)
    kept = confidence >= threshold
    left, right, confidence = left[kept], partners.partner[kept], confidence[kept]
    support = _support(values.source, merged.source)[left].multiply(
        _support(values.target, merged.target)[right]
    )
    names = columns["source"]["properties"], columns["target"]["properties"]
    rows = zip(left.tolist(), right.tolist(), confidence.tolist(), support.sum(axis=1).tolist(), strict=True)
    for ours, theirs, share, pairs in rows:
        source, target = names[0][ours].as_py(), names[1][theirs].as_py()
        if " " not in source + target:
            yield Correspondence("attribute", source, target, CLOSE, share, int(pairs))


def _support(facts: Facts, entities: Int32) -> sp.csr_array:
    """Which merged entities have each property: 1 or absent, `[properties, merged]`."""
    merged, place = expand_ranges(facts.pointers[entities], np.diff(facts.pointers)[entities])
    property = facts.property[place]
    shape = int(facts.property.max(initial=-1)) + 1, len(entities)
    return sp.csr_array((np.ones(len(merged), np.int64), (property, merged)), shape=shape)
