from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from xml.etree import ElementTree

import pytest

from largeea.errors import UsageError
from largeea.experiments.plots import Panel, draw, panels, require, side_by_side
from largeea.experiments.tables import Row

ROWS: list[Row] = [
    {"set": "a", "method": "x", "k": 2, "hits": 0.5, "time (s)": 1.0, "paper": None},
    {"set": "a", "method": "x", "k": 4, "hits": 0.4, "time (s)": 2.0, "paper": 0.7},
    {"set": "a", "method": "y", "k": 2, "hits": None, "time (s)": 3.0, "paper": None},
    {"set": "b", "method": "y", "k": 2, "hits": 0.2, "time (s)": 4.0, "paper": None},
]


def test_rows_become_panels() -> None:
    made = panels(ROWS, "k", ("hits", "time (s)"), "method", by="set", reference="paper")
    assert [(panel.title, panel.y) for panel in made] == [
        ("a", "hits"),
        ("a", "time (s)"),
        ("b", "hits"),
        ("b", "time (s)"),
    ]
    assert made[0].series == {"x": [(2, 0.5), (4, 0.4)]}
    assert made[0].reference == {"x": [(4, 0.7)]}
    assert made[1].series == {"x": [(2, 1.0), (4, 2.0)], "y": [(2, 3.0)]}


def test_figures_become_lines() -> None:
    made = side_by_side(ROWS, "k", ("hits", "time (s)"), "set", "time (s)")
    assert list(made[0].series) == ["hits", "time"]
    assert made[1].series == {"hits": [(2, 0.2)], "time": [(2, 4.0)]}


drawn = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs largeea[experiments]")


@drawn
@pytest.mark.parametrize("bars", [False, True])
def test_pictures_are_whole_and_the_same_again(bars: bool) -> None:
    shown = panels(ROWS, "k", ("hits",), "method", by="set", bars=bars, reference="paper")
    pictures = draw(shown)
    assert pictures["png"].startswith(b"\x89PNG")
    assert ElementTree.fromstring(pictures["svg"]).tag.endswith("svg")
    assert draw(shown) == pictures


@drawn
def test_a_series_looks_the_same_in_every_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second panel lacks the first series; the legend must not mislead."""
    points = [(1, 1.0), (2, 2.0)]
    shown = [
        Panel("one", "k", "hits", {"x": points, "y": points}),
        Panel("two", "k", "hits", {"y": points}),
    ]
    figures = []
    figure_module = importlib.import_module("matplotlib.figure")
    real = figure_module.Figure

    def spy(*given: object, **named: object) -> object:
        figures.append(real(*given, **named))
        return figures[-1]

    monkeypatch.setattr(figure_module, "Figure", spy)
    draw(shown)
    looks = [
        {line.get_label(): (line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}
        for ax in figures[0].axes
    ]
    assert looks[0]["y"] == looks[1]["y"] != looks[0]["x"]
    colours, markers, styles = zip(*looks[0].values(), strict=True)
    assert len(set(colours)) == len(set(markers)) == len(set(styles)) == 2


def test_a_missing_library_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'largeea\[experiments\]'"):
        require()
