"""Memory that the stages of evidence need at their peak, in bytes, beside their inputs. For the planner."""

from __future__ import annotations

from largeea.evidence.propagation import HOPS, sketch_dimension

FLOAT = 4


def edges_memory(edges: int) -> int:
    """`evidence_edges`, for so many edges of the larger graph: sorting them takes ten numbers an edge."""
    return 96 * edges


def agreement_memory(edges: int) -> int:
    """`learn_agreement`, for so many edges of both graphs together."""
    return 24 * edges


def neighbours_memory(sources: int, targets: int, entries: int, top_k: int, threads: int) -> int:
    """`neighbour_evidence`: top-k arrays, the matrix made of them, and a score per target and thread."""
    return 8 * sources * top_k + 17 * entries + 8 * threads * targets


def candidates_memory(
    nodes: tuple[int, int], free: tuple[int, int], sketches: int, label_width: int, per_source: int
) -> int:
    """`find_candidates`: the vectors of all free entities, and one sketch while they are made."""
    known = max(nodes) * FLOAT * (HOPS + 1) * label_width
    vectors = sum(free) * FLOAT * sketches * sketch_dimension(label_width)
    one = max(free) * FLOAT * sketch_dimension(label_width)
    return vectors + max(known + one, 100 * free[0] * per_source)


def surroundings_memory(nodes: tuple[int, int], entries: int, label_width: int, memory_limit: int) -> int:
    """`surroundings_evidence`: one sketch of both graphs, vectors of all targets, scores of all pairs."""
    known = sum(nodes) * FLOAT * (HOPS + 1) * label_width
    vectors = nodes[1] * FLOAT * sketch_dimension(label_width)
    block = min(nodes[0] * FLOAT * sketch_dimension(label_width), memory_limit // 20)
    return known + vectors + block + 32 * entries
