from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pyarrow.csv as arrow_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from largeea import progress
from largeea.errors import UsageError
from largeea.execution import Execution, executing
from largeea.graph import strings
from largeea.names.strings import string_similarity
from largeea.names.strings.levenshtein import CODE_POINTS, levenshtein
from largeea.names.strings.shingles import NameSets
from largeea.names.strings.spelling import LONGEST

EXHAUSTIVE = {"permutations": 64, "recall": 1 - 1e-9, "max_candidates": None, "max_bucket": 1 << 30}


def shingle_set(name: str | None, shingle: int | str) -> set[str]:
    if not name:
        return set()
    if shingle == "words":
        return set(name.split())
    return {name[i : i + shingle] for i in range(max(len(name) - shingle + 1, 1))}


def jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a & b else 0.0


def brute_force(source: list, target: list, theta: float = 0.5, shingle: int | str = 3) -> np.ndarray:
    scores = np.zeros((len(source), len(target)), np.float32)
    theirs = [shingle_set(name, shingle) for name in target]
    for s, name in enumerate(source):
        ours = shingle_set(name, shingle)
        for t, other in enumerate(target):
            if jaccard(ours, theirs[t]) >= theta:
                scores[s, t] = Levenshtein.normalized_similarity(name, other)
    return scores


def entries(source: list, target: list, **options) -> dict[tuple[int, int], float]:
    found = string_similarity(strings(source), strings(target), **options)
    return dict(
        zip(zip(found.rows.tolist(), found.indices.tolist(), strict=True), found.scores.tolist(), strict=True)
    )


