"""Hits@1 of structure alone: with self-training, with all links as anchors, and the upper limit.

    python benchmarks/structure_ceiling.py FOLDER [--train 0.2] [--seed 0]

Hits@1 is measured under the open protocol. Entities that have the same neighbours by the same relations are
indistinguishable, so ties are counted in three ways: by mean rank (our protocol: a tie is not a hit), by
chance (one of k is a hit), and as hits. "Given" uses all links as anchors, test links included, which no real
method can do.

"Limit" is an upper bound for every permutation-equivariant method that learns from seeds and triples alone.
Starting from the seeds, colour refinement gives two entities of a graph different colours if their
neighbourhoods differ at any distance. Every message-passing method gives entities of the same colour the same
scores, so they are ranked as ties or guessed by chance.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from largeea.config import Config
from largeea.evaluation import realistic_ranks
from largeea.evidence import SelfTraining, matched
from largeea.experiments.bench import split
from largeea.formats import read
from largeea.graph import Int32, Int64, KnowledgeGraph, Links, Pair, Task
from largeea.similarity import Similarity


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--train", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    pair = read(options.folder)
    assert isinstance(pair, Pair), f"{options.folder} is a single graph"
    seeds, test = split(pair.links, options.train, options.seed)
    task = Task(pair.source, pair.target, seeds)
    config = Config().evidence
    training = SelfTraining(task, None, config, options.seed)
    every = Links(pair.links.pairs, np.ones(len(pair.links), np.float32))
    print("| | ties are no hits | by chance | all won |\n|---|---|---|---|")
    for name, channels in (("found", training.run()), ("given", training.round(every, 0))):
        print(row(name, *hits(matched(task.shape, channels, config), test, seeds)), flush=True)
    print(row("limit", *limit(task, test), None))


def row(name: str, *shares: float | None) -> str:
    """One line of the table."""
    return f"| {name} | {' | '.join('–' if share is None else f'{share:.3f}' for share in shares)} |"


def hits(similarity: Similarity, test: Links, seeds: Links) -> tuple[float, float, float]:
    """Hits@1 of test links with ties counted as misses, by chance, and as hits."""
    free = np.ones(similarity.shape[1], bool)
    free[seeds.target] = False
    ranks = realistic_ranks(similarity, test, free)
    alone, beside = ranks == 1, ranks < np.inf
    best = similarity.restrict(targets=free).top_k_arrays(1)[1][test.source, 0]
    beside &= similarity.score_of(test) == best
    rivals = 2 * (ranks[beside] - 1)
    return alone.mean(), np.sum(1 / (1 + rivals)) / len(ranks), beside.mean()


def limit(task: Task, test: Links) -> tuple[float, float]:
    """Upper limits of Hits@1: with ties as misses, and by chance."""
    source = colours(task.source, task.seeds.source)[test.source]
    target = colours(task.target, task.seeds.target)[test.target]
    alike = np.bincount(target)[target]
    # sources of one colour have the same ranking of targets, so at most one has its counterpart first
    alone = len(np.unique(source[alike == 1]))
    # their best guess is among the targets of the colour that holds most of their counterparts
    both, at, links = np.unique(
        np.column_stack([source, target]), axis=0, return_index=True, return_counts=True
    )
    guessed = np.zeros(source.max() + 1)
    np.maximum.at(guessed, both[:, 0], links / alike[at])
    return alone / len(test), guessed.sum() / len(test)


def colours(graph: KnowledgeGraph, seeds: Int32) -> Int64:
    """Colours of entities, `[size]`, equal only for entities indistinguishable at any number of hops.

    A new colour is a hash of the old colour and the multiset of (relation, direction, neighbour's colour).
    """
    head, relation, tail = np.unique(graph.triples, axis=0).T
    here, there = np.concatenate([head, tail]), np.concatenate([tail, head])
    edge = np.concatenate([relation, relation + len(graph.relations)])
    random = np.random.default_rng(0)
    words = [
        random.integers(1, 1 << 63, size, np.uint64) | np.uint64(1)
        for size in (2 * len(graph.relations), graph.size)
    ]
    colour = np.zeros(graph.size, np.int64)
    colour[seeds] = 1 + np.arange(len(seeds))
    while True:
        seen = words[0][edge] * words[1][colour[there]]
        seen = (seen ^ seen >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
        bag = np.zeros(graph.size, np.uint64)
        np.add.at(bag, here, seen ^ seen >> np.uint64(32))
        both = np.column_stack([colour.astype(np.uint64), bag])
        finer = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        if finer.max() == colour.max():
            return colour
        colour = finer


if __name__ == "__main__":
    main()
