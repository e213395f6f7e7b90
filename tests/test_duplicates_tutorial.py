"""The commands and the program of docs/duplicates.md, run in a folder with its tables."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest

from largeea.cli import run

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "duplicates.md").read_text("utf-8")
COMMANDS = [line.partition("  #")[0] for line in PAGE.splitlines() if line.startswith("largeea ")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in re.findall(r"`(\w+\.[ct]sv)`[^\n]*:\n\n```[ct]sv\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(content, "utf-8")
    return tmp_path


def test_every_command_does_what_the_page_says(folder: Path, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert len(COMMANDS) > 5
    for command in COMMANDS:
        assert run(shlex.split(command)[1:]) == 0, f"{command}\n{capsys.readouterr().err}"
    assert clusters(folder / "run") == [{"K1", "K2", "K3"}, {"K4", "K5"}]
    assert unmatched(folder / "run") == {"K6", "K7", "K8"}
    assert clusters(folder / "offers") == [{"O1", "O2", "P1"}, {"O3", "O4", "P2"}]
    shown = capsys.readouterr().out
    assert "b-cubed" in shown
    assert "pairwise" in shown


def test_the_program_runs():
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    space: dict[str, object] = {}
    exec(program, space)
    assert space["duplicates"].clusters.tolist() == [0, 0, -1]  # type: ignore[attr-defined]


def clusters(place: Path) -> list[set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows(place / "clusters.tsv"):
        found.setdefault(row["cluster"], set()).add(row["entity"])
    return list(found.values())


def unmatched(place: Path) -> set[str]:
    return {row["entity"] for row in rows(place / "unmatched.tsv")}


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t"))