def misspelt(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Names of three random words, and the same with a letter changed here and there."""
    random = np.random.default_rng(seed)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = ["".join(random.choice(letters, random.integers(3, 9))) for _ in range(count // 4)]
    source = [" ".join(random.choice(words, 3)) for _ in range(count)]
    target = []
    for name in source:
        changed = list(name)
        for at in random.choice(len(changed), 2):
            changed[at] = random.choice(letters)
        target.append("".join(changed))
    return source, target


names_lists = st.lists(st.none() | st.text("ab c", max_size=9), max_size=12)


@given(
    names_lists, names_lists, st.sampled_from([0.3, 0.5, 0.7, 1.0]), st.sampled_from([1, 2, 3, 5, "words"])
)
@settings(max_examples=150, deadline=None)
def test_equals_brute_force_when_every_pair_is_looked_at(source, target, theta, shingle):
    found = string_similarity(strings(source), strings(target), theta=theta, shingle=shingle, **EXHAUSTIVE)
    np.testing.assert_array_equal(found.to_dense(), brute_force(source, target, theta, shingle))


alike = st.lists(
    st.sampled_from([f"{start}aaaa{end}" for start in ("", "b") for end in ("", "a", "b", "bb")])
)


@given(alike, alike, st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_keeps_the_best_of_each_source_ties_by_id(source, target, most):
    everything = string_similarity(strings(source), strings(target), **EXHAUSTIVE)
    best = string_similarity(strings(source), strings(target), **EXHAUSTIVE | {"max_candidates": most})
    expected = everything.top_k(most)
    assert best.indices.tolist() == expected.indices.tolist()
    assert best.scores.tolist() == expected.scores.tolist()


@given(st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_levenshtein_equals_rapidfuzz(a: str, b: str):
    check_distance(a, b)


@pytest.mark.parametrize("seed", range(20))
def test_levenshtein_equals_rapidfuzz_beyond_64_characters(seed: int):
    random = np.random.default_rng(seed)
    for _ in range(20):
        check_distance(*("".join(random.choice(["a", "b", "ü"], random.integers(0, 300))) for _ in "ab"))


def check_distance(a: str, b: str) -> None:
    sets = NameSets.cut(strings([a, b]), 3)
    places = np.zeros(CODE_POINTS, np.uint64)
    steps = np.empty(max(len(b), 1), np.int8)
    at = sets.character_pointer
    assert levenshtein(sets.characters, at[0], at[1], at[1], at[2], places, steps) == Levenshtein.distance(
        a, b
    )
    assert not places.any()


def test_a_known_answer():
    found = entries(["kitten house", "mole"], ["sitten house", "mole", "kitten hose"])
    assert found == {
        (0, 0): pytest.approx(1 - 1 / 12),
        (0, 2): pytest.approx(1 - 1 / 12),
        (1, 1): 1.0,
    }


def test_words_in_another_order_are_the_same_word_set():
    names = ["paul van dyk"], ["dyk paul van"]
    assert entries(*names, theta=1.0) == {}
    assert set(entries(*names, theta=1.0, shingle="words")) == {(0, 0)}


def test_entities_without_a_name_score_nothing():
    assert entries([None, "", "anna"], [None, "anna", ""]) == {(2, 1): 1.0}
    assert entries([" ", "anna"], [" ", "anna"], shingle="words") == {(1, 1): 1.0}


@pytest.mark.parametrize(("source", "target"), [([], []), (["a"], []), ([], ["a"]), ([None], [None, None])])
def test_nothing_to_compare(source, target):
    found = string_similarity(strings(source), strings(target))
    assert found.shape == (len(source), len(target))
    assert len(found) == 0


def test_short_names_emoji_and_right_to_left_text():
    names = ["a", "ab", "😀", "😀😀🎉", "مكة المكرمة", "ירושלים", "北京", "e\u0301"]
    found = entries(names, names)
    assert found == {(i, i): 1.0 for i in range(len(names))}
    assert entries(["مكة المكرمة"], ["مكه المكرمة"])[0, 0] == pytest.approx(10 / 11)


def test_a_name_of_a_megabyte(notes: list[str]):
    long = "abcdefghij" * 100_000
    started = time.monotonic()
    found = entries([long, "abc"], [long[:-1] + "x", "abc", "z" + long])
    assert time.monotonic() - started < 30
    assert found == {(0, 0): 1.0, (0, 2): pytest.approx(1 - 2 / LONGEST), (1, 1): 1.0}
    assert any("1000001 characters" in note and str(LONGEST) in note for note in notes)


def test_all_names_equal_stays_linear():
    names = strings(["uncultured bacterium"] * 20_000)
    found = string_similarity(names, names, max_candidates=7)
    assert (found.scores == 1).all()
    assert (found.indices.reshape(20_000, 7) == np.arange(7)).all()


def test_a_crowd_of_similar_names_stays_bounded_and_is_noted(notes: list[str]):
    names = [f"uncultured marine bacterium clone {i}" for i in range(20_000)]
    started = time.monotonic()
    found = string_similarity(strings(names), strings(names), max_candidates=5, max_bucket=20)
    assert time.monotonic() - started < 60
    assert (found.best()[0] == np.arange(len(names))).all()
    assert (np.diff(found.indptr) == 5).all()
    assert any("only the nearest 20 were compared" in note for note in notes)


def test_no_pair_below_theta_and_few_missed():
    source, target = misspelt(600)
    found = string_similarity(strings(source), strings(target), max_candidates=None).to_dense()
    truth = brute_force(source, target)
    assert (found[found > 0] == truth[found > 0]).all()
    assert np.count_nonzero(found) >= 0.97 * np.count_nonzero(truth)


def test_few_real_names_are_missed(shared_data):
    tables = [shared_data / "dbp15k_fr_en" / f"ent_ids_{side}" for side in (1, 2)]
    columns = []
    for path in tables:
        read = arrow_csv.ReadOptions(column_names=["id", "iri"])
        parse = arrow_csv.ParseOptions(delimiter="\t", quote_char=False)
        iris = arrow_csv.read_csv(path, read_options=read, parse_options=parse)["iri"].to_pylist()
        columns.append([iri.rsplit("/", 1)[1].replace("_", " ").lower() for iri in iris[::25]])
    found = string_similarity(*map(strings, columns), max_candidates=None).to_dense()
    truth = brute_force(*columns)
    assert (found[found > 0] == truth[found > 0]).all()
    assert np.count_nonzero(found) >= 0.97 * np.count_nonzero(truth) > 200


def test_the_same_whatever_the_threads_but_not_whatever_the_seed():
    source, target = (strings(names) for names in misspelt(5_000))
    runs = []
    for threads, seed in [(1, 0), (3, 0), (3, 1)]:
        with executing(Execution(threads=threads)):
            runs.append(string_similarity(source, target, permutations=24, recall=0.5, seed=seed))
    one, many, other = ((run.indptr.tobytes(), run.indices.tobytes(), run.scores.tobytes()) for run in runs)
    assert one == many
    assert one != other


def test_the_order_of_the_entities_and_of_the_sides_does_not_matter():
    source, target = misspelt(300)
    shuffle = np.random.default_rng(5).permutation(300)
    straight = entries(source, target, max_candidates=None)
    shuffled = entries([source[i] for i in shuffle], target, max_candidates=None)
    exchanged = entries(target, source, max_candidates=None)
    assert straight == {(shuffle[s], t): score for (s, t), score in shuffled.items()}
    assert straight == {(s, t): score for (t, s), score in exchanged.items()}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("theta", 0.0),
        ("theta", 1.1),
        ("shingle", 0),
        ("shingle", "letters"),
        ("permutations", 0),
        ("recall", 1.0),
        ("max_candidates", 0),
        ("max_bucket", 0),
    ],
)
def test_settings_out_of_range_are_refused(option, value):
    with pytest.raises(UsageError, match=f"{option} = {value!r}"):
        entries(["a"], ["a"], **{option: value})


@pytest.fixture
def notes():
    class Notes:
        def step(self, title: str) -> AbstractContextManager[None]:
            return nullcontext()

        def advance(self, done: int, total: int) -> None:
            pass

        def note(self, message: str) -> None:
            said.append(message)

        def warn(self, message: str) -> None:
            raise AssertionError(message)

    said: list[str] = []
    with progress.listening(Notes()):
        yield said
