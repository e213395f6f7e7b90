"""The reference pages name every command, every setting and every public name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import largeea
from largeea.cli import COMMANDS
from largeea.config import Config
from pages import ROOT

sys.path.insert(0, str(ROOT / "docs"))
from generated import PARTS, with_generated_parts


def test_every_command_is_there() -> None:
    page = PARTS["commands"]()
    assert not [name for name in COMMANDS if f"## largeea {name}\n" not in page]
    assert "`--not-links`" in page
    assert "| `SOURCE` |" in page


def test_every_setting_is_there_and_described() -> None:
    page = PARTS["settings"]()
    for section, values in Config().model_dump().items():
        for key in values if isinstance(values, dict) else ():
            (row,) = [line for line in page.splitlines() if line.startswith(f"| `{section}.{key}` | ")]
            assert row.split(" | ")[3].strip(" |"), f"{section}.{key} has no description"


def test_every_public_name_is_there_with_its_docstring() -> None:
    page = PARTS["python"]()
    assert not [name for name in largeea.__all__ if name != "__version__" and f"### {name}\n" not in page]
    assert "Find the entities of two graphs that are the same thing" in page


@pytest.mark.parametrize("name", PARTS)
def test_a_page_gets_its_part(name: str) -> None:
    page = {"python": "python-api"}.get(name, name)
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    assert PARTS[name]() in with_generated_parts(text)


def test_every_column_of_a_run_is_explained(prepared: Path) -> None:
    page = (ROOT / "docs" / "outputs.md").read_text("utf-8")
    tables = list((prepared / "run").glob("*.tsv"))
    assert {"alignment.sssom.tsv", "doubtful.tsv", "unmatched.tsv"} <= {table.name for table in tables}
    for table in tables:
        header = next(line for line in table.read_text("utf-8").splitlines() if not line.startswith("#"))
        assert not [column for column in header.split("\t") if f"`{column}`" not in page], table.name
