"""Memory that the stages of evidence need at their peak, in bytes, beside their inputs. For the planner."""

from __future__ import annotations

from largeea.evidence.labels import HOPS, POOL
from largeea.evidence.sketches import sketch_dimension

FLOAT = 4


def edges_memory(edges: int) -> int:
    """`evidence_edges`, for so many edges of the larger graph: sorting them takes ten numbers an edge."""
    return 96 * edges


def agreement_memory(edges: int) -> int:
    """`learn_agreement`, for so many edges of both graphs together."""
    return 24 * edges


def neighbours_memory(sources: int, targets: int, entries: int, top_k: int, threads: int) -> int:
    """`neighbour_evidence`: top-k arrays, the matrix made of them, and two numbers per target and thread."""
    return 8 * sources * top_k + 17 * entries + 8 * threads * targets


def candidates_memory(
    nodes: tuple[int, int], free: tuple[int, int], label_width: int, per_source: int
) -> int:
    """`find_candidates`: vectors of all free entities by one sketch, then the pairs found and scored."""
    found = free[0] * POOL * per_source
    vectors = sum(free) * (FLOAT + 1) * sketch_dimension(label_width) + 8 * found
    scored = _known_memory(max(nodes), label_width) + sum(free) * sketch_dimension(label_width) + 28 * found
    return max(_known_memory(max(nodes), label_width) + vectors, scored)


def surroundings_memory(nodes: tuple[int, int], entries: int, label_width: int, memory_limit: int) -> int:
    """`surroundings_evidence`: one sketch of a graph, vectors of all targets, scores of all pairs."""
    vectors = nodes[1] * sketch_dimension(label_width)
    block = min(nodes[0] * sketch_dimension(label_width), memory_limit // 20)
    return _known_memory(max(nodes), label_width) + vectors + block + 40 * entries


def _known_memory(nodes: int, label_width: int) -> int:
    """What all nodes of a graph know, a byte for each dimension, and what they count."""
    return nodes * ((HOPS + 1) * label_width + 3 * FLOAT)
