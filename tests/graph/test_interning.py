from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.graph import interning, strings
from largeea.graph.hash_table import fixed_hashes
from largeea.graph.interning import StringTable

often = settings(deadline=None, max_examples=80, database=None, derandomize=True)
words = st.lists(
    st.text(max_size=20) | st.sampled_from(["", "a", "ab", "abcdefgh", "abcdefghi", "a\0", "\0"])
)


def spans(texts):
    """The texts in one buffer, with something between them; None as a span that starts below zero."""
    data, starts, ends = bytearray(b"#"), [], []
    for text in texts:
        starts.append(-1 if text is None else len(data))
        data += b"" if text is None else text.encode()
        ends.append(len(data))
        data += b"#"
    return np.frombuffer(bytes(data), np.uint8), np.array(starts, np.int64), np.array(ends, np.int64)


@often
@given(st.lists(words))
def test_numbers_are_those_of_a_dict(batches):
    table, known = StringTable(), {}
    for batch in batches:
        expected = [known.setdefault(text, len(known)) for text in batch]
        assert table.number(*spans(batch)).tolist() == expected
        assert len(table) == len(known)
    assert table.strings().to_pylist() == list(known)


@often
@given(st.lists(st.none() | st.text(max_size=9), max_size=200))
def test_absent_strings_have_no_number(texts):
    table, known = StringTable(), {}
    expected = [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
    assert table.number(*spans(texts)).tolist() == expected
    assert table.number_column(strings(texts)).tolist() == expected
    assert table.strings().to_pylist() == list(known)


def test_absent_strings_take_no_room():
    """A span below zero has no length, however far its end."""
    table = StringTable()
    count = 200_000
    numbers = table.number(np.zeros(8, np.uint8), np.full(count, -1), np.full(count, 1 << 40))
    assert (numbers == -1).all()
    assert len(table) == 0


@often
@given(st.lists(st.none() | st.text(max_size=5), min_size=3, max_size=30), st.data())
def test_a_slice_of_a_column_counts_as_itself(texts, data):
    start = data.draw(st.integers(0, len(texts)))
    part = strings(texts).slice(start, data.draw(st.integers(0, len(texts))))
    whole = StringTable()
    numbers = whole.number_column(part)
    found = whole.strings().to_pylist()
    assert [None if n < 0 else found[n] for n in numbers] == part.to_pylist()


def test_other_text_columns_are_taken_too():
    table = StringTable()
    assert table.number_column(pa.array(["x", "y", "x"])).tolist() == [0, 1, 0]
    assert table.number_column(pa.array(["y", None]).dictionary_encode()).tolist() == [1, -1]


def test_growth():
    table = StringTable()
    texts = [f"string number {i % 70_000}" for i in range(200_000)]
    numbers = np.concatenate(
        [table.number_column(strings(texts[i : i + 999])) for i in range(0, 200_000, 999)]
    )
    assert numbers.tolist() == [i % 70_000 for i in range(200_000)]
    assert table.strings().to_pylist() == texts[:70_000]


def test_strings_already_given_out_stay_as_they_are():
    table = StringTable()
    table.number_column(strings(["a"]))
    before = table.strings()
    table.number_column(strings(["b" * 100]))
    assert before.to_pylist() == ["a"]


@often
@given(st.sets(st.text(max_size=12), min_size=1), st.randoms())
def test_the_order_by_hash_knows_no_history(texts, random):
    shuffled = sorted(texts)
    random.shuffle(shuffled)
    orders = []
    for version in (sorted(texts), shuffled):
        table = StringTable()
        table.number_column(strings(version))
        orders.append([version[number] for number in table.order_by_hash()])
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == sorted(texts)


def test_equal_hashes_are_ordered_by_text(monkeypatch):
    table = StringTable()
    table.number_column(strings(["b", "c", "a"]))
    monkeypatch.setattr(interning, "fixed_hashes", lambda buffer, offsets, hashes: hashes.fill(7))
    assert table.order_by_hash().tolist() == [2, 0, 1]


def test_strings_chosen_to_collide_do_not_collide():
    """The highest bit of a product is that of its factor: the next word can undo the difference."""
    words = np.zeros((1 << 10, 20), np.uint64)
    for pair in range(10):
        flipped = (np.arange(1 << 10) >> pair & 1).astype(np.uint64)
        words[:, 2 * pair] = flipped << np.uint64(63)
        words[:, 2 * pair + 1] = flipped << np.uint64(63) ^ flipped << np.uint64(31)
    buffer = words.view(np.uint8).ravel()
    offsets = np.arange(len(words) + 1) * words.shape[1] * 8
    by_fixed_hash = np.empty(len(words), np.uint64)
    fixed_hashes(buffer, offsets, by_fixed_hash)
    assert len(np.unique(by_fixed_hash)) == 1
    table = StringTable()
    assert table.number(buffer, offsets[:-1], offsets[1:]).tolist() == list(range(len(words)))
    assert len(np.unique(table._hashes[: len(words)] & np.uint64(0xFFFF))) > 900
