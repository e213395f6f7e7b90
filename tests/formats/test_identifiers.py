from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.formats.identifiers import flaws
from largeea.graph import strings

often = settings(deadline=None, max_examples=150, database=None, derandomize=True)
cells = st.none() | st.text(st.sampled_from("ab\t\n\r\x00\x1b\x7f\x80\x9f\xa0\xbf\u00c2é中😀"), max_size=4)


def flaw(cell: str | None, optional: bool) -> str | None:
    """The same, a character at a time."""
    if any(unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in cell or ""):
        return "a control character in column x"
    return None if cell or optional else "nothing in column x"


@often
@given(st.lists(cells, max_size=8), st.booleans(), st.integers(0, 3))
def test_flaws_are_those_a_slow_look_finds(column, optional, start):
    found = flaws({"x": strings(column)[start:]}, ("x",) if optional else ())
    expected = {row: flaw(cell, optional) for row, cell in enumerate(column[start:])}
    assert found == {row: reason for row, reason in expected.items() if reason}


def test_a_row_is_named_once_and_rows_stay_in_order():
    columns = {"a": strings(["x", "", "y", None]), "b": strings(["\x1b", "x", "", "x"])}
    assert flaws(columns) == {
        0: "a control character in column b",
        1: "nothing in column a",
        2: "nothing in column b",
        3: "nothing in column a",
    }
    assert list(flaws(columns)) == [0, 1, 2, 3]
    assert flaws({}) == {}
