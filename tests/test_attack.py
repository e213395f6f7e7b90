"""A little of every attack that is quick enough; `python -m benchmarks.attack` does the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


NEEDED = {"kills": "matplotlib", "texts": "starlette", "files": "openpyxl"}
"""The package of an extra that a campaign attacks."""


@pytest.mark.parametrize("campaign", ["kills", "texts", "artifacts", "files", "downloads"])
def test_nothing_falls(campaign: str, tmp_path: Path) -> None:
    """In a process of its own: one that has computed cannot be forked. The user's data stay untouched."""
    if campaign in NEEDED:
        pytest.importorskip(NEEDED[campaign])
    command = [sys.executable, "-m", "benchmarks.attack", "--only", campaign, "--most", "1"]
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"LARGEEA_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "fell" in ended.stdout
    assert not list(tmp_path.iterdir())
