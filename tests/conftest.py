"""Shared fixtures."""

from __future__ import annotations

import os
from pathlib import Path

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
