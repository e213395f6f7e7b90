"""`Edges`: the triples of a graph as directed edges in both directions, in CSR form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph.arrays import Float32, Int32, Int64, frozen


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
        node, directed, neighbour = _sorted(triples, nodes, 2 * relations)
        is_first = np.ones(len(node), bool)
        is_first[1:] = (node[1:] != node[:-1]) | (directed[1:] != directed[:-1])
        starts = np.flatnonzero(is_first)
        sizes = np.diff(starts, append=len(node)).astype(np.int32)
        # The nodes that have a relation are as many as there are groups of edges with it.
        nodes_with = np.bincount(directed[starts], minlength=2 * relations)
        triples_with = np.maximum(np.bincount(triples[:, 1], minlength=relations), 1)
        share = nodes_with.reshape(relations, 2) / triples_with[:, None]
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(node, minlength=nodes))]),
            directed,
            neighbour,
            np.repeat(sizes, sizes),
            share[:, ::-1].ravel().astype(np.float32),
        )

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.pointers) - 1

    @property
    def node(self) -> Int32:
        """The node that each edge belongs to, `[edges]`."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.pointers))


def _sorted(triples: Int32, nodes: int, relations: int) -> tuple[Int32, Int32, Int32]:
    """Both edges of all triples by node, directed relation, neighbour, `[2 n]` each.

    An edge is packed into one number where that fits, which sorts faster.
    """
    head, relation, tail = triples.T
    ends = max(nodes - 1, 1).bit_length()
    kinds = max(relations - 1, 1).bit_length()
    if 2 * ends + kinds > 63:
        node, neighbour = np.concatenate([head, tail]), np.concatenate([tail, head])
        directed = np.concatenate([2 * relation, 2 * relation + 1])
        order = np.lexsort((neighbour, directed, node))
        return node[order], directed[order], neighbour[order]
    packed = np.zeros(2 * len(triples), np.int64)
    for backward, (node, neighbour) in enumerate(((head, tail), (tail, head))):
        part = packed[backward * len(triples) : (backward + 1) * len(triples)]
        for value, width in ((node, 0), (relation, kinds - 1), (backward, 1), (neighbour, ends)):
            part <<= width
            part |= value
    packed.sort()
    neighbour = (packed & ((1 << ends) - 1)).astype(np.int32)
    packed >>= ends
    directed = (packed & ((1 << kinds) - 1)).astype(np.int32)
    packed >>= kinds
    return packed.astype(np.int32), directed, neighbour
