"""Neighbour evidence: two nodes are alike as far as they have the same neighbours by the same relations."""

from __future__ import annotations

import numpy as np

from largeea.compiled import compiled, prange, thread_count
from largeea.evidence.anchors import Anchors
from largeea.evidence.edges import Edges
from largeea.graph import Float32, Int32, Int64
from largeea.similarity import Similarity
from largeea.sparse import sp

HUB = 1000
"""A neighbour that so many nodes share by one relation tells nothing about any of them."""


def neighbour_evidence(
    source: Edges, target: Edges, anchors: Anchors, agreement: sp.csr_array, entities: tuple[int, int], k: int
) -> Similarity:
    """How likely source and target entities are the same, given their anchored neighbours, `[entities]`.

    Each shared neighbour is a witness that fails with probability `1 - p A(r, r') min(f(r), f(r'))`: p the
    anchor's, A the agreement of the relations, f how telling they are. A pair is alike unless all its
    witnesses fail. Pairs without a witness are absent; each source keeps its k best. Linear in the edges.
    """
    ids, doubt = _witnesses(
        source.pointers, source.relation, source.neighbour, source.telling,
        target.pointers, target.relation, target.neighbour, target.fan, target.telling,
        anchors.target, anchors.trust,
        agreement.indptr.astype(np.int64), agreement.indices.astype(np.int32), agreement.data,
        entities[0], entities[1], k, thread_count(),
    )  # fmt: skip
    return Similarity.from_top_k(ids, 1 - np.exp(-doubt), entities[1])


@compiled(parallel=True)
def _witnesses(
    pointers: Int64, relation: Int32, neighbour: Int32, telling: Float32,
    pointers_t: Int64, relation_t: Int32, neighbour_t: Int32, fan_t: Int32, telling_t: Float32,
    anchor: Int32, trust: Float32,
    agreed: Int64, agreed_with: Int32, agreement: Float32,
    sources: int, targets: int, k: int, threads: int,
) -> tuple[Int32, Float32]:  # fmt: skip
    """Per source the k targets with the highest sum of `-log(1 - witness)`, best first, ties by id."""
    ids = np.full((sources, k), -1, np.int32)
    sums = np.zeros((sources, k), np.float32)
    for thread in prange(threads):
        total = np.zeros(targets, np.float32)
        reached = np.empty(targets, np.int32)
        same = np.zeros(len(telling_t), np.float32)
        for x in range(thread, sources, threads):
            count = 0
            for edge in range(pointers[x], pointers[x + 1]):
                y, r = neighbour[edge], relation[edge]
                counterpart = anchor[y]
                if counterpart < 0:
                    continue
                for i in range(agreed[r], agreed[r + 1]):
                    same[agreed_with[i]] = agreement[i]
                other = pointers_t[counterpart]
                while other < pointers_t[counterpart + 1]:
                    inverse = relation_t[other] ^ 1
                    strength = trust[y] * same[inverse] * min(telling[r], telling_t[inverse])
                    end = other + fan_t[other]
                    if strength > 0 and fan_t[other] <= HUB:
                        gain = -np.log(1 - min(strength, np.float32(0.99)))
                        for found in range(other, end):
                            candidate = neighbour_t[found]
                            if candidate < targets:
                                if total[candidate] == 0:
                                    reached[count] = candidate
                                    count += 1
                                total[candidate] += gain
                    other = end
                for i in range(agreed[r], agreed[r + 1]):
                    same[agreed_with[i]] = 0
            candidates = np.sort(reached[:count])
            order = np.argsort(-total[candidates], kind="mergesort")[:k]
            for rank in range(len(order)):
                ids[x, rank] = candidates[order[rank]]
                sums[x, rank] = total[candidates[order[rank]]]
            total[candidates] = 0
    return ids, sums
