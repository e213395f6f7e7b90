"""What tests of several commands use."""

from __future__ import annotations

import pytest

from largeea import pipeline
from largeea.cli import align


@pytest.fixture
def computed(monkeypatch):
    """The first and the last step of the method, each time that it is carried out."""
    made: list[str] = []

    def counting(name, original):
        def step(*arguments):
            made.append(name)
            return original(*arguments)

        return step

    monkeypatch.setattr(align, "read_task", counting("read", align.read_task))
    monkeypatch.setattr(pipeline, "fused_channels", counting("fuse", pipeline.fused_channels))
    return made
