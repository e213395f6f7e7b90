"""`Adjacency`: an undirected graph without loops and multiple edges, in CSR form as METIS reads it.

Unlike `largeea.graph.edges.Edges` it has no relations and can take edges that are not triples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph import Bool, Int32, Int64, KnowledgeGraph


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Every edge from both ends: entry i runs from `rows[i]` to `columns[i]`, sorted by row and column."""

    size: int
    rows: Int64
    columns: Int64

    @classmethod
    def from_edges(cls, size: int, *edges: Int32) -> Adjacency:
        """From edge lists `[m, 2]` in any order and direction, without their loops and duplicates."""
        ends = np.concatenate(edges).astype(np.int64) if edges else np.empty((0, 2), np.int64)
        ends = ends[ends[:, 0] != ends[:, 1]]
        keys = np.concatenate([ends[:, 0] * size + ends[:, 1], ends[:, 1] * size + ends[:, 0]])
        keys.sort()
        keys = keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
        rows, columns = np.divmod(keys, max(size, 1))
        return cls(size, rows, columns)

    @property
    def indptr(self) -> Int64:
        """The entries of vertex v are `indptr[v] : indptr[v + 1]`, `[size + 1]`."""
        return np.concatenate([[0], np.cumsum(self.degrees())])

    def __len__(self) -> int:
        """Number of entries: twice the number of edges."""
        return len(self.rows)

    def degrees(self) -> Int64:
        """Number of neighbours of each vertex, `[size]`."""
        return np.bincount(self.rows, minlength=self.size)

    def keep(self, entries: Bool) -> Adjacency:
        """Only the entries in the mask, which must have both directions of an edge or none."""
        return Adjacency(self.size, self.rows[entries], self.columns[entries])

    def without_isolated(self) -> tuple[Adjacency, Bool]:
        """The graph of the vertices with edges, renumbered in order, and their mask, `[size]`."""
        connected = self.degrees() > 0
        if connected.all():
            return self, connected
        number = np.cumsum(connected) - 1
        return Adjacency(int(connected.sum()), number[self.rows], number[self.columns]), connected


def triple_ends(graph: KnowledgeGraph) -> Int32:
    """Head and tail of every triple, `[m, 2]`."""
    return graph.triples[:, [0, 2]]
