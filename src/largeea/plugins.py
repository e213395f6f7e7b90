"""Plug-ins by name: one registry for every kind (models, encoders, partitioners, engines), one message for
what is not installed."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from largeea.errors import UsageError


@dataclass(frozen=True)
class Registry:
    """One kind of plug-in: built-in members and those that other packages register as entry points.

    Example: `Registry("structure model", "largeea.models", {"rrea": "largeea.…:RREA"}, "structure")`.
    """

    kind: str
    group: str
    """The entry-point group that other packages use."""
    built_in: dict[str, str]
    """Name to `module:attribute`."""
    extra: str = ""
    """The extra of this package that built-in members need."""

    def members(self) -> dict[str, EntryPoint]:
        """Every member by name; loading one imports what it needs, not before."""
        ours = {name: EntryPoint(name, place, self.group) for name, place in self.built_in.items()}
        return {point.name: point for point in entry_points(group=self.group)} | ours

    def find(self, name: str) -> EntryPoint:
        """Where the member of that name comes from; packages are only searched for members of others."""
        if name in self.built_in:
            return EntryPoint(name, self.built_in[name], self.group)
        known = self.members()
        if name not in known:
            raise UsageError(f"unknown {self.kind} {name!r}; there are: {', '.join(sorted(known))}")
        return known[name]

    def load(self, name: str) -> Any:
        """The member of that name."""
        point = self.find(name)
        try:
            return point.load()
        except ModuleNotFoundError as error:
            raise not_installed(f"the {self.kind} {name!r}", error.name, self.extra) from error


def optional(module: str, extra: str, what: str = "this") -> Any:
    """The module, which comes with the extra `largeea[extra]`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise not_installed(what, error.name, extra) from error


def not_installed(what: str, package: str | None, extra: str) -> UsageError:
    """The error for a missing optional package, with the command that installs it."""
    install = f": pip install 'largeea[{extra}]'" if extra else ""
    return UsageError(f"{what} needs the Python package {package!r}, which is not installed{install}")
