"""A graph as its entities see it: who is next to whom, by which relation, and how much that tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph import Float32, Int32, Int64


@dataclass(frozen=True, eq=False)
class Edges:
    """Every triple from both of its ends, sorted by node, relation, neighbour.

    The relation of an edge is `2 r` where the node is the head of the triple, `2 r + 1` where it is the tail;
    flipping the lowest bit looks along the edge from its other end.
    """

    pointers: Int64
    """The edges of node x are `pointers[x] : pointers[x + 1]`, `[nodes + 1]`."""
    relation: Int32
    neighbour: Int32
    fan: Int32
    """How many neighbours the node has by the relation of this edge, `[edges]`."""
    telling: Float32
    """By relation: how far a neighbour tells who the node is, 1 if no two nodes share one,
    `distinct (relation, neighbour) / edges`: the inverse functionality, `[2 relations]`."""

    @classmethod
    def of(cls, triples: Int32, nodes: int, relations: int) -> Edges:
        """The edges of a graph with so many nodes and relations."""
        head, relation, tail = triples.T.astype(np.int64)
        node = np.concatenate([head, tail])
        directed = np.concatenate([2 * relation, 2 * relation + 1])
        neighbour = np.concatenate([tail, head])
        order = np.lexsort((neighbour, directed, node))
        node, directed, neighbour = node[order], directed[order], neighbour[order]
        _, group, size = np.unique(node * (2 * relations) + directed, return_inverse=True, return_counts=True)
        edges = np.bincount(directed, minlength=2 * relations)
        distinct = np.bincount(
            np.unique(node * (2 * relations) + directed) % (2 * relations or 1), minlength=2 * relations
        )
        # (relation, neighbour) seen from here is (inverse relation, node) seen from there
        telling = distinct.reshape(-1, 2)[:, ::-1].ravel() / np.maximum(edges, 1)
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(node, minlength=nodes))]),
            directed.astype(np.int32),
            neighbour.astype(np.int32),
            size[group].astype(np.int32),
            telling.astype(np.float32),
        )

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.pointers) - 1

    @property
    def node(self) -> Int32:
        """The node that each edge belongs to, `[edges]`."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.pointers))
