"""Plots that are legible without colour: markers, line styles and hatches distinguish the series."""

from __future__ import annotations

import importlib
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from largeea.errors import UsageError
from largeea.experiments.tables import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#1b3a5c", "#c8553d", "#6a9f58", "#b58900", "#7d5ba6", "#4d4d4d")
_MARKERS, _STYLES = ("o", "s", "^", "D", "v", "P"), ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
_HATCHES = ("", "///", "...", "xx", "\\\\\\", "++")
_SETTINGS = {"svg.hashsalt": "largeea", "font.size": 9, "axes.grid": True, "grid.color": "0.85"}
_WIDE_LABELS = 4
"""Number of bars from which their labels are rotated."""
_CROWDED = 24
"""Number of bars from which a panel gets a row of its own."""

Points = list[tuple[Any, float]]


@dataclass(frozen=True)
class Panel:
    """One pair of axes: labels with units, and points by the name of their series.

    `reference` holds the paper's figures for the same bars. With `log` both axes are logarithmic, and a line
    of slope 1 shows linear growth.
    """

    title: str
    x: str
    y: str
    series: dict[str, Points]
    bars: bool = False
    log: bool = False
    reference: dict[str, Points] = field(default_factory=dict)


def panels(
    rows: Sequence[Row],
    x: str,
    y: Sequence[str],
    series: str,
    by: str | None = None,
    bars: bool = False,
    reference: str | None = None,
) -> list[Panel]:
    """A panel for each value of `by` and figure of `y`; one line or kind of bar for each of `series`."""
    made = []
    for group in dict.fromkeys(row[by] for row in rows) if by else (None,):
        chosen = [row for row in rows if by is None or row[by] == group]
        for title in y:
            points, other = _points(chosen, x, title, series), {}
            if reference is not None:
                other = _points(chosen, x, reference, series)
            made.append(Panel(str(group or ""), x, title, points, bars, reference=other))
    return made


def side_by_side(rows: Sequence[Row], x: str, y: Sequence[str], by: str, label: str) -> list[Panel]:
    """A panel for each value of `by`, with a line for each figure of `y`, on logarithmic axes."""
    made = []
    for group in dict.fromkeys(row[by] for row in rows):
        chosen = [row for row in rows if row[by] == group]
        lines = {title.partition(" (")[0]: _line(chosen, x, title) for title in y}
        lines = {title: line for title, line in lines.items() if line}
        made.append(Panel(str(group), x, label, lines, log=True))
    return made


def require() -> Any:
    """Import and return matplotlib; raises an error that names the extra if it is missing."""
    try:
        return importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"experiments draw plots with the Python package {error.name!r}, which is not installed: "
            "pip install 'largeea[experiments]'"
        ) from error


def draw(shown: Sequence[Panel]) -> dict[str, bytes]:
    """Draw the panels as one figure; returns `{"svg": ..., "png": ...}`."""
    figure_module = require()
    matplotlib = importlib.import_module("matplotlib")
    crowded = any(panel.bars and sum(map(len, panel.series.values())) >= _CROWDED for panel in shown)
    columns = 1 if crowded else min(len(shown), 2)
    lines = math.ceil(len(shown) / columns)
    width = 9.2 if crowded else 4.6 * columns
    names = dict.fromkeys(name for panel in shown for name in panel.series)
    looks = {name: number % len(_COLOURS) for number, name in enumerate(names)}
    with matplotlib.rc_context(_SETTINGS):
        figure = figure_module.Figure(figsize=(width, 3.3 * lines + 0.5), layout="constrained")
        axes = figure.subplots(lines, columns, squeeze=False).ravel()
        for ax, panel in zip(axes, shown, strict=False):
            (_draw_bars if panel.bars else _draw_lines)(ax, panel, looks)
            unit = "" if panel.y.endswith(")") else " (share)"
            ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y + unit)
        for ax in axes[len(shown) :]:
            ax.set_visible(False)
        named: dict[str, Any] = {}
        for ax in axes:
            named |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
        legend = {name: named.pop(name) for name in names if name in named} | named
        place = {"loc": "outside lower center", "ncols": 6 if crowded else 3 * columns, "frameon": False}
        figure.legend(legend.values(), legend.keys(), **place)
        return {kind: _saved(figure, kind) for kind in ("svg", "png")}


def _draw_lines(ax: Axes, panel: Panel, looks: dict[str, int]) -> None:
    for name, points in panel.series.items():
        xs, ys = zip(*sorted(points), strict=True)
        i = looks[name]
        ax.plot(xs, ys, label=name, color=_COLOURS[i], marker=_MARKERS[i], linestyle=_STYLES[i], ms=5)
    ticks = sorted({x for points in panel.series.values() for x, _ in points})
    if panel.log:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(importlib.import_module("matplotlib.ticker").LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:g}")
        lowest = min((y for points in panel.series.values() for _, y in points if y > 0), default=1.0)
        ends = [ticks[0], ticks[-1]] if ticks else [1, 1]
        guide = [lowest, lowest * ends[1] / ends[0]]
        ax.plot(ends, guide, color="0.6", linewidth=1, linestyle=":", label="linear growth")
    elif ticks:
        highest = max(y for points in panel.series.values() for _, y in points)
        ax.set_ylim(0, 1.08 * highest or 1)
    ax.set_xticks(ticks, [f"{tick:,}" if isinstance(tick, int) else f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def _draw_bars(ax: Axes, panel: Panel, looks: dict[str, int]) -> None:
    places = list(dict.fromkeys(x for points in panel.series.values() for x, _ in points))
    width = 0.8 / max(len(panel.series), 1)
    for i, (name, points) in enumerate(panel.series.items()):
        shift = (i - (len(panel.series) - 1) / 2) * width

        def at(x: Any, shift: float = shift) -> float:
            return places.index(x) + shift

        heights = [y for _, y in points]
        colour, hatch = _COLOURS[looks[name]], _HATCHES[looks[name]]
        look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.5}
        bars = ax.bar([at(x) for x, _ in points], heights, width, label=name, **look)  # type: ignore[arg-type]
        ax.bar_label(bars, fmt=_label, fontsize=6.5, padding=1)
        paper = panel.reference.get(name, [])
        if paper:
            centres = [at(x) for x, _ in paper]
            ax.plot(centres, [y for _, y in paper], "D", color="white", mec="black", label="the paper's")
    labels, turned = [str(place) for place in places], {}
    if len(places) >= _WIDE_LABELS:
        labels, turned = [label.replace("\n", " ") for label in labels], {"rotation": 30, "ha": "right"}
    ax.set_xticks(range(len(places)), labels, **turned)  # type: ignore[arg-type]
    ax.grid(visible=False, axis="x")
    ax.margins(y=0.12)
    ax.set_axisbelow(True)


def _label(height: float) -> str:
    return f"{height:,.0f}" if height >= 10 else f"{height:.2f}".lstrip("0")


def _saved(figure: Any, kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()


def _points(rows: Sequence[Row], x: str, y: str, series: str) -> dict[str, Points]:
    names = dict.fromkeys(str(row[series]) for row in rows)
    lines = {name: _line([row for row in rows if str(row[series]) == name], x, y) for name in names}
    return {name: line for name, line in lines.items() if line}


def _line(rows: Sequence[Row], x: str, y: str) -> Points:
    found = ((row[x], row.get(y)) for row in rows)
    return [(place, float(value)) for place, value in found if isinstance(value, int | float)]
