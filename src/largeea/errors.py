"""The errors a user can meet. Each message says what was given, what is allowed and what to do next."""

from __future__ import annotations

from pathlib import Path


class LargeEAError(Exception):
    """Base of every error raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 5


class UsageError(LargeEAError):
    """The command, an option or a configuration value is wrong."""

    exit_code = 2


class InputError(LargeEAError):
    """A file or folder given as input cannot be used; carries its place as `file:line` where known."""

    exit_code = 3

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        self.path, self.line = path, line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class ResourceError(LargeEAError):
    """Memory, disk or another resource does not suffice."""

    exit_code = 4


class LargeEAWarning(UserWarning):
    """The method found something that may make the answer worse than expected."""
