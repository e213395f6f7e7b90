"""Charts as SVG text: bars, columns and points, drawn for a width of 360 px: that of a phone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from largeea.report.page import escaped, visible

WIDTH = 360
SERIES = ("first", "second")
"""Colours of the style sheet, in the order in which series use them."""
_LEFT, _RIGHT, _TOP, _PLOT, _BELOW = 44, 16, 24, 150, 34
_ROW, _LETTER, _LONGEST_LABEL = 24, 6.8, 20


@dataclass(frozen=True)
class Mark:
    """A vertical line across columns at `position` in [0, 1] of the width, with a label."""

    position: float
    label: str


def figure(title: str, text: str, chart: str, legend: Sequence[str] = ()) -> str:
    """Return a chart with its heading, a sentence that says what it shows, and the names of its series."""
    items = "".join(
        f'<li><span class="swatch {colour}" aria-hidden="true"></span>{escaped(visible(name))}</li>'
        for name, colour in zip(legend, SERIES, strict=False)
    )
    shown = f'<ul class="legend">{items}</ul>' if items else ""
    caption = f"<figcaption><h3>{escaped(title)}</h3><p>{escaped(text)}</p></figcaption>"
    return f"<figure>{caption}{shown}{chart}</figure>"


def columns(
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    stacked: bool = False,
    percent: bool = False,
    below: str = "",
    mark: Mark | None = None,
    edges: bool = False,
) -> str:
    """Return columns over the `labels`, stacked or side by side.

    With `percent`, values are shares. With `edges`, there is one label more than columns: bounds of bins.
    """
    values = list(series.values())
    places = len(values[0])
    totals = [sum(column) if stacked else max(column) for column in zip(*values, strict=True)]
    top, ticks = axis(max(totals, default=0))
    step = (WIDTH - _LEFT - _RIGHT) / max(places, 1)
    floor = _TOP + _PLOT
    parts = [_grid(tick / top, _tick(tick, percent)) for tick in ticks]
    parts += [] if mark is None else _marked(mark, floor)
    for place in range(places):
        left, height = _LEFT + place * step, 0.0
        for turn, (column, colour) in enumerate(zip(values, SERIES, strict=False)):
            tall = max(_PLOT * column[place] / top, 1.5) if column[place] else 0.0
            width = step * 0.78 / (1 if stacked else len(values))
            x = left + step * 0.11 + (0 if stacked else turn * width)
            parts.append(_rect(x, floor - height - tall, width, tall, colour))
            height += tall if stacked else 0
        if stacked and totals[place]:
            parts.append(_text(left + step / 2, floor - height - 4, compact(totals[place]), "middle"))
    shift = 0.0 if edges else step / 2
    every = math.ceil(max(map(len, labels), default=1) * (_LETTER + 1) / step) if labels else 1
    for place in range(0, len(labels), every):
        parts.append(_text(_LEFT + place * step + shift, floor + 14, labels[place], "middle", "axis"))
    parts.append(_base(floor))
    if below:
        parts.append(_text(_LEFT + (WIDTH - _LEFT - _RIGHT) / 2, floor + 30, below, "middle", "axis"))
    bins = [f"{low} to {high}:" for low, high in pairwise(labels)] if edges else labels
    description = "; ".join(
        f"{name}: "
        + ", ".join(f"{one} {_tick(value, percent)}" for one, value in zip(bins, column, strict=True))
        for name, column in series.items()
    )
    return _svg(title, description, floor + _BELOW, parts)


def bars(title: str, rows: Sequence[tuple[str, float, str]], *, whole: float | None = None) -> str:
    """Return one horizontal bar per row: its label, its length and the text behind it.

    `whole` is the length of a full bar, the longest row by default.
    """
    longest = whole or max((value for _, value, _ in rows), default=0) or 1
    labels = [_clipped(visible(label)) for label, _, _ in rows]
    start = _LETTER * max(map(len, labels), default=0) + 8
    room = WIDTH - start - _LETTER * max((len(text) for *_, text in rows), default=0) - 10
    parts = []
    for place, (label, (_, value, text)) in enumerate(zip(labels, rows, strict=True)):
        y = place * _ROW + 3
        long = min(max(room * value / longest, 1.5 if value else 0), room)
        parts.append(_text(start - 8, y + 13, label, "end"))
        parts.append(_rect(start, y + 2, room, 14, "track"))
        parts.append(_rect(start, y + 2, long, 14, "first"))
        parts.append(_text(start + room + 6, y + 13, text))
    description = ", ".join(f"{label} {text}" for label, _, text in rows)
    return _svg(title, description, len(rows) * _ROW + 4, parts)


def reliability(title: str, points: Sequence[tuple[float, float, int]]) -> str:
    """Return points of mean confidence, share right and number of pairs, beside the diagonal of equality."""
    floor, across = _TOP + 200, WIDTH - _LEFT - _RIGHT
    most = max((many for *_, many in points), default=1)
    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        y, x = floor - 200 * tick, _LEFT + across * tick
        parts.append(f'<line class="line" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{tick:.0%}", "end", "axis"))
        parts.append(_text(x, floor + 14, f"{tick:.2f}", "middle", "axis"))
    parts.append(f'<line class="mark" x1="{_LEFT}" y1="{floor}" x2="{WIDTH - _RIGHT}" y2="{_TOP}"/>')
    for confidence, right, many in points:
        radius = 3 + 5 * math.sqrt(many / most)
        x, y = _LEFT + across * confidence, floor - 200 * right
        parts.append(f'<circle class="first" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>')
    parts.append(_base(floor))
    parts.append(_text(_LEFT, _TOP - 10, "share that is right"))
    parts.append(_text(_LEFT + across / 2, floor + 30, "mean confidence", "middle", "axis"))
    description = ", ".join(f"confidence {a:.2f}: {b:.0%} of {n:,} right" for a, b, n in points)
    return _svg(title, description, floor + _BELOW, parts)


def axis(highest: float) -> tuple[float, list[float]]:
    """Return the top of an axis that reaches `highest`, and its ticks at round numbers."""
    if highest <= 0:
        return 1.0, [0.0]
    rough = highest / 4
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    number = math.ceil(highest / step - 1e-9)
    return step * number, [step * place for place in range(number + 1)]


def compact(value: float) -> str:
    """Return a number in at most four characters or so: 940, 1.2k, 14k, 1.9M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{letter}" if value < 9.95 * size else f"{value / size:.0f}{letter}"
    return f"{value:.0f}" if value == round(value) else f"{value:.2g}"


