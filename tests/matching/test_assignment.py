"""The exact one-to-one assignment against all there is, and against scipy where that is too much."""

from __future__ import annotations

import resource
import time
from functools import cache

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from largeea.graph import Links
from largeea.matching.assignment import exact_one_to_one
from largeea.matching.decision import greedy_one_to_one
from largeea.similarity import Similarity

often = settings(deadline=None, max_examples=200, database=None, derandomize=True)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compiling is not what is measured here."""
    exact_one_to_one(Similarity.empty((1, 1)))


@st.composite
def similarities(draw: st.DrawFn) -> Similarity:
    """Few levels, so that there are ties; negative scores too, and now and then a floor far below."""
    shape = draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    rows, columns = draw(hnp.arrays(bool, shape)).nonzero()
    level = st.integers(-2, 4).map(lambda n: n / 4) | st.floats(0, 1, width=32)
    scores = draw(hnp.arrays(np.float32, len(rows), elements=level))
    return Similarity.from_entries(rows, columns, scores, shape, draw(st.sampled_from([None, -3.0])))


def total(similarity: Similarity, links: Links) -> float:
    """By how much the scores of links are above the floor, together."""
    return float((similarity.score_of(links).astype(np.float64) - similarity.floor).sum())


def highest_total(similarity: Similarity) -> float:
    """By trying everything: each source stays alone or takes any of its targets that is still there."""

    @cache
    def of(source: int, taken: frozenset[int]) -> float:
        if source == similarity.shape[0]:
            return 0.0
        ways = [of(source + 1, taken)]
        for target, score in zip(*similarity.row(source), strict=True):
            if target not in taken:
                ways.append(float(score) - similarity.floor + of(source + 1, taken | {int(target)}))
        return max(ways)

    return of(0, frozenset())


def random_similarity(size: int, each: int, levels: int | None = None) -> Similarity:
    random = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(size), each), random.integers(0, size, size * each)
    scores = random.random(size * each) if levels is None else random.integers(1, levels, size * each)
    return Similarity.from_entries(rows, columns, scores, (size, size))


@often
@given(similarities())
def test_no_other_pairs_have_a_higher_total(similarity: Similarity) -> None:
    found = exact_one_to_one(similarity)
    assert total(similarity, found) == pytest.approx(highest_total(similarity), abs=1e-6)


@often
@given(similarities())
def test_pairs_are_one_to_one_and_kept_and_none_is_missing(similarity: Similarity) -> None:
    found = exact_one_to_one(similarity)
    kept = set(zip(similarity.rows.tolist(), similarity.indices.tolist(), strict=True))
    assert set(map(tuple, found.pairs.tolist())) <= kept
    sources, targets = set(found.source.tolist()), set(found.target.tolist())
    assert len(sources) == len(targets) == len(found)
    assert all(source in sources or target in targets for source, target in kept)
    assert found.source.tolist() == sorted(found.source)
    np.testing.assert_array_equal(found.weight, similarity.score_of(found))


@often
@given(similarities())
def test_it_never_falls_behind_greedy_and_comes_out_the_same_again(similarity: Similarity) -> None:
    found = exact_one_to_one(similarity)
    assert total(similarity, found) >= total(similarity, greedy_one_to_one(similarity)) - 1e-6
    np.testing.assert_array_equal(found.pairs, exact_one_to_one(similarity).pairs)


def test_a_chain_that_greedy_breaks() -> None:
    """The last source wants target 0 and nothing else; all others can move by one for next to nothing."""
    last = 20_000
    step = np.arange(last)
    rows, columns = np.concatenate([step, step, [last]]), np.concatenate([step, step + 1, [0]])
    scores = np.concatenate([np.full(last, 0.9), np.full(last, 0.9 - 1e-5), [1]])
    chain = Similarity.from_entries(rows, columns, scores, (last + 1, last + 1))
    assert exact_one_to_one(chain).pairs.tolist() == [*([i, i + 1] for i in range(last)), [last, 0]]
    assert 0 not in greedy_one_to_one(chain).source


def test_an_entity_stays_alone_where_that_is_better_for_all() -> None:
    similarity = Similarity.from_entries([0, 1, 1], [0, 0, 1], [0.5, 0.9, 0.3], (2, 2))
    assert exact_one_to_one(similarity).pairs.tolist() == [[1, 0]]


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (2, 2)])
def test_nothing_to_assign(shape: tuple[int, int]) -> None:
    found = exact_one_to_one(Similarity.empty(shape))
    assert found.pairs.shape == (0, 2)
    assert found.weight is not None
    assert len(found.weight) == 0


@pytest.mark.parametrize("levels", [None, 4])
def test_thousands_that_compete_with_each_other(levels: int | None) -> None:
    similarity = random_similarity(3000, 10, levels)
    dense = similarity.to_dense()
    expected = dense[linear_sum_assignment(dense, maximize=True)].sum(dtype=np.float64)
    started = time.perf_counter()
    assert total(similarity, exact_one_to_one(similarity)) == pytest.approx(expected, rel=1e-6)
    assert time.perf_counter() - started < 5


def test_memory_is_linear_in_the_entries() -> None:
    """A dense matrix of this size would take 10 GB."""
    similarity = random_similarity(50_000, 4)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(exact_one_to_one(similarity)) > 45_000
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown_mb < 100
