"""The folder in which all commands run, and states of it that are restored before every attempt.

It is always the same folder: a run remembers the absolute paths of its inputs.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from benchmarks.attack.process import Outcome, fall, run
from benchmarks.attack.shapes import TOWNS, statements

from largeea.datasets.registry import FOLDER_VARIABLE
from largeea.runs.files import is_leftover

UNCOMPARED = ("manifest.json", "report.html", ".lock")
"""They contain times."""
ALIGN = ["align", "a.nt", "b.nt", "-o", "run", "--quiet", "--write", "sssom", "--write", "parquet"]

Attempt = tuple[str, str | None]
"""What was tried, and what fell, if anything."""


class Workshop:
    """A folder `work`, which becomes the current one, and saved states of it."""

    def __init__(self, place: Path) -> None:
        self.work, self._saved = place / "work", place / "saved"
        os.environ.pop(FOLDER_VARIABLE, None)  # data sets go into the workshop, not to the user's own
        self.clear()

    def clear(self) -> None:
        """Empty the folder, and go there."""
        os.chdir("/")
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        os.chdir(self.work)

    def save(self, name: str) -> None:
        """Save the folder as it is now."""
        shutil.rmtree(self._saved / name, ignore_errors=True)
        shutil.copytree(self.work, self._saved / name, symlinks=True)

    def restore(self, name: str) -> None:
        """Make the folder what it was when it was saved under this name."""
        os.chdir("/")
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self._saved / name, self.work, symlinks=True)
        os.chdir(self.work)

    def content(self) -> dict[str, bytes]:
        """Return the content of all files that must be the same again."""
        return {
            str(path.relative_to(self.work)): path.read_bytes()
            for path in self.work.rglob("*")
            if path.is_file() and path.name not in UNCOMPARED and not is_leftover(path)
        }


def difference(found: dict[str, bytes], expected: dict[str, bytes]) -> str | None:
    """Return which files are missing, superfluous or different; None if there are none."""
    wrong = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    return f"other files than without the attack: {', '.join(wrong[:5])}" if wrong else None


def required(arguments: list[str]) -> Outcome:
    """Run a command that must succeed, because an attempt is built on it."""
    outcome = run(arguments)
    if fall(outcome, (0,)):
        raise SystemExit(f"largeea {' '.join(arguments)}: {fall(outcome, (0,))}\n{outcome.err}")
    return outcome


def write_pair() -> None:
    """Write a tiny pair, newer versions of it, and its true links into the current folder."""
    for side in "ab":
        Path(f"{side}.nt").write_text("".join(statements(side)))
        Path(f"{side}2.nt").write_text("".join(statements(side, [*TOWNS[1:], "Riga"])))
    Path("links.tsv").write_text("".join(f"urn:a:{town}\turn:b:{town}\n" for town in TOWNS))


def spread(total: int, most: int | None) -> list[int]:
    """Return at most `most` numbers from 1 to `total`, evenly spread, with the first and the last."""
    if most is None or total <= most:
        return list(range(1, total + 1))
    return sorted({1 + i * (total - 1) // max(most - 1, 1) for i in range(most)})
