"""A quick start: what would be loaded or done in every command, although no command needs it, is left out.

Only the program `largeea` starts like this. In a process of somebody else, libraries do what they like.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from types import ModuleType


@contextmanager
def quick_start() -> Iterator[None]:
    """Import a command inside this context.

    Imports make a hundred thousand objects that stay. Garbage is not searched for among them, neither now nor
    later. pyarrow takes pandas to be missing: if it is installed, pyarrow loads it to recognise data frames.
    It looks for pandas once, so pandas can be imported afterwards. numba takes yaml to be missing, in which
    it would look for a file of settings. scipy copies all that numpy has, and gets an empty module in place
    of its compiler of Fortran.
    """
    gc.disable()
    try:
        with hidden("pandas"), hidden("yaml"), emptied("numpy.f2py"):
            yield
            if "pyarrow" in sys.modules:
                sys.modules["pyarrow"].scalar("")  # looks for pandas
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def hidden(module: str) -> Iterator[None]:
    """Inside this context, a module that is not imported yet looks as if it were not installed."""
    finder = _Without(module)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def emptied(module: str) -> Iterator[None]:
    """Inside this context, a module of a package is empty, unless it has been imported before."""
    if module in sys.modules:
        yield
        return
    package, _, name = module.rpartition(".")
    sys.modules[module] = stand_in = ModuleType(module)
    setattr(import_module(package), name, stand_in)
    try:
        yield
    finally:
        del sys.modules[module]
        delattr(sys.modules[package], name)


class _Without(MetaPathFinder):
    """Says that one module is not installed, and leaves all others to the next finder."""

    def __init__(self, module: str) -> None:
        self._module = module

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Find nothing."""
        if fullname == self._module:
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)
