"""Charts are well-formed SVG with the right lengths, and can be read without seeing them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from largeea.report import charts


def parsed(svg: str) -> ElementTree.Element:
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    return root


def lengths(root: ElementTree.Element, kind: str, side: str) -> list[float]:
    return [float(one.attrib[side]) for one in root.iter("rect") if one.attrib["class"] == kind]


def texts(root: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in root.iter("text")]


def test_bars_are_as_long_as_their_values() -> None:
    root = parsed(charts.bars("Title", [("a", 10, "10"), ("b", 5, "5"), ("c", 0, "0")]))
    long, half = lengths(root, "first", "width")
    assert half == pytest.approx(long / 2, abs=0.1)
    assert long == lengths(root, "track", "width")[0]
    assert [root[0].text, root[1].text] == ["Title", "a 10, b 5, c 0"]


def test_bars_of_a_whole() -> None:
    root = parsed(charts.bars("Title", [("a", 0.25, "25%")], whole=1.0))
    assert lengths(root, "first", "width")[0] == pytest.approx(
        lengths(root, "track", "width")[0] / 4, abs=0.1
    )


def test_stacked_columns_add_up() -> None:
    root = parsed(charts.columns("T", ["a", "b"], {"x": [4, 1], "y": [4, 0]}, stacked=True))
    (tall, short), (on_top,) = lengths(root, "first", "height"), lengths(root, "second", "height")
    assert tall == on_top == pytest.approx(4 * short, abs=0.3)
    assert texts(root).count("8") == 2, "on the axis and above the column"


def test_labels_that_do_not_fit_are_left_out() -> None:
    labels = [f"label {place}" for place in range(30)]
    shown = texts(parsed(charts.columns("T", labels, {"x": [1] * 30})))
    assert 2 <= sum(text.startswith("label") for text in shown) <= 6


def test_a_mark_is_drawn_at_its_place() -> None:
    svg = charts.columns("T", ["0", "1"], {"x": [1]}, mark=charts.Mark(0.25, "here"), edges=True)
    line = next(one for one in parsed(svg).iter("line") if one.attrib["class"] == "mark")
    base = next(one for one in parsed(svg).iter("line") if one.attrib["class"] == "base")
    left, right = float(base.attrib["x1"]), float(base.attrib["x2"])
    assert float(line.attrib["x1"]) == pytest.approx(left + (right - left) / 4, abs=0.1)


def test_points_of_perfect_calibration_are_on_the_line() -> None:
    root = parsed(charts.reliability("T", [(0.5, 0.5, 10), (1.0, 1.0, 40)]))
    line = next(one.attrib for one in root.iter("line") if one.attrib["class"] == "mark")
    middle, end = root.iter("circle")
    assert float(end.attrib["cx"]) == float(line["x2"])
    assert float(end.attrib["cy"]) == float(line["y2"])
    assert float(middle.attrib["cx"]) == pytest.approx((float(line["x1"]) + float(line["x2"])) / 2, abs=0.1)
    assert float(middle.attrib["r"]) < float(end.attrib["r"])


@pytest.mark.parametrize("values", [[], [0, 0], [1], [1e9, 3]])
def test_odd_values_are_drawn(values: list[float]) -> None:
    parsed(charts.columns("T", ["a"] * len(values), {"x": values}))
    parsed(charts.bars("T", [("a", value, "a") for value in values]))


@pytest.mark.parametrize(("highest", "top"), [(0, 1), (1, 1), (7, 8), (1500, 1500), (0.28, 0.3), (1e7, 1e7)])
def test_axes_end_at_round_numbers(highest: float, top: float) -> None:
    found, ticks = charts.axis(highest)
    assert found == pytest.approx(top)
    assert ticks[-1] == pytest.approx(top if highest else 0)
    assert len(ticks) <= 6


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (940, "940"), (1234, "1.2k"), (14102, "14k"), (1.9e6, "1.9M"), (2.5e9, "2.5G")],
)
def test_compact_numbers(value: float, text: str) -> None:
    assert charts.compact(value) == text


def test_labels_are_escaped() -> None:
    root = parsed(charts.bars("<T>", [("<b>\u202e", 1, "<i>")]))
    assert "<b>\u2039U+202E\u203a" in texts(root)


def test_long_labels_are_cut_in_the_middle() -> None:
    root = parsed(
        charts.bars("T", [("dump-of-the-year-2026-en", 1, "1"), ("dump-of-the-year-2026-fr", 1, "1")])
    )
    assert texts(root)[::2] == ["dump-of-t\u2026ar-2026-en", "dump-of-t\u2026ar-2026-fr"]
