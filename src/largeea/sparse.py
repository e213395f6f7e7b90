"""`sp`: scipy.sparse, imported when it is first used: who makes no matrix does not wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from largeea.later import Later

__all__ = ["sp"]

if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = Later("scipy.sparse")
