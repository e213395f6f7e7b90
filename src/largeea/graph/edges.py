"""`Edges`: the triples of a graph as directed edges in both directions, in CSR form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph.triples import functionality
from largeea.graph.types import Float32, Int32, Int64, frozen


@dataclass(frozen=True, eq=False)
class Edges:
    """Two edges for each triple, one from each end, sorted by node, relation, neighbour.

    The relation of an edge is `2 r` if the node is the head of the triple, `2 r + 1` if it is the tail.
    Flipping the lowest bit gives the relation of the reverse edge.
    """

    pointers: Int64
    """The edges of node x are `pointers[x] : pointers[x + 1]`, `[nodes + 1]`."""
    relation: Int32
    neighbour: Int32
    fan: Int32
    """Number of neighbours that the node has through the relation of this edge, `[edges]`."""
    inverse_functionality: Float32
    """Of each directed relation: distinct neighbours / edges; 1 if no two nodes share a neighbour,
    `[2 relations]`."""

    def __post_init__(self) -> None:
        for name, dtype in (("pointers", np.int64), ("inverse_functionality", np.float32)):
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        for name in ("relation", "neighbour", "fan"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32))

    @classmethod
    def of(cls, triples: Int32, nodes: int, relations: int) -> Edges:
        """Build the edges of a graph from its triples `[n, 3]`."""
        head, relation, tail = triples.T.astype(np.int64)
        node = np.concatenate([head, tail])
        directed = np.concatenate([2 * relation, 2 * relation + 1])
        neighbour = np.concatenate([tail, head])
        order = np.lexsort((neighbour, directed, node))
        node, directed, neighbour = node[order], directed[order], neighbour[order]
        _, group, size = np.unique(node * (2 * relations) + directed, return_inverse=True, return_counts=True)
        forward, inverse = functionality(triples, relations)
        inverse_functionality = np.column_stack([inverse, forward]).ravel()
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(node, minlength=nodes))]),
            directed.astype(np.int32),
            neighbour.astype(np.int32),
            size[group].astype(np.int32),
            inverse_functionality.astype(np.float32),
        )

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.pointers) - 1

    @property
    def node(self) -> Int32:
        """The node that each edge belongs to, `[edges]`."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.pointers))
