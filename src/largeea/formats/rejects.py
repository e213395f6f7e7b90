"""Malformed input lines: kept for `rejects.tsv`; more than the user allows are an error."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from largeea.errors import InputError

_SHOWN_CHARACTERS = 500


@dataclass(frozen=True)
class Reject:
    """A line that could not be used, and the reason; `line` is None in formats without lines."""

    path: Path
    line: int | None
    reason: str
    text: str


@dataclass
class Rejects:
    """Collects up to `max_errors` malformed lines; one more raises `InputError`."""

    max_errors: int = 0
    lines: list[Reject] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, path: Path, line: int | None, reason: str, text: bytes | str) -> None:
        """Keep a malformed line, or raise if there are too many."""
        if isinstance(text, bytes):
            text = text[: 4 * _SHOWN_CHARACTERS].decode("utf-8", "backslashreplace")
        self.lines.append(Reject(path, line, reason, text.strip()[:_SHOWN_CHARACTERS]))
        if len(self.lines) > self.max_errors:
            raise InputError(
                f"{reason}\n  {self.lines[-1].text[:120]!r}\n"
                f"That makes {len(self.lines)} malformed line(s); {self.max_errors} allowed. "
                "Correct the file, or allow more with --max-errors N: they are then left out and listed.",
                path,
                line,
            )

    def write(self, file: IO[bytes]) -> None:
        """Write `rejects.tsv`: file, line, reason, text; sorted, because blocks are read in parallel."""
        file.write(b"file\tline\treason\ttext\n")
        for reject in sorted(self.lines, key=lambda reject: (str(reject.path), reject.line or 0)):
            cells = (str(reject.path), str(reject.line or ""), reject.reason, reject.text)
            file.write("\t".join(_cell(cell) for cell in cells).encode("utf-8", "backslashreplace") + b"\n")


def _cell(text: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
