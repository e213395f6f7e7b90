"""What label propagation starts from: two graphs, the labels of their anchors, and random numbers.

Every anchor has a random label of ±1, the same on both sides. All sums of labels are therefore whole numbers,
which are exact in any order: devices and threads give the same relations the same vectors. A label depends on
the IRI of its entity and on the seed alone, so that another version of a graph, with other anchors, gets
almost the same sketches: what is left of their random error hardly differs between versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from largeea.evidence.anchors import Anchors
from largeea.graph import Float32, Int32, UInt64
from largeea.graph.edges import Edges
from largeea.similarity import Similarity

HOPS = 3
LABEL_WIDTH = 64
HEAD_WIDTH = 16
"""Dimensions of a sketch that see relations in the same mixture."""
REACHED_WEIGHT = 0.2
"""Weight of what reached an entity by hops, beside its sketch."""
REACHED_LENGTH = float(np.float32(np.sqrt(REACHED_WEIGHT / (1 - REACHED_WEIGHT))))
"""Its length, if that of the sketch is 1."""
HUB_DISCOUNT = 0.25
"""A neighbour with d neighbours of its own counts `d ** -HUB_DISCOUNT`."""
LEVELS = 127
"""Vectors are rounded to whole numbers from `-LEVELS` to `LEVELS` and a scale of their own. The error of a
cosine is below 0.001, that of a sketch itself about 0.05."""

LABEL_LEVEL = 32
"""The whole number that stands for a label's 1 in what nodes know. Numbers of up to `LEVELS` reach four times
the mean length of a dimension; what is beyond is cut off."""
POOL = 4
"""Candidates that the first sketch finds for every one that more sketches keep."""
FIRST_SKETCHES = 2
"""Sketches by which all pairs are scored; the rest score the most promising ones only."""
SCORED_BY_ALL = 24
"""Candidates of a source that are scored by all sketches: those that the first ones score highest. With 16,
F1 on a synthetic twin of DBP1M falls by 0.002; with 24 it is that of scoring all."""

LEAST_LEFT = 1e-3
"""Share of a vector's squared length below which what is left without the node's own label is rounding."""


@dataclass(frozen=True, eq=False)
class Side:
    """One of both graphs, with its labelled nodes."""

    edges: Edges
    labelled: Int32
    """The nodes that have labels, in the order of the labels."""
    agreeing: sp.csr_array
    """Vectors of relations whose inner products tell how far they agree."""

    @cached_property
    def counts(self) -> Float32:
        """What each node counts for its neighbours, `[nodes]`."""
        degree = np.maximum(np.diff(self.edges.pointers), 1).astype(np.float32)
        counts: Float32 = degree ** np.float32(-HUB_DISCOUNT)
        return counts

    @cached_property
    def label_of(self) -> Int32:
        """The label of each node, -1 if it has none, `[nodes]`."""
        label = np.full(self.edges.nodes, -1, np.int32)
        label[self.labelled] = np.arange(len(self.labelled), dtype=np.int32)
        return label


@dataclass(frozen=True, eq=False)
class LabelledGraphs:
    """Two graphs whose anchors have labels, and the random numbers of every sketch."""

    sides: tuple[Side, Side]
    label_width: int
    seed: int
    keys: UInt64
    """The number that the label of each labelled node is drawn by, `[labels]`."""

    @classmethod
    def of(
        cls,
        source: Edges,
        target: Edges,
        anchors: Anchors,
        agreement: Similarity,
        label_width: int = LABEL_WIDTH,
        seed: int = 0,
        keys: UInt64 | None = None,
    ) -> LabelledGraphs:
        """From the edges and anchors of both graphs, and the agreement of their relations.

        Labels are drawn by the `keys` of source nodes or, without any, by the numbers of the nodes.
        """
        anchored = np.flatnonzero(anchors.target >= 0).astype(np.int32)
        agreeing = _agreeing(agreement.to_scipy())
        sides = (
            Side(source, anchored, agreeing[0]),
            Side(target, anchors.target[anchored], agreeing[1]),
        )
        key = anchored.astype(np.uint64) if keys is None else keys[anchored]
        return cls(sides, label_width, seed, key)

    @property
    def heads(self) -> int:
        """Mixtures of relations in a sketch."""
        return (HOPS + 1) * self.label_width // HEAD_WIDTH

    def random(self, number: int) -> tuple[UInt64, Float32, Float32]:
        """The random numbers of a sketch: labels, a bit for each sign, `[labels]`; the weights of agreeing
        relations, `[relations, heads]`; those of the labels at the ends of relations, `[2 width, heads]`."""
        random = np.random.default_rng((self.seed, number))
        bits = _mixed(self.keys ^ random.integers(0, 2**64, dtype=np.uint64))
        by_agreement, by_ends = (
            random.standard_normal((dimensions, self.heads), np.float32)
            for dimensions in (self.sides[0].agreeing.shape[1], 2 * self.label_width)
        )
        return bits, by_agreement, by_ends

    @property
    def shares_kept(self) -> Float32:
        """The share of a cosine that is left where neither, one or both of a pair lack a label, `[3]`.

        Without its label, a vector lacks one of `HEAD_WIDTH` dimensions. The ends of an anchor lack the same
        one: nothing is lost there.
        """
        return np.power(np.float32(1 - 1 / HEAD_WIDTH), np.arange(3, dtype=np.float32) / 2)


def _mixed(keys: UInt64) -> UInt64:
    """Random bits for each key, by the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _agreeing(agreement: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Vectors whose inner product tells how far two relations agree: a target's relation is itself."""
    squared = np.asarray(agreement.multiply(agreement).sum(axis=1)).ravel()
    scale = np.divide(1, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)
    source = sp.csr_array(sp.diags_array(scale.astype(np.float32)) @ agreement)
    return source, sp.csr_array(sp.eye_array(agreement.shape[1], dtype=np.float32))
