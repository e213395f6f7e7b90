"""The code cells of docs/notebook.ipynb, run one after another in an empty folder."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "notebook.ipynb"


def run_cell(source: str, space: dict[str, Any]) -> Any:
    """Run a cell; the value of its last line, if that is an expression."""
    lines = ast.parse(source)
    last = lines.body.pop() if isinstance(lines.body[-1], ast.Expr) else None
    exec(compile(lines, "cell", "exec"), space)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), space)


def test_every_cell_runs(tmp_path, monkeypatch):
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    assert notebook["nbformat"] == 4
    assert not any(cell.get("outputs") for cell in notebook["cells"]), "clear the outputs before committing"
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    shown = [
        run_cell("".join(cell["source"]), space) for cell in notebook["cells"] if cell["cell_type"] == "code"
    ]
    assert "Alignment(" in repr(shown[1])
    assert "<table>" in shown[1]._repr_html_()
    assert space["figures"]["alignment"]["f1"] > 0.9
    assert space["explanation"].counterpart.entity.name == "Tunis"
    assert space["explanation"].witnesses
    assert Path("links.sssom.tsv").stat().st_size > 0
    assert len(pq.read_table("candidates.parquet")) == len(space["candidates"]) > 10_000
