"""Modules that are imported when something of theirs is first used.

Who looks at a run, or goes on with one that has nearly come to its end, does not wait for all that computes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """Stands for a module: `names = Later("largeea.names.channel")`."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self._module), name)
