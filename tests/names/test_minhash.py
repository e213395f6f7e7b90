from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.graph import strings
from largeea.names.strings.minhash import BandIndex, Banding, MinHash, band_keys, gather
from largeea.names.strings.shingles import NameSets

BUCKET = np.uint64(32)
NO_LIMIT = 1 << 30


def random_names(count: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return ["".join(random.choice(list("abcd"), random.integers(3, 12))) for _ in range(count)]


def hashed(
    names: list[str], banding: Banding, seed: int = 0
) -> tuple[NameSets, MinHash, np.ndarray, BandIndex]:
    sets = NameSets.cut(strings(names), 3)
    minhash = MinHash.draw(sets.hashes, banding, seed)
    everyone = np.arange(len(names), dtype=np.int32)
    with ThreadPoolExecutor(2) as pool:
        index = BandIndex.build(sets, everyone, minhash, pool)
    return sets, minhash, band_keys(sets, everyone, minhash), index


def found_for(name: int, keys: np.ndarray, index: BandIndex, most: int) -> tuple[list[int], list[int]]:
    found, looked_up = np.empty(len(keys), np.int32), np.zeros(3, np.int64)
    seen_by = np.full(len(keys), -1, np.int32)
    count = gather(name, keys[name], index, most, seen_by, found, looked_up)
    return found[:count].tolist(), looked_up.tolist()


def test_banding_takes_the_most_rows_that_keep_the_recall():
    banding = Banding.choose(0.5, 200, 0.95)
    assert banding == (50, 4)
    assert banding.recall(0.5) == pytest.approx(1 - (1 - 0.5**4) ** 50)
    assert Banding(40, 5).recall(0.5) < 0.95


def test_banding_for_equal_sets_is_one_band():
    assert Banding.choose(1.0, 16, 0.99) == (1, 16)


def test_too_few_permutations_are_refused():
    with pytest.raises(UsageError, match=r"10 permutations.*theta = 0\.1.*at most 0\.651.*more permutations"):
        Banding.choose(0.1, 10, 0.95)


@pytest.mark.parametrize("shared", [2, 10, 18])
def test_equal_minima_are_as_frequent_as_the_jaccard_similarity(shared: int):
    words = [f"w{i}" for i in range(40)]
    a, b = words[:20], words[20 - shared : 40 - shared]
    sets = NameSets.cut(strings([" ".join(a), " ".join(b)]), "words")
    rates = []
    for seed in range(20):
        minhash = MinHash.draw(sets.hashes, Banding(512, 1), seed)
        keys = band_keys(sets, np.arange(2, dtype=np.int32), minhash)
        rates.append(np.mean(keys[0] >> BUCKET == keys[1] >> BUCKET))
    assert np.mean(rates) == pytest.approx(shared / (40 - shared), abs=0.02)


def test_keys_depend_on_the_name_alone():
    _, _, alone, _ = hashed(["abcdef"], Banding(8, 2))
    _, _, among, _ = hashed([*random_names(20), "abcdef", "xyz"], Banding(8, 2))
    assert alone[0].tolist() == among[20].tolist()


def test_keys_depend_on_the_seed():
    _, _, first, _ = hashed(["abcdef"], Banding(8, 2), seed=0)
    _, _, second, _ = hashed(["abcdef"], Banding(8, 2), seed=1)
    assert not (first == second).any()


def test_everyone_who_shares_a_bucket_is_found_once():
    _, _, keys, index = hashed(random_names(300), Banding(12, 2))
    for name in range(300):
        share = (keys >> BUCKET == keys[name] >> BUCKET).any(axis=1)
        found, looked_up = found_for(name, keys, index, NO_LIMIT)
        assert sorted(found) == np.flatnonzero(share).tolist()
        assert looked_up == [12, 0, 0]


def test_an_overfull_bucket_is_narrowed_to_those_who_agree_in_more():
    _, _, keys, index = hashed(random_names(300), Banding(3, 1))
    keys = np.ascontiguousarray(keys[:, :1])
    narrowings = 0
    for name in range(300):
        agree = [
            np.flatnonzero(keys[:, 0] >> np.uint64(bits) == keys[name, 0] >> np.uint64(bits))
            for bits in (32, 16, 0)
        ]
        most = len(agree[0]) - 1
        expected = next((names for names in agree[1:] if len(names) <= most), None)
        if most and expected is not None:
            found, looked_up = found_for(name, keys, index, most)
            assert sorted(found) == expected.tolist()
            assert looked_up == [1, 1, 0]
            narrowings += 1
    assert narrowings > 100


def test_a_bucket_that_stays_overfull_is_cut_around_the_name_itself():
    _, _, keys, index = hashed(["same"] * 50, Banding(1, 4))
    for name, window in [(0, range(10)), (20, range(15, 25)), (49, range(40, 50))]:
        found, looked_up = found_for(name, keys, index, 10)
        assert found == list(window)
        assert looked_up == [1, 1, 1]
