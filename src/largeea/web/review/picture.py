"""The neighbours of a pair as a picture: both entities on top, neighbours below, matched ones linked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from html import escape
from typing import Literal, NamedTuple

from largeea.report.page import visible
from largeea.web.review.neighbours import Neighbour, Neighbourhood

Theme = Literal["light", "dark"]
ROW, BOX, HEAD, MARGIN, INDENT = 54, 30, 38, 1, 20
"""Heights of a row, of a box and of the head; space at the edge; indentation of the neighbours, in pixels."""
NARROWEST, WIDEST = 280, 1100
NARROW_GAP, WIDE_GAP = 24, 116
"""Between the two sides, where the links are; the wide one is that of the page's columns."""
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


class Palette(NamedTuple):
    """Colours of a theme."""

    ink: str
    quiet: str
    line: str
    box: str
    link: str


PALETTES: dict[Theme, Palette] = {
    "light": Palette("#1d2530", "#566273", "#aab4c0", "#ffffff", "#0b6b58"),
    "dark": Palette("#e8ecf1", "#a9b4c2", "#556170", "#1b222b", "#6fd3bb"),
}


def draw(names: tuple[str, str], found: Neighbourhood, width: int, theme: Theme) -> str:
    """Return the picture as an SVG document of this width; all text in it is escaped."""
    width = min(max(width, NARROWEST), WIDEST)
    return _Drawing(width, PALETTES[theme]).document(names, found)


class _Drawing:
    def __init__(self, width: int, palette: Palette) -> None:
        self._width, self._palette = width, palette
        self._half = (width - (NARROW_GAP if width < 700 else WIDE_GAP)) // 2 - MARGIN
        """Width of either side; the links are between them."""

    def document(self, names: tuple[str, str], found: Neighbourhood) -> str:
        body = list(self._body(names, found))
        rows = self._rows(found)
        height = HEAD + ROW * rows + 10
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{height}" '
            f'viewBox="0 0 {self._width} {height}" font-family="{_FONT}" font-size="13">'
            + "".join(body)
            + "</svg>"
        )

    def _rows(self, found: Neighbourhood) -> int:
        alone = max(len(found.source), len(found.target))
        return len(found.matched) + alone

    def _body(self, names: tuple[str, str], found: Neighbourhood) -> Iterator[str]:
        count = len(found.matched)
        for right, alone in ((False, found.source), (True, found.target)):
            rows = [(place, pair[right], True) for place, pair in enumerate(found.matched)]
            rows += [(count + place, one, False) for place, one in enumerate(alone)]
            if rows:
                yield self._spine(right, rows[-1][0])
            for place, neighbour, matched in rows:
                yield from self._neighbour(right, place, neighbour, matched)
            yield from self._entity(right, names[right])
        for place in range(count):
            yield self._link(place)

    def _left(self, right: bool) -> int:
        return self._width - self._half - MARGIN if right else MARGIN

    def _entity(self, right: bool, name: str) -> Iterator[str]:
        x, colours = self._left(right), self._palette
        yield (
            f'<rect x="{x}" y="1" width="{self._half}" height="{BOX}" rx="5" fill="{colours.ink}"/>'
            f'<text x="{x + 11}" y="21" font-weight="600" fill="{colours.box}">'
            f"{self._fit(name, self._half - 22, 8.4)}</text>"
        )

    def _spine(self, right: bool, last: int) -> str:
        x = self._left(right) + (self._half - 10 if right else 10)
        y = self._top(last) + BOX // 2
        return f'<path d="M{x} {BOX}V{y}" stroke="{self._palette.line}" stroke-width="1.5" fill="none"/>'

    def _top(self, place: int) -> int:
        """Upper edge of the box in a row; the relation is written above it."""
        return HEAD + ROW * place + 20

    def _neighbour(self, right: bool, place: int, one: Neighbour, matched: bool) -> Iterator[str]:
        colours, top = self._palette, self._top(place)
        x = self._left(right) + (0 if right else INDENT)
        width = self._half - INDENT
        spine = self._left(right) + (self._half - 10 if right else 10)
        edge = x + width if right else x
        dashes = "" if matched else ' stroke-dasharray="4 3"'
        stroke = colours.link if matched else colours.line
        relation = f"← {one.relation}" if one.inverse else f"{one.relation} →"
        yield (
            f'<path d="M{spine} {top + BOX // 2}H{edge}" stroke="{colours.line}" stroke-width="1.5"/>'
            f'<text x="{x + 2}" y="{top - 5}" font-size="11.5" fill="{colours.quiet}">'
            f"{self._fit(relation, width, 6.4)}</text>"
            f'<rect x="{x}" y="{top}" width="{width}" height="{BOX}" rx="5" fill="{colours.box}" '
            f'stroke="{stroke}" stroke-width="{1.5 if matched else 1}"{dashes}/>'
            f'<text x="{x + 10}" y="{top + 20}" fill="{colours.ink if matched else colours.quiet}">'
            f"{self._fit(one.name, width - 20)}</text>"
        )

    def _link(self, place: int) -> str:
        start, end = self._left(False) + self._half, self._left(True)
        y = self._top(place) + BOX // 2
        return "".join(
            f'<path d="M{start} {y + shift}H{end}" stroke="{self._palette.link}" stroke-width="1.5"/>'
            for shift in (-2.5, 2.5)
        )

    def _fit(self, text: str, width: float, unit: float = 7.3) -> str:
        """Return the text, escaped and cut to this width; `unit` is the width of a common letter."""
        text, room, kept = visible(text), width / unit, 0.0
        for place, letter in enumerate(text):
            kept += 1.75 if unicodedata.east_asian_width(letter) in "WF" else 1.0
            if kept > room:
                return escape(text[: max(place - 1, 1)].rstrip()) + "…"
        return escape(text)
