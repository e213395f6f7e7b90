from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.execution import Execution, executing
from largeea.graph import Int32, Int64, UInt64, strings
from largeea.names import distinct
from largeea.names.distinct import distinct_names, number_names
from largeea.names.numbering import Numbering

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
texts = st.lists(st.none() | st.text("ab é漢", max_size=12), max_size=12)


@often
@given(texts)
def test_equal_names_have_equal_numbers(names: list[str | None]) -> None:
    number, count = number_names(strings(names))
    assert count == len(set(filter(None, names)))
    of = dict(zip(names, number.tolist(), strict=True))
    assert number.tolist() == [of[name] for name in names]
    assert sorted({of[name] for name in filter(None, names)}) == list(range(count))
    assert all(of[name] == -1 for name in names if not name)


@often
@given(texts, st.integers(0, 3))
def test_distinct_names_are_sorted(names: list[str | None], start: int) -> None:
    given_names = strings([*["x"] * start, *names])
    found, place = distinct_names(given_names.slice(start))
    expected = sorted(set(filter(None, names)), key=str.encode)
    assert found.to_pylist() == expected
    assert place.tolist() == [expected.index(name) if name else -1 for name in names]


@pytest.mark.parametrize("threads", [1, 3])
def test_many_names_that_begin_alike(threads: int) -> None:
    names = [f"list of {'x' * (i % 7)}{i % 5000}" for i in range(30_000)]
    with executing(Execution(threads=threads)):
        found, place = distinct_names(strings(names))
    assert found.to_pylist() == sorted(set(names))
    assert found.take(place).to_pylist() == names


def test_nobody_can_foresee_the_hash_codes_that_make_names_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []
    real = distinct.number_codes

    def number_codes(codes: UInt64, *rest: Int64) -> tuple[Int32, Numbering]:
        seen.append(set(codes.tolist()))
        return real(codes, *rest)

    monkeypatch.setattr(distinct, "number_codes", number_codes)
    for _ in range(2):
        found, place = distinct_names(strings(["Oslo", "Rome", "Oslo"]))
        assert (found.to_pylist(), place.tolist()) == (["Oslo", "Rome"], [0, 1, 0])
    assert not seen[0] & seen[1]
