"""`sp`: scipy.sparse, imported when it is first used: who makes no matrix does not wait for it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["sp"]

if TYPE_CHECKING:
    import scipy.sparse as sp
else:

    class _Later:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("scipy.sparse"), name)

    sp = _Later()
