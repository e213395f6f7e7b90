"""Tables: figures of cells as rows, and rows as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from largeea.experiments.cells import Value
from largeea.experiments.measure import Figures

Row = dict[str, Value]
NOTHING = "–"
"""Placeholder for a missing figure."""


@dataclass(frozen=True)
class Column:
    """A column of figures: its title with the unit, how to get it from a cell's figures, and its format."""

    title: str
    of: Callable[[Figures], Value]
    form: str = ".3f"


def find(*path: str) -> Callable[[Figures], Value]:
    """A getter for the figure at this path, or None; `find("seconds", "total")`."""

    def look(figures: Figures) -> Value:
        here: Any = figures
        for key in path:
            here = here.get(key) if isinstance(here, dict) else None
        return here if isinstance(here, int | float | str) else None

    return look


def mean(*path: str) -> Callable[[Figures], Value]:
    """A getter for the mean over random splits of the figure at this path."""

    def look(figures: Figures) -> Value:
        found = [find(*path)(one) for one in figures.get("splits", ())]
        numbers = [value for value in found if isinstance(value, int | float)]
        return fmean(numbers) if numbers else None

    return look


def total(group: str, *starts: str) -> Callable[[Figures], Value]:
    """A getter for the sum of a group's figures by name prefix: `total("seconds", "anchors-")`."""

    def look(figures: Figures) -> Value:
        found = [value for key, value in figures.get(group, {}).items() if key.startswith(starts)]
        return sum(found) if found else None

    return look


def peak(kind: str, *starts: str) -> Callable[[Figures], Value]:
    """A getter for the peak memory, `host` or `gpu`, of stages by name prefix; None if there is none."""

    def look(figures: Figures) -> Value:
        used = figures.get("memory_mb", {})
        return max((used[stage][kind] for stage in used if stage.startswith(starts)), default=0) or None

    return look


def without_empty(rows: Sequence[Row]) -> list[Row]:
    """Drop the columns that are empty in every row."""
    kept = [title for title in rows[0] if any(row[title] is not None for row in rows)] if rows else []
    return [{title: row[title] for title in kept} for row in rows]


def markdown(rows: Sequence[Row], forms: dict[str, str]) -> str:
    """A Markdown table with figures right-aligned."""
    header = list(rows[0])
    lines = [[printed(row[title], forms.get(title, "")) for title in header] for row in rows]
    return plain_markdown(header, lines, right=[title in forms for title in header])


def plain_markdown(
    header: Sequence[str], lines: Iterable[Sequence[str]], right: Sequence[bool] | None = None
) -> str:
    """A Markdown table of text."""
    rule = ["---:" if figure else "---" for figure in right or [False] * len(header)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *lines))


def printed(value: Value, form: str) -> str:
    """Format a value for a table."""
    if value is None:
        return NOTHING
    return format(value, form) if form and not isinstance(value, str) else str(value)


def comma_separated(rows: Sequence[Row]) -> str:
    """The rows as CSV, unrounded."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
