"""The frame of a page, and text from data made safe for HTML."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

from largeea.report.style import STYLE
from largeea.version import __version__

LONGEST_TEXT = 160
"""Characters of a name, an IRI or a value that are shown."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_JOINERS = "\u200c\u200d"
"""Invisible characters that some scripts need to be written correctly."""


def visible(text: str) -> str:
    """Return the text with control, bidirectional and unassigned characters spelt out, such as `‹U+202E›`."""
    return "".join(c if _is_harmless(c) else f"\u2039U+{ord(c):04X}\u203a" for c in text)


def _is_harmless(character: str) -> bool:
    kind = unicodedata.category(character)
    return character in _JOINERS or (kind[0] != "C" and kind not in ("Zl", "Zp"))


def escaped(text: object) -> str:
    """Return any value as HTML text, for the words of this program and for numbers."""
    return html.escape(str(text))


def shown(text: str | None, longest: int = LONGEST_TEXT) -> str:
    """Return text from data as HTML: visible, cut to `longest` characters, and apart in its direction."""
    if text is None:
        return '<span class="none">no name</span>'
    safe = visible(text[: longest + 1])
    cut = safe if len(safe) <= longest else safe[: longest - 1] + "\u2026"
    return f"<bdi>{html.escape(cut)}</bdi>"


def number(count: float) -> str:
    """Return a whole number with separators, such as 14,102."""
    return f"{count:,.0f}"


def share(part: float) -> str:
    """Return a share as a percentage; 0% and 100% only if that is exact."""
    percent = 100 * part
    if 0 < percent < 0.1:
        return "under 0.1%"
    if 99.9 < percent < 100:
        return "over 99.9%"
    return f"{percent:.0f}%" if percent == round(percent) else f"{percent:.1f}%"


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return a number and its noun, such as "1 pair" or "2 pairs"."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "figures") -> str:
    """Return a table. Cells are HTML; its kind is `figures` (right-aligned but for the first) or `words`."""
    head = "".join(f'<th scope="col">{shown(title)}</th>' for title in header)
    lines = (
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="wide"><table class="{kind}"><caption>{escaped(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def section(title: str, *content: str, identifier: str = "") -> str:
    """Return a section with a heading; empty if it has no content."""
    body = "".join(content)
    anchor = f' id="{identifier}"' if identifier else ""
    return f"<section{anchor}><h2>{escaped(title)}</h2>{body}</section>\n" if body else ""


def side_by_side(*parts: str) -> str:
    """Return parts of a section next to each other where the screen is wide enough."""
    return f'<div class="charts">{"".join(parts)}</div>'


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of HTML text."""
    return f'<p class="{kind}">{text}</p>' if kind else f"<p>{text}</p>"


def page(title: str, subtitle: str, body: str) -> str:
    """Return a whole HTML document that loads nothing and runs no scripts. `title` is plain text."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="largeea {escaped(__version__)}">
<title>{html.escape(visible(title[:LONGEST_TEXT]))}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header><p class="kicker">{escaped(subtitle)}</p><h1>{shown(title)}</h1></header>
{body}<footer>Written by largeea {escaped(__version__)}.</footer>
</main>
</body>
</html>
"""
