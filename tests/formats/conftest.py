"""Files with a given content."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Makes a file with this name and content."""

    def make(name: str, content: str | bytes) -> Path:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / name

    return make
