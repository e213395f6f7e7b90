"""A picture of a partition: seeds between parts, and sizes of batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from largeea.graph import Task
from largeea.structure.partition.parts import Assignment
from largeea.structure.partition.quality import batch_sizes, seed_overlap

SIDE, MARGIN = 360, 56
COLORS = {"source": "#3b6ea5", "target": "#d98b3a", "seeds": "#5c9e6f"}


def picture(task: Task, assignment: Assignment) -> str:
    """An SVG document: a heat map of the seeds between parts, `[k, k]`, and bars for the batch sizes.

    A good partition shows a dark diagonal and bars of equal height.
    """
    width, height = 2 * SIDE + 3 * MARGIN, SIDE + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" text-anchor="middle" fill="#333">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<g transform="translate({MARGIN} {MARGIN})">',
        *_matrix(task, assignment),
        f'</g><g transform="translate({2 * MARGIN + SIDE} {MARGIN})">',
        *_bars(task, assignment),
        "</g></svg>",
    ]
    return "\n".join(lines) + "\n"


def _matrix(task: Task, assignment: Assignment) -> Iterator[str]:
    seeds, cell = seed_overlap(assignment, task.seeds), SIDE / assignment.k
    yield _text(SIDE / 2, -MARGIN / 3, "seeds by source part (down) and target part (across)")
    for (row, column), count in np.ndenumerate(seeds):
        shade = count / max(int(seeds.max()), 1)
        yield (
            f'<rect x="{column * cell:.1f}" y="{row * cell:.1f}" width="{cell:.1f}" height="{cell:.1f}" '
            f'fill="{COLORS["seeds"]}" fill-opacity="{shade:.3f}" stroke="#ddd">'
            f"<title>source part {row}, target part {column}: {count} seeds</title></rect>"
        )
        if count and cell >= 30:
            yield _text((column + 0.5) * cell, (row + 0.5) * cell + 4, str(count))


def _bars(task: Task, assignment: Assignment) -> Iterator[str]:
    sizes = batch_sizes(task, assignment)
    largest = max(max(counts) for counts in sizes.values()) or 1
    group = SIDE / assignment.k
    bar = group / (len(sizes) + 1)
    yield _text(SIDE / 2, -MARGIN / 3, f"entities and seeds in each batch (highest bar: {largest:,})")
    yield f'<path d="M0 {SIDE}H{SIDE}" stroke="#999"/>'
    for place, (kind, counts) in enumerate(sizes.items()):
        yield f'<g fill="{COLORS[kind]}">{_text((place + 0.5) * SIDE / 3, SIDE + MARGIN / 2, kind)}'
        for batch, count in enumerate(counts):
            height = SIDE * count / largest
            yield (
                f'<rect x="{batch * group + (place + 0.5) * bar:.1f}" y="{SIDE - height:.1f}" '
                f'width="{bar:.1f}" height="{height:.1f}"><title>batch {batch}: {count} {kind}</title></rect>'
            )
        yield "</g>"


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}">{text}</text>'
