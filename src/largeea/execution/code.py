"""Fingerprints of our own code: a stored result counts only while the code that made it is unchanged.

A function's fingerprint is a hash over the source of its module and of every module of this package that it
imports, directly or not. Left out are modules that cannot change an answer: settings are part of a stage's
key by their values, and execution, run folders, progress and messages only carry the work out.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from largeea.hashing import file_hash
from largeea.plugins import Registry

PACKAGE = "largeea"
ROOT = Path(__file__).parents[1]
NEUTRAL = tuple(
    f"largeea.{name}"
    for name in ("config", "errors", "execution", "hashing", "plugins", "progress", "runs", "version")
)
"""Modules (and packages) that never change an answer."""
_IMPORT = re.compile(
    rf"^[ \t]*(?:import[ \t]+({PACKAGE}[\w.]*)"
    rf"|from[ \t]+({PACKAGE}[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*))",
    re.MULTILINE,
)


def code_fingerprint(function: Callable[..., Any]) -> str:
    """A hash that changes with the function's code and everything in this package that it builds on."""
    return module_fingerprint(function.__module__)


@cache
def module_fingerprint(module: str) -> str:
    """The same for a whole module, by its dotted name."""
    digest = hashlib.sha256()
    for name in sorted(_closure(module)):
        digest.update(f"{name}\n".encode() + _digest(name))
    return digest.hexdigest()


@cache
def _digest(module: str) -> bytes:
    return hashlib.sha256(source_of(module)).digest()


def plugin_fingerprint(registry: Registry, name: str) -> str:
    """A hash that changes with the code of a plug-in, built-in or from another package.

    Plug-ins are found by name, so they are not among the imports of the code that uses them.
    """
    point = registry.find(name)
    if name in registry.built_in:
        return module_fingerprint(point.module)
    source = importlib.util.find_spec(point.module)
    if source is not None and source.origin is not None and Path(source.origin).is_file():
        return f"{point.value} {file_hash(Path(source.origin))}"
    return f"{point.value} {point.dist.version if point.dist else ''}"


def source_of(module: str) -> bytes:
    """The source text of a module; empty for one that is not part of this package."""
    path = _files().get(module)
    return b"" if path is None else path.read_bytes()


@cache
def imports_of(module: str) -> frozenset[str]:
    """Modules of this package that a module imports by name."""
    found: set[str] = set()
    for whole, package, names in _IMPORT.findall(source_of(module).decode("utf-8")):
        found.update(_modules_of(whole or package))
        for name in re.findall(r"\w+", names):
            found.update(_modules_of(f"{package}.{name}"))
    return frozenset(found) - {PACKAGE}


@cache
def _closure(module: str) -> frozenset[str]:
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen and not _is_neutral(name):
            seen.add(name)
            waiting.extend(imports_of(name))
    return frozenset(seen)


def _is_neutral(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in NEUTRAL)


def _modules_of(name: str) -> Iterator[str]:
    """The module itself and the packages it lies in, as far as they are files of this package."""
    parts = name.split(".")
    for end in range(2, len(parts) + 1):
        module = ".".join(parts[:end])
        if module in _files():
            yield module


@cache
def _files() -> dict[str, Path]:
    """The files of this package by the names of the modules that they define."""
    return {_module_in(path): path for path in ROOT.rglob("*.py")}


def _module_in(path: Path) -> str:
    parts = (PACKAGE, *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
