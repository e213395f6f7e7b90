"""Which pairs to review next: doubtful ones, and first those that tell something new.

An answer about "thoracic vertebra 3" and "T3 Vertebra" also tells about the other thoracic vertebrae. These
come later: when the run is resumed, it may not doubt them any more.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix

from largeea.graph import Float64, Int64, KnowledgeGraph, Links
from largeea.matching.alignment import Alignment
from largeea.matching.lessons import PRECISIONS
from largeea.names.cutting import Words
from largeea.names.differences import Differences, MainWords
from largeea.names.labels import latinised

MOST_QUESTIONS = 200
"""Pairs that are chosen for what they tell; the others follow, the most doubtful ones first."""
MOST_CANDIDATES = 1000
"""Most doubtful pairs that these are chosen from."""
MOST_REVIEWED = 2000
"""Reviewed pairs that are taken into account."""
EVEN = 0.25
"""Variance of an answer that is as likely yes as no."""


def questions_first(answer: Alignment, reviewed: Links) -> Int64:
    """Positions of all pairs of an answer, in the order in which to review them, `[pairs]`.

    `reviewed` are the pairs whose reviews the answer makes use of.
    """
    chances, open_pairs = answer.confidence.astype(np.float64), ~answer.given
    threshold = float(chances[answer.accepted & open_pairs].min(initial=1.0))
    worth = worth_of_answer(chances, threshold)
    by_doubt = np.argsort(-worth, kind="stable")
    some = by_doubt[open_pairs[by_doubt]][:MOST_CANDIDATES]
    pairs = np.concatenate([answer.pairs[some], reviewed.pairs[:MOST_REVIEWED]])
    features = differences_of(answer.source, answer.target, Links(pairs)).features
    chosen = some[most_telling(worth[some], features, MOST_QUESTIONS)]
    return np.concatenate([chosen, by_doubt[~np.isin(by_doubt, chosen)]])


def worth_of_answer(chances: Float64, threshold: float) -> Float64:
    """How much better the decision about each pair is on average once it is known to be right or wrong.

    It is highest at the threshold, and 0 for pairs that are surely right or surely wrong.
    """
    return np.minimum(chances * (1 - threshold), threshold * (1 - chances))


def most_telling(worth: Float64, features: csr_matrix, most: int) -> Int64:
    """Return the positions of up to `most` pairs, the best question first.

    `worth[n]` is that of each answer by itself; `features[n + m, features]` are those of the pairs, then
    those of `m` pairs that were reviewed before. Each feature is taken to shift the log odds of its pairs by
    an unknown amount with a normal prior, as in `learn_shifts`. Every answer tells something about the shifts
    of its features. The next question is the one of highest worth times the share of the variance of its
    shift that is left after the answers to all questions before.
    """
    count = len(worth)
    covariance = (features @ features.T).toarray() / PRECISIONS[0]
    before = covariance.diagonal()[:count].copy()
    answered = covariance[count:, count:] + np.eye(len(covariance) - count) / EVEN
    covariance = covariance[:count, :count] - covariance[:count, count:] @ np.linalg.solve(
        answered, covariance[count:, :count]
    )
    chosen = np.empty(min(most, count), np.int64)
    is_open = np.ones(count, bool)
    for number in range(len(chosen)):
        left = np.divide(covariance.diagonal(), before, out=np.ones(count), where=before > 0)
        best = int(np.argmax(np.where(is_open, worth * left, -1.0)))
        chosen[number], is_open[best] = best, False
        told = covariance[best] / np.sqrt(covariance[best, best] + 1 / EVEN)
        covariance -= np.outer(told, told)
    return chosen


def differences_of(source: KnowledgeGraph, target: KnowledgeGraph, links: Links) -> Differences:
    """In what the names of some pairs differ, as they are written."""
    sides = (source, links.source), (target, links.target)
    names = pa.concat_arrays([latinised(graph.names.take(pa.array(ids))) for graph, ids in sides])
    words, places = Words.cut(names), np.arange(len(links), dtype=np.int32)
    return Differences.of(np.column_stack([places, places]), MainWords(words.pointer, words.ids, len(links)))
