from __future__ import annotations

from collections import Counter
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.graph import strings
from largeea.names.ngrams import tfidf

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
Names = list[str | None]
names = st.lists(st.none() | st.text("ab é漢\U0001f389", max_size=8), max_size=5)


def grams(name: str | None, shortest: int, longest: int) -> Counter[str]:
    """Substrings of each word with a space on either side."""
    found: Counter[str] = Counter()
    for word in filter(None, (name or "").split(" ")):
        padded = f" {word} "
        found.update(
            padded[start : start + size]
            for size in range(shortest, longest + 1)
            for start in range(len(padded) - size + 1)
            if padded[start : start + size].strip(" ")
        )
    return found


def slow_cosines(source: Names, target: Names, shortest: int, longest: int) -> np.ndarray:
    counts = [[grams(name, shortest, longest) for name in side] for side in (source, target)]
    everyone = counts[0] + counts[1]
    frequency = Counter(gram for name in everyone for gram in name)

    def vector(name: Counter[str]) -> dict[str, float]:
        weights = {
            gram: (1 + log(count)) * (1 + log((1 + len(everyone)) / (1 + frequency[gram])))
            for gram, count in name.items()
        }
        norm = sqrt(sum(weight**2 for weight in weights.values()))
        return {gram: weight / norm for gram, weight in weights.items()}

    left, right = [[vector(name) for name in side] for side in counts]
    cosines = np.zeros((len(source), len(target)))
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            cosines[i, j] = sum(weight * other.get(gram, 0) for gram, weight in one.items())
    return cosines


@often
@given(names, names, st.integers(1, 3), st.integers(0, 3))
def test_same_as_the_slow_way(source: Names, target: Names, shortest: int, more: int) -> None:
    longest = shortest + more
    left, right = tfidf(strings(source), strings(target), shortest, longest)
    assert left.shape[0] == len(source)
    assert right.shape[0] == len(target)
    assert (
        left.shape[1]
        == right.shape[1]
        == len({gram for name in source + target for gram in grams(name, shortest, longest)})
    )
    for side, vectors in ((source, left), (target, right)):
        assert np.diff(vectors.indptr).tolist() == [len(grams(name, shortest, longest)) for name in side]
        assert (vectors.data > 0).all()
    expected = slow_cosines(source, target, shortest, longest)
    np.testing.assert_allclose((left @ right.T).toarray(), expected, atol=1e-6)


def test_a_known_vector() -> None:
    """Of "aa b", 2-grams: " a", "aa", "a ", " b", "b "; the other name has the last two."""
    left, right = tfidf(strings(["aa b"]), strings(["b"]), 2, 2)
    rare, common = 1 + log(3 / 2), 1.0
    norm = sqrt(3 * rare**2 + 2 * common**2)
    assert sorted(left.data.tolist()) == pytest.approx(sorted([rare / norm] * 3 + [common / norm] * 2))
    assert right.data.tolist() == pytest.approx([1 / sqrt(2)] * 2)


def test_a_repeated_gram_counts_less_than_twice() -> None:
    left, _ = tfidf(strings(["aaa"]), strings(), 2, 2)
    assert left.data.max() / left.data.min() == pytest.approx(1 + log(2))


def test_a_gram_stays_within_its_word() -> None:
    left, right = tfidf(strings(["ab cd"]), strings(["b c"]), 3, 4)
    assert (left @ right.T).nnz == 0


def test_single_letters_count_if_asked_for() -> None:
    left, right = tfidf(strings(["ab"]), strings(["ba"]), 1, 1)
    assert (left @ right.T).toarray() == pytest.approx(np.array([[1.0]]))


@often
@given(st.lists(st.text("abc é漢", min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_identical_names_have_cosine_one(listed: list[str]) -> None:
    left, right = tfidf(strings(listed), strings(listed))
    assert (left @ right.T).toarray().diagonal() == pytest.approx(1, abs=1e-6)


@often
@given(names, names)
def test_the_order_of_names_does_not_matter(source: Names, target: Names) -> None:
    order = np.random.default_rng(len(source)).permutation(len(source))
    left, right = tfidf(strings(source), strings(target))
    shuffled, _ = tfidf(strings([source[i] for i in order]), strings(target))
    assert (shuffled != left[order]).nnz == 0
    assert right.shape[1] == shuffled.shape[1]


@pytest.mark.parametrize("listed", [[], [None], ["", None], [" ", "  "]])
def test_nothing_to_count(listed: Names) -> None:
    left, right = tfidf(strings(listed), strings(["abc"]))
    assert left.nnz == 0
    assert left.shape == (len(listed), right.shape[1])
    left, right = tfidf(strings(listed), strings(listed))
    assert left.shape == right.shape == (len(listed), 0)
