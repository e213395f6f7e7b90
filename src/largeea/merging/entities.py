"""Merged entities: what the links of a run join, and the IRI that each of them gets."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa

from largeea.graph import Int64, Links
from largeea.graph.lookup import are_in
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.matching.clusters import clusters_by_side
from largeea.merging.terms import Renaming, Terms

Canonical = Literal["source", "target"]
SIDES: tuple[Canonical, Canonical] = ("source", "target")


def is_within(alignment: Alignment) -> bool:
    """Whether the links are duplicates of one graph, which is both source and target."""
    return alignment.cardinality is Cardinality.WITHIN


def merged_entities(alignment: Alignment, links: Links) -> tuple[Int64, Int64]:
    """The merged entity that each entity of the source and of the target is; -1 if no link has it."""
    return clusters_by_side(links, alignment.source.size, alignment.target.size, is_within(alignment))


def renamed_terms(
    plain: tuple[Terms, Terms], alignment: Alignment, canonical: Canonical
) -> tuple[Terms, Terms]:
    """The terms of both graphs after renaming; where IRIs are global, both graphs may mention any.

    A merged entity gets the first IRI that the canonical graph has for it.
    """
    graphs = alignment.source, alignment.target
    merged = merged_entities(alignment, alignment.links)
    kept = SIDES.index(canonical)
    members = [np.flatnonzero(side >= 0) for side in merged]
    first = members[kept][np.unique(merged[kept][members[kept]], return_index=True)[1]]
    members[kept] = np.setdiff1d(members[kept], first, assume_unique=True)
    terms = plain[kept].nodes(graphs[kept].entities.take(pa.array(first)))
    ids = [graph.entities.take(pa.array(side)) for graph, side in zip(graphs, members, strict=True)]
    new = [terms.take(pa.array(of[side])) for of, side in zip(merged, members, strict=True)]
    if all(graph.global_ids for graph in graphs):
        other = pa.array(~are_in(ids[1], ids[0]))
        everywhere = Renaming(
            pa.concat_arrays([ids[0], ids[1].filter(other)]), pa.concat_arrays([new[0], new[1].filter(other)])
        )
        return plain[0].renamed(everywhere), plain[1].renamed(everywhere)
    return plain[0].renamed(Renaming(ids[0], new[0])), plain[1].renamed(Renaming(ids[1], new[1]))
