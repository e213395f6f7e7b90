"""The commands of docs/languages.md, run in a folder with its tables."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from largeea.cli import run

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "languages.md").read_text("utf-8")
COMMANDS = [line for line in PAGE.splitlines() if line.startswith("largeea ")]


def test_every_command_finds_what_the_glossary_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in re.findall(r"`(\w+\.[ct]sv)`:\n\n```[ct]sv\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(content, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) == 2
    for line in COMMANDS:
        assert run(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    for folder, order in (("run", slice(None)), ("reversed", slice(None, None, -1))):
        rows = (tmp_path / folder / "alignment.tsv").read_text("utf-8").splitlines()[1:]
        pairs = {tuple(row.split("\t")[:2][order]) for row in rows}
        assert pairs == {("j1", "e1"), ("j2", "e2"), ("j3", "e3"), ("j9", "e9")}
