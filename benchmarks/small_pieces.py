"""How good answers and their confidence are where graphs have a few dozen entities only.

    python benchmarks/small_pieces.py ../shared/data/srprs_en_de ../shared/data/real_rdf/anatomy [--pieces 40]

Draws small connected pieces of a benchmark with known links, of 8 to 40 linked entities. `--drop` of them are
missing on each side, others than on the other side. All links of a piece are known, so every pair is judged.
DATA is a benchmark folder, or one with `source`, `target` and `reference` files.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

import largeea
from largeea.evaluation.measures import Reliability
from largeea.formats.links import read_links
from largeea.graph import Int32, KnowledgeGraph, Links, Pair
from largeea.graph.lookup import places_in

SIZES = 8, 40
FEWEST = 3
FOLLOWED = 5
"""Neighbours of an entity that a piece grows to."""


def read_pair(folder: Path) -> tuple[KnowledgeGraph, KnowledgeGraph, Int32]:
    """Both graphs, and the target of each source entity, -1 if it has none."""
    if files := [file for part in ("source", "target", "reference") for file in folder.glob(f"{part}.*")]:
        source, target = (largeea.read(file) for file in files[:2])
        assert isinstance(source, KnowledgeGraph)
        assert isinstance(target, KnowledgeGraph)
        table = read_links(files[2])
        ends = places_in(table.source, source.entities), places_in(table.target, target.entities)
        links = Links(np.column_stack(ends)[(ends[0] >= 0) & (ends[1] >= 0)])
    else:
        pair = largeea.read(folder)
        assert isinstance(pair, Pair)
        source, target, links = pair.source, pair.target, pair.links
    link = np.full(source.size, -1, np.int32)
    link[links.source] = links.target
    return source, target, link


def piece_of(graph: KnowledgeGraph, entities: Int32) -> KnowledgeGraph:
    """The graph of these entities, which ascend."""
    place = np.full(graph.size, -1, np.int32)
    place[entities] = np.arange(len(entities), dtype=np.int32)
    head, relation, tail = place[graph.triples[:, 0]], graph.triples[:, 1], place[graph.triples[:, 2]]
    inside = (head >= 0) & (tail >= 0)
    used, relation = np.unique(relation[inside], return_inverse=True)
    triples = np.unique(np.column_stack([head[inside], relation, tail[inside]]), axis=0).astype(np.int32)
    kept, relations = pa.array(entities), graph.relations.take(pa.array(used))
    return KnowledgeGraph(graph.entities.take(kept), graph.names.take(kept), relations, triples)


def grown(graph: KnowledgeGraph, link: Int32, random: np.random.Generator) -> Int32:
    """Linked entities that are connected: so many neighbours of each, breadth first."""
    ends = np.concatenate([graph.triples[:, [0, 2]], graph.triples[:, [2, 0]]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    start = int(random.choice(np.flatnonzero(link >= 0)))
    found, size = [start], random.integers(*SIZES)
    for entity in found:
        first, last = np.searchsorted(ends[:, 0], [entity, entity + 1])
        for other in random.permutation(ends[first:last, 1])[:FOLLOWED].tolist():
            if link[other] >= 0 and other not in found and len(found) < size:
                found.append(other)
    return np.array(sorted(found), np.int32)


def judge(folder: Path, count: int, drop: float, seed: int) -> str:
    """Precision, recall, F1 and ECE over so many pieces, as a row."""
    source, target, link = read_pair(folder)
    random, pieces = np.random.default_rng(seed), 0
    chances, right, accepted, truths = [np.empty(0)], [np.empty(0, bool)], [np.empty(0, bool)], 0
    while pieces < count:
        entities = grown(source, link, random)
        chance = random.random(len(entities))
        left, ours = entities[chance > drop], np.sort(link[entities[chance < 1 - drop]])
        if len(entities) < SIZES[0] or min(len(left), len(ours)) < FEWEST:
            continue
        one, other = piece_of(source, left), piece_of(target, ours)
        if not len(one.triples) or not len(other.triples):
            continue
        answer, pieces = largeea.align(one, other), pieces + 1
        truths += int(np.isin(link[left], ours).sum())
        chances.append(answer.confidence)
        right.append(link[left[answer.pairs[:, 0]]] == ours[answer.pairs[:, 1]])
        accepted.append(answer.accepted)
    chance, is_right, chosen = (np.concatenate(parts) for parts in (chances, right, accepted))
    hits = int((is_right & chosen).sum())
    f1 = 2 * hits / (chosen.sum() + truths)
    figures = hits / max(chosen.sum(), 1), hits / truths, f1, Reliability.of(chance, is_right).ece
    return " | ".join([folder.name, f"{count}", f"{truths}", *(f"{figure:.3f}" for figure in figures)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--pieces", type=int, default=40)
    parser.add_argument("--drop", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore", largeea.LargeEAWarning)
    print("| data | pieces | links | P | R | F1 | ECE |\n|---|---|---|---|---|---|---|")
    for folder in given.data:
        print(f"| {judge(folder, given.pieces, given.drop, given.seed)} |", flush=True)


if __name__ == "__main__":
    main()
