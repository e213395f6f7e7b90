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
        node, directed, neighbour = _sorted(node, directed, neighbour, nodes, 2 * relations)
        is_first = np.ones(len(node), bool)
        is_first[1:] = (node[1:] != node[:-1]) | (directed[1:] != directed[:-1])
        starts = np.append(np.flatnonzero(is_first), len(node))
        fan = np.repeat(np.diff(starts), np.diff(starts))
        forward, inverse = functionality(triples, relations)
        inverse_functionality = np.column_stack([inverse, forward]).ravel()
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(node, minlength=nodes))]),
            directed.astype(np.int32),
            neighbour.astype(np.int32),
            fan.astype(np.int32),
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


def _sorted(
    node: Int64, directed: Int64, neighbour: Int64, nodes: int, relations: int
) -> tuple[Int64, Int64, Int64]:
    """The edges by node, relation, neighbour; as one number each where that fits, which sorts faster."""
    if nodes * relations * nodes >= 1 << 62:
        order = np.lexsort((neighbour, directed, node))
        return node[order], directed[order], neighbour[order]
    numbers = np.sort((node * relations + directed) * nodes + neighbour)
    rest, neighbour = np.divmod(numbers, max(nodes, 1))
    node, directed = np.divmod(rest, max(relations, 1))
    return node, directed, neighbour
