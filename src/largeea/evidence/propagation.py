"""Label propagation: labels of anchors spread along edges, so that like surroundings give like vectors."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from largeea.evidence.anchors import Anchors, not_in
from largeea.evidence.graphs import GraphPair
from largeea.evidence.labels import LabelledGraphs
from largeea.evidence.sketches import Sketches
from largeea.execution.devices import cuda_is_chosen
from largeea.graph import Arrays, Float32, Int32, Links
from largeea.matching.sums import top_k_of_sum
from largeea.progress import note
from largeea.similarity import Similarity


class Surroundings(Protocol):
    """Compares entities of two graphs by the sketches of their surroundings."""

    def cosines(self, candidates: Similarity, sketches: int) -> Float32:
        """Cosines of candidate pairs by so many sketches, `[entries]`, as if no label had been removed.

        In [0, 1], with 5 digits. All sketches score the `SCORED_BY_ALL` pairs of each source that the first
        `FIRST_SKETCHES` score highest; the others keep their first scores.
        """

    def nearest(self, nodes: tuple[Int32, Int32], k: int, sketches: int) -> tuple[Int32, Float32]:
        """The k most similar of the given targets for each of the given sources.

        The first sketch finds `POOL` times as many, of which so many sketches keep the best:
        `(targets[given sources, k], cosines[given sources, k])`, padded with -1 and 0.
        """


def find_candidates(
    edges: dict[str, Any],
    anchors: Links,
    agreement: Similarity,
    kinds: Arrays,
    near: Similarity | None,
    per_source: int,
    sketches: int,
    label_width: int,
    seed: int,
) -> Similarity:
    """New candidates of entities that need some: those of their kind with the most similar surroundings.

    A source needs some if it is no anchor yet. If `near` is given, sources that share anchored neighbours
    with `per_source` targets or more have enough: these, and the ones with similar names.
    """
    graphs = GraphPair.of(edges)
    made = surroundings_of(graphs, anchors, agreement, label_width, seed)
    free = not_in(anchors, graphs.shape)
    if near is not None:
        free[0][:] &= np.diff(near.indptr) < per_source
    ids = np.full((graphs.shape[0], per_source), -1, np.int32)
    cosines = np.zeros(ids.shape, np.float32)
    for kind in np.intersect1d(kinds["source"], kinds["target"]):
        sources, targets = (
            np.flatnonzero(side & (kinds[name] == kind)).astype(np.int32)
            for name, side in zip(("source", "target"), free, strict=True)
        )
        if kind >= 0 and len(sources) and len(targets):
            ids[sources], cosines[sources] = made.nearest((sources, targets), per_source, sketches)
    return Similarity.from_top_k(ids, cosines, graphs.shape[1])


def surroundings_evidence(
    edges: dict[str, Any],
    anchors: Links,
    agreement: Similarity,
    candidates: list[Similarity],
    top_k: int,
    sketches: int,
    label_width: int,
    seed: int,
) -> Similarity:
    """How alike the surroundings of candidate pairs are: the cosines of their vectors.

    The candidates are those of all given matrices, the `top_k` of each source with the highest sum.
    """
    graphs = GraphPair.of(edges)
    pairs = top_k_of_sum(candidates, top_k)
    made = surroundings_of(graphs, anchors, agreement, label_width, seed)
    return Similarity(pairs.shape, pairs.indptr, pairs.indices, made.cosines(pairs, sketches))


def surroundings_of(
    graphs: GraphPair, anchors: Links, agreement: Similarity, label_width: int, seed: int
) -> Surroundings:
    """The sketches of both graphs, on the GPU where one is chosen and has the memory."""
    known = Anchors.of(anchors, *graphs.shape, graphs.values)
    labelled = LabelledGraphs.of(
        graphs.source, graphs.target, known, agreement, label_width, seed, graphs.keys
    )
    if cuda_is_chosen():
        from largeea.evidence import cuda

        if cuda.fits(graphs, label_width):
            return cuda.CudaSketches(labelled)
        note("the GPU has too little free memory for surroundings, so the CPU compares them")
    return Sketches(labelled)