def _tick(value: float, percent: bool) -> str:
    return f"{100 * value:.3g}%" if percent else compact(value)


def _clipped(label: str) -> str:
    """Return a label of at most `_LONGEST_LABEL` characters; beginning and end tell names apart."""
    half = _LONGEST_LABEL // 2
    return label if len(label) <= _LONGEST_LABEL else f"{label[: half - 1]}\u2026{label[-half:]}"


def _grid(height: float, label: str) -> str:
    y = _TOP + _PLOT * (1 - height)
    line = f'<line class="line" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + _text(_LEFT - 6, y + 4, label, "end", "axis")


def _base(floor: float) -> str:
    return f'<line class="base" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{floor}" y2="{floor}"/>'


def _marked(mark: Mark, floor: float) -> list[str]:
    x = _LEFT + (WIDTH - _LEFT - _RIGHT) * min(max(mark.position, 0.0), 1.0)
    anchor, shift = ("end", -4) if mark.position > 0.5 else ("start", 4)
    line = f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{floor}"/>'
    return [line, _text(x + shift, 12, mark.label, anchor, "marked")]


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    if height <= 0 or width <= 0:
        return ""
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(visible(text))}</text>'


def _svg(title: str, description: str, height: float, parts: Sequence[str]) -> str:
    """Return the drawing, with a title and a description of all its values for screen readers."""
    name = escaped(visible(title))
    return (
        f'<svg role="img" aria-label="{name}" viewBox="0 0 {WIDTH} {height:.0f}">'
        f"<title>{name}</title><desc>{escaped(visible(description))}</desc>{''.join(parts)}</svg>"
    )
