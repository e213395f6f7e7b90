"""Shared fixtures."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real benchmark data; tests that need it skip where it is absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LARGEEA_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no benchmark data at {folder}; set LARGEEA_DATA to its place")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; tests that need it skip where it is absent, unless LARGEEA_BROWSER says it must be there."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None and "LARGEEA_BROWSER" not in os.environ:
        pytest.skip("no Chromium is installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()
