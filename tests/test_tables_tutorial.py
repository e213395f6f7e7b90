"""The commands and the program of docs/tables.md, run in a folder with its tables."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from largeea.cli import run

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tables.md").read_text("utf-8")
COMMANDS = [line for line in PAGE.splitlines() if line.startswith("largeea ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    pytest.importorskip("openpyxl", reason="needs largeea[xlsx]")
    place = tmp_path_factory.mktemp("tutorial")
    for name, content in re.findall(r"`(\w+\.csv)`[^\n]*:\n\n```csv\n(.*?)```", PAGE, re.DOTALL):
        (place / name).write_text(content, "utf-8")
    shutil.copy(ROOT / "tests" / "formats" / "sound_files" / "records.xlsx", place / "companies.xlsx")
    return place


def test_every_command_does_what_the_page_says(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert len(COMMANDS) > 10
    for line in COMMANDS:
        command, _, remark = line.partition("  # ")
        arguments = shlex.split(command)[1:]
        expected = re.match(r"exit code (\d)", remark)
        code = run(arguments)
        shown = capsys.readouterr()
        assert code == (int(expected[1]) if expected else 0), f"{line}\n{shown.err}"
        if "--" not in line and "companies.csv" in line and "inspect" in line:
            for row in re.findall(r"^\| (\w+) \| (\w+) \| (by its|text|numbers|ids)", PAGE, re.MULTILINE):
                assert all(word in shown.out for word in row), row
    pairs = {(row["source"], row["target"]) for row in pq.read_table("alignment.parquet").to_pylist()}
    assert pairs >= {("C1", "101"), ("C2", "102"), ("C3", "103"), ("C4", "104")}


def test_the_program_runs():
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    space: dict[str, object] = {}
    exec(program, space)
    assert space["alignment"].pairs.tolist() == [[0, 0], [1, 1]]  # type: ignore[attr-defined]
