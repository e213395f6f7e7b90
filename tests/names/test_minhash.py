from __future__ import annotations

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
    index = BandIndex.build(sets, everyone, minhash)
    return sets, minhash, band_keys(sets, everyone, minhash), index


def found_for(name: int, keys: np.ndarray, index: BandIndex, most: int) -> tuple[list[int], list[int]]:
    found, looked_up = np.empty(len(keys), np.int32), np.zeros(2, np.int64)
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
        assert looked_up == [12, 0]


def test_of_an_overfull_bucket_the_nearest_are_taken():
    _, _, keys, index = hashed(random_names(300), Banding(3, 1))
    keys = np.ascontiguousarray(keys[:, :1])
    crowds = 0
    for name in range(300):
        bucket = np.flatnonzero(keys[:, 0] >> BUCKET == keys[name, 0] >> BUCKET)
        most = len(bucket) - 1
        if most:
            found, looked_up = found_for(name, keys, index, most)
            by_key = bucket[np.lexsort((bucket, keys[bucket, 0]))].tolist()
            left_out = by_key[-1] if by_key.index(name) <= most // 2 else by_key[0]
            assert set(by_key) - set(found) == {left_out}
            assert looked_up == [1, 1]
            crowds += 1
    assert crowds > 200


def test_a_name_is_in_the_middle_of_its_equals():
    _, _, keys, index = hashed(["same"] * 50, Banding(1, 4))
    for name, window in [(0, range(10)), (20, range(15, 25)), (49, range(40, 50))]:
        found, looked_up = found_for(name, keys, index, 10)
        assert found == list(window)
        assert looked_up == [1, 1]


def test_who_agrees_in_more_is_nearer():
    _, _, keys, index = hashed(random_names(300), Banding(3, 1))
    keys = np.ascontiguousarray(keys[:, :1])
    for name in range(300):
        agree = np.flatnonzero(keys[:, 0] == keys[name, 0])
        found, _ = found_for(name, keys, index, 2 * len(agree))
        assert set(agree.tolist()) <= set(found)
