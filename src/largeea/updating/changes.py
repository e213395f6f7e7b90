"""What an update changes: links that are new, changed or gone, and the confidence that links had before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.links.text import BATCH_ROWS, joined
from largeea.formats.links.tsv import write_header, write_rows
from largeea.graph import Arrays, Float32, Int64, KnowledgeGraph, Strings, strings
from largeea.matching.alignment import Alignment
from largeea.runs.files import atomic_write

FILE_NAME = "changes.tsv"
CHANGES = "new", "changed", "gone", "held"
NEW, CHANGED, GONE, HELD = range(4)
HEADER = "change", "source", "target", "confidence", "earlier_target", "earlier_confidence"


def link_changes(
    old_source: KnowledgeGraph,
    old_target: KnowledgeGraph,
    old_answer: Arrays,
    old_changes: dict[str, Any] | None,
    moved: Arrays,
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    answer: Arrays,
) -> dict[str, Any]:
    """The accepted links in their order, then those that are gone, and what became of each, as columns.

    `change` is a place in `CHANGES`: the source has no earlier link, or another one, which does not hold any
    more (`earlier_target`); its link does not hold and there is no other; the link is the same as before.
    `earlier_confidence[n, updates]` is what the link had in each earlier run, NaN where it was not accepted.
    """
    before = Alignment.from_arrays(old_source, old_target, old_answer).links
    now = Alignment.from_arrays(source, target, answer).links
    assert before.weight is not None
    assert now.weight is not None
    start, end = moved["source"][before.source], moved["target"][before.target]
    pair_before = np.where((start >= 0) & (end >= 0), start.astype(np.int64) * target.size + end, -1)
    pair_now = now.source.astype(np.int64) * target.size + now.target
    held = _places(pair_now, pair_before)
    lost = ~np.isin(pair_before, pair_now)
    lost_by = np.full(source.size, -1, np.int64)
    lost_by[start[lost & (start >= 0)]] = np.flatnonzero(lost & (start >= 0))
    replaced = np.where(held >= 0, -1, lost_by[now.source])
    lost[replaced[replaced >= 0]] = False
    gone = np.flatnonzero(lost)
    known = (
        np.empty((len(before), 0), np.float32) if old_changes is None else old_changes["earlier_confidence"]
    )
    history = np.column_stack([known[: len(before)], before.weight])
    earlier = np.where(held[:, None] >= 0, history[held], np.float32(np.nan))
    change = np.where(held >= 0, HELD, np.where(replaced >= 0, CHANGED, NEW))
    ends_now = source.entities.take(now.source), target.entities.take(now.target)
    ends_gone = old_source.entities.take(before.source[gone]), old_target.entities.take(before.target[gone])
    earlier_target = pa.array(np.append(before.target, 0)[replaced], mask=replaced < 0)
    return {
        "change": np.concatenate([change, np.full(len(gone), GONE)]).astype(np.int8),
        "source": pa.concat_arrays([ends_now[0], ends_gone[0]]),
        "target": pa.concat_arrays([ends_now[1], ends_gone[1]]),
        "confidence": np.concatenate([now.weight, np.full(len(gone), np.nan, np.float32)]),
        "earlier_target": pa.concat_arrays(
            [old_target.entities.take(earlier_target), strings([None] * len(gone))]
        ),
        "earlier_confidence": np.concatenate([earlier, history[gone]]).astype(np.float32),
    }


def count_changes(changes: dict[str, Any]) -> dict[str, int]:
    """The number of links by what became of them."""
    return dict(zip(CHANGES, np.bincount(changes["change"], minlength=len(CHANGES)).tolist(), strict=True))


def write_changes(changes: dict[str, Any], folder: Path) -> str:
    """Write what became of each link, those that hold last, as tab-separated text; the name of the file."""
    order = np.argsort(changes["change"], kind="stable")

    def columns(rows: Int64) -> list[pa.Array]:
        earlier = [_number(column) for column in changes["earlier_confidence"][rows].T]
        return [
            strings(CHANGES).take(pa.array(changes["change"][rows])),
            changes["source"].take(rows),
            changes["target"].take(rows),
            _number(changes["confidence"][rows]),
            changes["earlier_target"].take(rows),
            pc.utf8_trim_whitespace(joined(*earlier, separator=" ")),
        ]

    with atomic_write(folder / FILE_NAME) as file:
        write_header(file, HEADER)
        write_rows(file, (columns(order[at : at + BATCH_ROWS]) for at in range(0, len(order), BATCH_ROWS)))
    return FILE_NAME


def _number(column: Float32) -> Strings:
    """Numbers as text with three digits, null for NaN."""
    rounded = pc.round(pa.array(column, pa.float64(), from_pandas=True), 3)
    return rounded.cast(pa.large_string())


def _places(wanted: Int64, among: Int64) -> Int64:
    """The position of each number among others, -1 if it is not there."""
    order = np.argsort(among, kind="stable")
    place = np.minimum(np.searchsorted(among[order], wanted), len(among) - 1)
    if not len(among):
        return np.full(len(wanted), -1, np.int64)
    return np.where(among[order[place]] == wanted, order[place], -1)
