"""The page about merging: its files are written, its commands are run, and what it shows is compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from largeea.cli import run as command

PAGE = Path(__file__).parents[2] / "docs" / "merging.md"
BLOCK = re.compile(r"(?:`(?P<file>[\w.]+)`[^\n]*:\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)


def test_the_page_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said, commands = "", 0
    for block in BLOCK.finditer(PAGE.read_text()):
        kind, text = block["kind"], block["text"]
        if kind == "console":
            for line in text.splitlines():
                assert command(shlex.split(line)[1:]) == 0, line
                commands += 1
            said = capsys.readouterr().out
        elif kind == "text":
            assert [line for line in text.splitlines() if line not in said] == []
        elif kind == "python":
            exec(text, {})
        elif Path(block["file"]).exists():
            assert Path(block["file"]).read_text() == text
        else:
            Path(block["file"]).write_text(text)
    assert commands == 8
    assert Path("merged.conflicts.tsv").exists()
