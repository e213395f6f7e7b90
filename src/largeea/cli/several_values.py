"""Options that take several values, such as the files of an expanded shell pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from typer.core import TyperCommand


def command_class(options: Iterable[str]) -> type[TyperCommand]:
    """Return a class of commands in which each of these options may have several values."""

    class SeveralValues(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, list(repeated(args, options)))

    return SeveralValues


def repeated(args: Iterable[str], options: Iterable[str]) -> Iterator[str]:
    """The arguments with an option repeated before each of its further values."""
    option, values = "", 0
    for arg in args:
        if arg.startswith("-"):
            option, values = arg, 0
        elif option in options:
            values += 1
            if values > 1:
                yield option
        yield arg
