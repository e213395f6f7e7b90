"""The page about updates: its files are written, its commands are run, and what it says is compared."""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from largeea.cli import run as command
from largeea.updating.update import MOST_CHANGED

PAGE = (Path(__file__).parents[2] / "docs" / "updating.md").read_text("utf-8")


@pytest.mark.filterwarnings("ignore::largeea.LargeEAWarning")
def test_the_page_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"`([\w-]+\.ttl)`[^\n]*:\n\n```turtle\n(.*?)```", PAGE, re.DOTALL):
        Path(name).write_text(text, "utf-8")
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL):
        for line in block.splitlines():
            assert command(shlex.split(line)[1:]) == 0, line
    with Path("run2/changes.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert Counter(row["change"] for row in rows) == {"gone": 2, "new": 3, "held": 6}
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(program, {})


def test_the_limit_is_the_one_of_the_page() -> None:
    assert f"add up to more than {MOST_CHANGED:.0%}" in PAGE.replace("\n", " ").replace(" %", "%")
