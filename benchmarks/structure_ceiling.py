"""How much structure alone can tell: Hits@1 with what self-training finds, and with every counterpart given.

    python benchmarks/structure_ceiling.py FOLDER [--train 0.2] [--seed 0]

Entities that have the same neighbours by the same relations cannot be told apart. Ties are therefore shown in
three ways: the mean rank (our protocol: a tie is no hit), by chance (one of k is a hit), and as if every tie
were won. "Given" uses all links as anchors, test links included: no method that has to find them sees that.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from largeea.config import Config
from largeea.evaluate import realistic_ranks
from largeea.evidence import SelfTraining, matched
from largeea.experiments.bench import split
from largeea.formats import read
from largeea.graph import Links, Pair, Task
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
    print("| anchors | ties are no hits | by chance | all won |\n|---|---|---|---|")
    for name, channels in (("found", training.run()), ("given", training.round(every, 0))):
        print(row(name, matched(task.shape, channels, config), test, seeds), flush=True)


def row(name: str, similarity: Similarity, test: Links, seeds: Links) -> str:
    """One line of the table; open protocol."""
    free = np.ones(similarity.shape[1], bool)
    free[seeds.target] = False
    ranks = realistic_ranks(similarity, test, free)
    best = np.isfinite(ranks) & (better(similarity.restrict(targets=free), test) == 0)
    rivals = 2 * (ranks[best] - 1)
    by_chance = np.sum(1 / (1 + rivals)) / len(ranks)
    return f"| {name} | {(ranks == 1).mean():.3f} | {by_chance:.3f} | {best.mean():.3f} |"


def better(similarity: Similarity, test: Links) -> np.ndarray:
    """How many candidates of each test source score above its true target, `[n]`."""
    true = similarity.score_of(test)
    wanted = np.full(similarity.shape[0], np.inf, np.float32)
    wanted[test.source] = true
    above = np.bincount(similarity.rows, similarity.scores > wanted[similarity.rows], similarity.shape[0])
    return above[test.source]


if __name__ == "__main__":
    main()
