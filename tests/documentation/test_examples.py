"""The stories in `examples/` run, and their answers are as good as their pages say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from pages import ROOT

STORIES = {"thesauri": 0.9, "ontologies": 0.8, "places": 0.8}
"""The least F1 of each story."""


@pytest.mark.parametrize("story", STORIES)
def test_a_story_ends_well(story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space = runpy.run_path(str(ROOT / "examples" / story / "align.py"))
    figures = space["main"]()
    assert figures["alignment"]["f1"] >= STORIES[story]


def test_every_story_is_tested() -> None:
    assert {path.parent.name for path in (ROOT / "examples").glob("*/align.py")} == set(STORIES)
