"""Kernels are compiled when they are first called, and the machine code is kept for later runs."""

from __future__ import annotations

from pathlib import Path

import numba

from largeea.execution.code import ROOT
from largeea.progress import note


def tell_of_compilation() -> None:
    """Tell the user of the wait that a first run has."""
    if not _is_compiled():
        note("first run: compiling numeric code, which takes up to a minute; later runs reuse it")


def _is_compiled() -> bool:
    """Whether numba has an index of compiled code in any of the places where it keeps one."""
    places = [Path(numba.config.CACHE_DIR)] if numba.config.CACHE_DIR else [ROOT]
    places.append(Path.home() / ".cache" / "numba")
    return any(next(place.rglob("*.nbi"), None) for place in places if place.is_dir())
