"""Small HTML tables for notebooks; all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

ROWS_SHOWN = 10
"""Rows that a notebook shows of a graph or an alignment."""
_LONGEST = 80


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], left_out: int = 0) -> str:
    """A table with a caption; `left_out` rows more are only counted. None is an empty cell."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    more = f'<tr><td colspan="{len(header)}">and {left_out:,} more</td></tr>' if left_out > 0 else ""
    caption = f'<caption style="text-align: left">{escape(title)}</caption>'
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
