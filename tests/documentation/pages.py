"""Pages of the documentation as blocks, and how their commands are run."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from largeea.cli import make_app, run

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"results.md"}
"""Pages that `make results` writes; they quote commands but have no blocks of their own."""
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")),
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in GENERATED),
]
PROGRAMS = ("largeea ", "python ", "pip ", "make ", "ray ", "curl ")
_BLOCK = re.compile(
    r"(?:^`(?P<file>[\w./-]+)`[^\n]*:\n\n)?(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_REQUIREMENT = re.compile(r"(?:largeea|\.)(?:\[([\w,-]+)\])?")


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind (`sh`, `python`, `text`, …), its text, and what stands above it."""

    kind: str
    text: str
    file: str | None
    """The file that the block shows."""
    reason: str | None
    """Why it is not run."""

    @property
    def is_commands(self) -> bool:
        """Whether it holds commands: by its mark, or by its first word."""
        return self.kind == "sh" or (not self.kind and self.text.startswith(PROGRAMS))


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for found in _BLOCK.finditer(page.read_text("utf-8")):
        yield Block(found["kind"], found["text"], found["file"], found["reason"])


def command_lines(text: str) -> Iterator[tuple[list[str], int]]:
    """The commands of a block as words, each with the exit code that its remark promises, 0 without one."""
    for line in text.replace("\\\n", " ").splitlines():
        if words := shlex.split(line, comments=True):
            promised = re.search(r"# exit code (\d+)", line)
            yield words, int(promised[1]) if promised else 0


def carry_out(words: list[str], code: int) -> None:
    """Run a command of a page as far as a test can, and compare its exit code."""
    program, *arguments = words
    if program == "largeea":
        assert run(arguments) == code, " ".join(words)
    elif program == "python":
        _run_script(arguments)
    elif program == "pip":
        assert _installable(arguments), " ".join(words)
    elif program == "make":
        makefile = (ROOT / "Makefile").read_text("utf-8")
        assert re.search(rf"^{arguments[0]}:", makefile, re.MULTILINE), f"no target {arguments[0]}"
    else:
        pytest.fail(f"{shlex.join(words)}: mark the block as not run, with a reason")


def check(words: list[str]) -> None:
    """Check a command that is not run: its options have to be known, or its script has to exist."""
    program, *arguments = words
    if program == "largeea":
        parse(arguments)
    elif program == "python" and arguments[0].endswith(".py"):
        assert (ROOT / arguments[0]).is_file(), arguments[0]
    elif program == "pip":
        assert _installable(arguments) or (ROOT / arguments[-1]).is_dir(), " ".join(words)


def parse(arguments: list[str]) -> None:
    """Parse the arguments of `largeea` without running the command; an unknown option is an error."""
    command: Any = typer.main.get_command(make_app(arguments))
    context, rest = command.make_context("largeea", list(arguments)), list(arguments)
    while hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)


def _run_script(arguments: list[str]) -> None:
    before = sys.argv
    sys.argv = arguments
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    finally:
        sys.argv = before


def _installable(arguments: list[str]) -> bool:
    """Whether `pip install` names this package and extras that it has."""
    command, *given = arguments
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    found = [_REQUIREMENT.fullmatch(each) for each in given if not each.startswith("-")]
    return command == "install" and all(
        each and set((each[1] or "").split(",")) <= {"", *known} for each in found
    )
