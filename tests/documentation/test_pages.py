"""The commands and programs of every page run, and what a page shows is what they print and write."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from largeea.cli import COMMANDS, make_app
from pages import PAGES, PROGRAMS, blocks, carry_out, check, command_lines, parse

INDENTED = tuple(f"    {program}" for program in PROGRAMS)
OWN_RUN = re.compile(r"-o run(?![\w-])")
"""A page that makes a run called `run` starts without the prepared one, which is about other graphs."""
NEEDS = {"tables.md": "openpyxl", "paper.md": "torch"}
"""Pages whose commands need a package of an extra."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_is_true(page: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    if OWN_RUN.search(page.read_text("utf-8")):
        shutil.rmtree(place / "run")
    printed, space, given = "", dict[str, Any](), {path.name for path in place.iterdir()}
    for block in blocks(page):
        if block.is_commands:
            for words, code in command_lines(block.text):
                check(words) if block.reason else carry_out(words, code)
            printed = capsys.readouterr().out
        elif block.reason:
            continue
        elif block.kind == "text" and not block.file:
            missing = [line for line in block.text.splitlines() if line not in printed]
            assert not missing, f"{missing} not in:\n{printed}"
        elif block.kind == "python":
            exec(compile(block.text, page.name, "exec"), space)
        elif block.file and block.file not in given and (place / block.file).exists():
            assert (place / block.file).read_text("utf-8") == block.text
        elif block.file:
            (place / block.file).write_text(block.text, "utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_stand_in_blocks(page: Path) -> None:
    indented = [line for line in page.read_text("utf-8").splitlines() if line.startswith(INDENTED)]
    assert not indented, "put them into a block that begins with ```sh"


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_of_commands_parse(name: str) -> None:
    app = make_app([name])
    shown = [each.epilog for each in (*app.registered_commands, *_of_groups(app))]
    examples = [line.strip("`") for text in filter(None, shown) for line in text.splitlines() if "`" in line]
    assert examples
    for example in examples:
        ((words, _),) = command_lines(example)
        parse(words[1:])


def _of_groups(app: Any) -> list[Any]:
    return [
        command for group in app.registered_groups for command in group.typer_instance.registered_commands
    ]
