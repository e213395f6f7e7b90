"""What tests of several commands use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from largeea.execution.stages import Handle
from largeea.runs.store import FolderStore


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stages that were computed, not loaded, in the order in which they ended."""
    made: list[str] = []
    save = FolderStore.save

    def recording(store: FolderStore, handle: Handle[Any], *rest: Any) -> None:
        made.append(handle.name)
        save(store, handle, *rest)

    monkeypatch.setattr(FolderStore, "save", recording)
    return made


@pytest.fixture
def failing() -> Callable[[str, BaseException], AbstractContextManager[None]]:
    """`with failing(stage, error):` a stage fails, if it is not stored already, after what it depends on."""

    @contextmanager
    def fail_at(stage: str, error: BaseException) -> Iterator[None]:
        compute = Handle.compute

        def broken(*_: Any) -> Any:
            raise error

        def compute_or_fail(handle: Handle[Any]) -> Any:
            if handle.name == stage:
                handle._function = broken
            return compute(handle)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Handle, "compute", compute_or_fail)
            yield

    return fail_at
