"""Compare synthetic twins with real data: the same figures for real pairs and for twins of their size.

    python benchmarks/synth_realism.py [--seed 0]
    python benchmarks/synth_realism.py --names dbp1m-en-fr 0.01 0.1 1 [--sample 2000]

Every row is one figure, every column a pair; figures of the two graphs are given as source / target. "Same
facts as another" counts entities that structure alone cannot distinguish. "Structure alone" is the Hits@1 of
propagating random vectors from 20 % of the links over three hops, test sources against test targets; it
measures how hard the structure is and is not a proposed method. "Edges" are distinct unordered pairs of
entities. Edge figures across the pair consider only entities with a counterpart: an edge of the source is
shared if the counterparts of its ends are neighbours in the target.

`--names` prints Hits@1 by n-grams of names alone, for a sample of sources against all targets of a twin at
each of the scales; a full run would take hours on a small machine.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from largeea.datasets.synth import TWINS, synthetic_pair
from largeea.evaluation import realistic_ranks
from largeea.experiments.bench import split
from largeea.formats import read
from largeea.graph import KnowledgeGraph, Links, Pair
from largeea.names.labels import latinised, normalised
from largeea.names.ngrams import tfidf
from largeea.search.sparse import sparse_top_k
from largeea.similarity import Similarity

DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
REAL = ("ids15k_en_de_v1", "srprs_en_de", "dbp15k_fr_en")
TWIN = (("ids15k-en-de", 1.0), ("ids15k-en-fr", 1.0), ("dbp1m-en-fr", 0.01))
DIMENSIONS, HOPS, SEEDS = 512, 3, 0.2


def adjacency(graph: KnowledgeGraph) -> sp.csr_array:
    """Undirected adjacency matrix without weights or self-loops, `[size, size]`."""
    head, tail = graph.triples[:, 0], graph.triples[:, 2]
    apart = head != tail
    ends = np.concatenate([head[apart], tail[apart]]), np.concatenate([tail[apart], head[apart]])
    matrix = sp.csr_array((np.ones(len(ends[0]), np.int64), ends), shape=(graph.size, graph.size))
    matrix.data[:] = 1
    return matrix


def graph_figures(graph: KnowledgeGraph) -> dict[str, float]:
    degrees = graph.degrees()
    figures: dict[str, float] = {"entities": graph.size, "triples": len(graph.triples)}
    figures["relations"] = len(graph.relations)
    figures["degree mean"] = degrees.mean()
    for share in (10, 50, 90, 99, 99.9, 100):
        figures[f"degree p{share:g}"] = np.percentile(degrees, share)
    for name, column in (("out-degree", 0), ("in-degree", 2)):
        counted = np.bincount(graph.triples[:, column], minlength=graph.size)
        figures[f"{name} zero"] = (counted == 0).mean()
        figures[f"{name} p99"] = np.percentile(counted, 99)
        figures[f"{name} max"] = counted.max()
    used = np.sort(np.bincount(graph.triples[:, 1]))[::-1]
    for top in (1, 10, 50):
        figures[f"relations top {top}"] = used[:top].sum() / used.sum()
    figures["functionality"] = functionality(graph.triples[:, [1, 0]])
    figures["inverse functionality"] = functionality(graph.triples[:, [1, 2]])
    figures["same facts as another"] = same_facts(graph)
    edges = adjacency(graph)
    figures["edges per triple"] = edges.nnz / 2 / len(graph.triples)
    wedges = (edges.sum(axis=1) * (edges.sum(axis=1) - 1)).sum()
    triangles = (edges @ edges).multiply(edges).sum()
    figures["transitivity"] = triangles / max(wedges, 1)
    _, component = sp.csgraph.connected_components(edges, directed=False)
    figures["largest component"] = np.bincount(component).max() / graph.size
    return figures


def functionality(pairs: npt.NDArray[np.int32]) -> float:
    """Number of distinct (relation, entity) pairs over triples; 1 if each occurs at most once."""
    return len(np.unique(pairs, axis=0)) / len(pairs)


def same_facts(graph: KnowledgeGraph) -> float:
    """Share of entities whose neighbours, by relation and direction, equal those of another entity."""
    head, relation, tail = graph.triples.T
    code = np.random.default_rng(0).integers(0, 2**63, (2, len(graph.relations), 1), np.int64)
    entity = np.random.default_rng(1).integers(0, 2**63, graph.size, np.int64) | 1
    signature = np.zeros(graph.size, np.int64)
    np.add.at(signature, head, code[0, relation, 0] * entity[tail])
    np.add.at(signature, tail, code[1, relation, 0] * entity[head])
    _, place, count = np.unique(signature, return_inverse=True, return_counts=True)
    return float((count[place] > 1).mean())


def structure_alone(pair: Pair) -> float:
    train, test = split(pair.links, SEEDS, 0)
    seeds = unit(np.random.default_rng(0).normal(size=(len(train), DIMENSIONS)).astype(np.float32))
    found = (
        spread(pair.source, train.source, seeds)[test.source],
        spread(pair.target, train.target, seeds)[test.target],
    )
    hits = 0.0
    for start in range(0, len(test), 1000):
        scores = found[0][start : start + 1000] @ found[1].T
        true = scores[np.arange(len(scores)), np.arange(start, start + len(scores))][:, None] - 1e-5
        hits += float(((scores >= true).sum(axis=1) == 1).sum())
    return hits / len(test)


def spread(
    graph: KnowledgeGraph, seeded: npt.NDArray[np.int32], vectors: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    ends = graph.triples[:, [0, 2]]
    both = np.concatenate([ends, ends[:, ::-1]])
    step = sp.csr_array((np.ones(len(both), np.float32), (both[:, 0], both[:, 1])), (graph.size, graph.size))
    hops = [np.zeros((graph.size, DIMENSIONS), np.float32)]
    hops[0][seeded] = vectors
    for _ in range(HOPS):
        hops.append(unit(step @ hops[-1]))
    return np.concatenate(hops[1:], axis=1)


def unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-8)


def pair_figures(pair: Pair) -> dict[str, float]:
    source, target = adjacency(pair.source), adjacency(pair.target)
    rows, columns = pair.links.source, pair.links.target
    one, other = source[rows][:, rows], target[columns][:, columns]
    common = one.multiply(other)
    degrees = one.sum(axis=1), other.sum(axis=1)
    figures = {
        "structure alone": structure_alone(pair),
        "linked": len(pair.links),
        "linked share, source": len(pair.links) / pair.source.size,
        "linked share, target": len(pair.links) / pair.target.size,
        "edges shared, of source": common.nnz / max(one.nnz, 1),
        "edges shared, of target": common.nnz / max(other.nnz, 1),
        "links without a shared edge": float((common.sum(axis=1) == 0).mean()),
        "shared edges per link": common.sum() / len(pair.links),
        "degree correlation (log)": float(np.corrcoef(*(np.log1p(d) for d in degrees))[0, 1]),
        "mean degree of linked / all, source": degree_ratio(pair.source, rows),
        "mean degree of linked / all, target": degree_ratio(pair.target, columns),
    }
    return figures | name_figures(pair)


def degree_ratio(graph: KnowledgeGraph, linked: npt.NDArray[np.int32]) -> float:
    degrees = graph.degrees()
    return float(degrees[linked].mean() / degrees.mean())


def name_figures(pair: Pair) -> dict[str, float]:
    left, right = normalised(pair.source.names), normalised(pair.target.names)
    ours, theirs = left.take(pair.links.source), right.take(pair.links.target)
    words = [
        (set(a.split()), set(b.split()))
        for a, b in zip(ours.to_pylist(), theirs.to_pylist(), strict=True)
        if a and b
    ]
    shared = np.array([len(a & b) / len(a | b) for a, b in words])
    named = left.drop_null()
    return {
        "names equal": float(np.mean(np.asarray(pc.fill_null(pc.equal(ours, theirs), False)))),
        "names share all words": float((shared == 1).mean()),
        "names share no word": float((shared == 0).mean()),
        "words per name": float(np.mean([len(a) for a, _ in words])),
        "letters per name": float(pc.mean(pc.utf8_length(named)).as_py()),
        "names used twice": 1 - len(named.unique()) / len(named),
    }


def names_alone(like: str, scale: float, sample: int, seed: int) -> str:
    pair = synthetic_pair(TWINS[like].scaled(scale), seed)
    links = pair.links.take(np.random.default_rng(seed).permutation(len(pair.links))[:sample])
    names = latinised(pair.source.names.take(pa.array(links.source))), latinised(pair.target.names)
    found, scores = sparse_top_k(*tfidf(*names), 50)
    ranks = realistic_ranks(
        Similarity.from_top_k(found, scores, pair.target.size),
        Links(np.column_stack([np.arange(len(links)), links.target])),
        np.ones(pair.target.size, bool),
    )
    hits = " | ".join(f"{(ranks <= k).mean():.3f}" for k in (1, 10, 50))
    return f"| {like} x {scale:g} | {pair.target.size:,} | {hits} |"


def columns_of(pair: Pair) -> dict[str, str]:
    sides = [graph_figures(graph) for graph in (pair.source, pair.target)]
    both = {key: f"{text(sides[0][key])} / {text(sides[1][key])}" for key in sides[0]}
    return both | {key: text(value) for key, value in pair_figures(pair).items()}


def text(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or (value > 1 and float(value).is_integer()) else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--names", nargs="+", metavar=("LIKE", "SCALE"))
    parser.add_argument("--sample", type=int, default=2000)
    arguments = parser.parse_args()
    if arguments.names:
        like, *scales = arguments.names
        print("| twin | targets | Hits@1 | Hits@10 | Hits@50 |\n|---|---|---|---|---|")
        for scale in scales:
            print(names_alone(like, float(scale), arguments.sample, arguments.seed), flush=True)
        return
    table = {name: columns_of(read(DATA / name)) for name in REAL if (DATA / name).is_dir()}
    for name, scale in TWIN:
        pair = synthetic_pair(TWINS[name].scaled(scale), arguments.seed)
        table[f"twin {name} x {scale:g}"] = columns_of(pair)
    print("| figure |" + "".join(f" {name} |" for name in table))
    print("|---|" + "---|" * len(table))
    for figure in next(iter(table.values())):
        print(f"| {figure} |" + "".join(f" {column[figure]} |" for column in table.values()))


if __name__ == "__main__":
    main()
