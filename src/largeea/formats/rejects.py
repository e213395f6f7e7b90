"""Malformed statements: left out or repaired, listed in `rejects.tsv`; too many are an error."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from largeea.errors import InputError
from largeea.progress import warn

ALWAYS_TOLERATED = 100
TOLERATED_SHARE = 0.01
"""Without `max_errors`, this share of what was read may be malformed, and `ALWAYS_TOLERATED` in any case."""
MOST_LISTED = 100_000
"""More rejects are only counted: they would fill the memory."""
_SHOWN_CHARACTERS = 500


@dataclass(frozen=True)
class Reject:
    """A line or statement that is malformed, and the reason; `line` is None in formats without lines.

    A statement that was kept without its malformed part names this `part`: language tag or datatype.
    """

    path: Path
    line: int | None
    reason: str
    text: str
    part: str = ""

    @property
    def in_words(self) -> str:
        """The reason, and what was done about it if the statement was kept."""
        return f"kept without its {self.part}: {self.reason}" if self.part else self.reason


@dataclass
class Rejects:
    """Collects malformed lines and statements; one more than allowed raises `InputError`.

    `max_errors` is the number allowed, 0 for none. None stands for `TOLERATED_SHARE` of what `saw` has
    counted so far, and at least `ALWAYS_TOLERATED`; literals that were only repaired do not count then.
    `lines` lists what was left out, `repaired` what was kept without its malformed part.
    """

    max_errors: int | None = None
    lines: list[Reject] = field(default_factory=list)
    repaired: list[Reject] = field(default_factory=list)
    left_out_count: int = 0
    repaired_count: int = 0
    read_count: int = 0

    def __len__(self) -> int:
        """The number of lines or statements that were left out."""
        return self.left_out_count

    def __bool__(self) -> bool:
        """Whether there is anything to list."""
        return bool(self.left_out_count or self.repaired_count)

    def saw(self, count: int) -> None:
        """Count lines or statements read, before those among them are added that are malformed."""
        self.read_count += count

    def add(self, path: Path, line: int | None, reason: str, text: bytes | str) -> None:
        """List a line or statement that is left out, or raise if there are too many."""
        self.left_out_count += 1
        reject = Reject(path, line, reason, _shown(text))
        _list(self.lines, reject)
        self._check(reject)

    def add_repaired(self, path: Path, line: int | None, part: str, reason: str, text: bytes | str) -> None:
        """List a statement that is kept without `part`, its language tag or datatype, or raise likewise."""
        self.repaired_count += 1
        reject = Reject(path, line, reason, _shown(text), part)
        _list(self.repaired, reject)
        if self.max_errors is not None:
            self._check(reject)

    def _check(self, reject: Reject) -> None:
        if self.max_errors is None:
            found = self.left_out_count
            if found <= max(ALWAYS_TOLERATED, TOLERATED_SHARE * self.read_count):
                return
            allowed = f"{ALWAYS_TOLERATED}, or {TOLERATED_SHARE:.0%} of what is read, are tolerated"
        else:
            found = self.left_out_count + self.repaired_count
            if found <= self.max_errors:
                return
            allowed = f"{self.max_errors} allowed"
        raise InputError(
            f"{reject.reason}\n  {reject.text[:120]!r}\n"
            f"That makes {found} malformed line(s); {allowed}. "
            "Correct the file, or allow more with --max-errors N: they are then left out and listed.",
            reject.path,
            reject.line,
        )

    def tell(self, place: Path | None = None) -> None:
        """Warn the user, if anything was left out or repaired; `place` is the file that lists it."""
        if not self:
            return
        parts = []
        if self.left_out_count:
            parts.append(f"{self.left_out_count:,} malformed line(s) or statement(s) were left out")
        if self.repaired_count:
            parts.append(
                f"{self.repaired_count:,} literal(s) were kept without a malformed language tag or datatype"
            )
        first = min([*self.lines, *self.repaired], key=_position)
        where = f"{first.path}" if first.line is None else f"{first.path}:{first.line}"
        listed = "" if place is None else f". All are listed in {place}"
        warn(
            f"{' and '.join(parts)} of {self.read_count:,} read; the first: {where}: {first.in_words}{listed}"
        )

    def write(self, file: IO[bytes]) -> None:
        """Write `rejects.tsv`: file, line, reason and text of what was left out or repaired, sorted."""
        file.write(b"file\tline\treason\ttext\n")
        for reject in sorted([*self.lines, *self.repaired], key=_position):
            cells = (str(reject.path), str(reject.line or ""), reject.in_words, reject.text)
            file.write("\t".join(_cell(cell) for cell in cells).encode("utf-8", "backslashreplace") + b"\n")
        unlisted = self.left_out_count + self.repaired_count - len(self.lines) - len(self.repaired)
        if unlisted:
            file.write(f"\t\tand {unlisted} more, which are not listed\t\n".encode())


def _list(rejects: list[Reject], reject: Reject) -> None:
    if len(rejects) < MOST_LISTED:
        rejects.append(reject)


def _position(reject: Reject) -> tuple[str, int]:
    return str(reject.path), reject.line or 0


def _shown(text: bytes | str) -> str:
    if isinstance(text, bytes):
        text = text[: 4 * _SHOWN_CHARACTERS].decode("utf-8", "backslashreplace")
    return text.strip()[:_SHOWN_CHARACTERS]


def _cell(text: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
