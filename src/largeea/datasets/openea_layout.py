"""Writes a pair in the layout of the OpenEA benchmarks: tab-separated IRIs, one statement or link a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Int32, Pair, Strings

_LINES_AT_ONCE = 1 << 18
_TAB, _LINE_END, _NOTHING = (pa.scalar(text, pa.large_string()) for text in ("\t", "\n", ""))


def write_pair(pair: Pair, folder: Path) -> None:
    """Write `rel_triples_1/2`, `attr_triples_1/2` and `ent_links` into `folder`, which is created if needed.

    A graph without literals has no `attr_triples`. The layout cannot store tags of literals, folds, or
    entities without a statement or link; tabs and line breaks in literals become spaces.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for side, graph in enumerate((pair.source, pair.target), start=1):
        entities, literals = graph.entities, graph.attributes
        _write_lines(folder / f"rel_triples_{side}", graph.triples, entities, graph.relations, entities)
        values = pc.replace_substring_regex(literals.values, r"[\t\r\n]", " ")
        path = folder / f"attr_triples_{side}"
        if len(literals):
            _write_lines(path, literals.rows[:, :3], entities, literals.predicates, values)
        else:
            path.unlink(missing_ok=True)
    _write_lines(folder / "ent_links", pair.links.pairs, pair.source.entities, pair.target.entities)


def _write_lines(path: Path, rows: Int32, *columns: Strings) -> None:
    """Write one line per row of `rows[n, c]`, whose column i holds positions in `columns[i]`."""
    with path.open("wb") as file:
        for start in range(0, len(rows), _LINES_AT_ONCE):
            places = rows[start : start + _LINES_AT_ONCE].T
            cells = [column.take(pa.array(place)) for column, place in zip(columns, places, strict=True)]
            lines = pc.binary_join_element_wise(*cells, _TAB)
            file.write(_text(pc.binary_join_element_wise(lines, _NOTHING, _LINE_END)))


def _text(lines: Strings) -> memoryview:
    """The bytes of all lines as one buffer, without copying."""
    _, offsets, data = lines.buffers()
    end = np.frombuffer(offsets, np.int64, len(lines) + 1)[-1]
    return memoryview(data)[:end]
