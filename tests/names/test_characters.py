from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.execution import Execution, executing
from largeea.graph import strings
from largeea.names.characters import code_points

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
names = st.lists(st.none() | st.text("ab é漢\U0001f389\0", max_size=5), max_size=9)


def slowly(listed: list[str | None]) -> tuple[list[int], list[int]]:
    texts = [text or "" for text in listed]
    return [ord(letter) for text in texts for letter in text], [0, *np.cumsum([len(text) for text in texts])]


def test_a_name_is_its_code_points() -> None:
    points, pointer = code_points(strings(["a", None, "", "é\U0001f389"]))
    assert points.tolist() == [ord("a"), ord("é"), 0x1F389]
    assert pointer.tolist() == [0, 1, 1, 1, 3]
    assert (points.dtype, pointer.dtype) == (np.uint32, np.int64)


@pytest.mark.parametrize("nothing", [[], [None], ["", None]])
def test_no_names_have_no_characters(nothing: list[str | None]) -> None:
    points, pointer = code_points(strings(nothing))
    assert len(points) == 0
    assert pointer.tolist() == [0] * (len(nothing) + 1)


@often
@given(names, st.integers(0, 9))
def test_part_of_a_column(listed: list[str | None], start: int) -> None:
    points, pointer = code_points(strings(listed).slice(start))
    assert (points.tolist(), pointer.tolist()) == slowly(listed[start:])


def test_many_names_on_several_threads() -> None:
    listed = [chr(number) * (number % 4) for number in range(1, 0x11000, 7) if not 0xD800 <= number < 0xE000]
    with executing(Execution(threads=3)):
        points, pointer = code_points(strings(listed))
    assert (points.tolist(), pointer.tolist()) == slowly(listed)
