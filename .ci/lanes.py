"""Run the tests of the core on the wheel, with other versions of its dependencies and on other Pythons.

python .ci/lanes.py [--lane NAME] [--keep FOLDER] [PYTEST OPTIONS]

Lanes: `locked` (versions of requirements.lock), `oldest` (lowest versions that pyproject.toml allows),
`newest` (highest available ones), and `newest` again on every other Python from 3.11 up that is here. None
installs an extra: tests that need one skip.

A folder given with --keep is used again: its environments get the new wheel only, and `--lf` repeats the
tests that failed in it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TESTING = (
    *("pytest", "pytest-xdist", "hypothesis", "httpx2", "jsonschema", "rapidfuzz", "sssom-pydantic"),
    "setuptools>=77",
)
"""What tests import; none of it is an extra of the program."""
NOT_OURS = ("-W", "default::DeprecationWarning")
"""Old and new versions of other packages warn of each other; that is no failure of ours."""
PYTHONS = range(11, 20)
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))


@dataclass(frozen=True)
class Lane:
    """A Python, and how the versions of the dependencies are chosen."""

    name: str
    python: str
    constraints: str = ""
    """Lines of a constraints file."""


class Row(NamedTuple):
    """What came of a lane: a row of the table."""

    lane: str
    python: str
    outcome: str
    install_seconds: str = ""
    test_seconds: str = ""
    output: str = ""


def lanes() -> list[Lane]:
    """All lanes, those of supported Pythons that are not here included."""
    own = Lane("newest", sys.executable)
    here = {minor_of(python): python for python in pythons()}
    others = sorted((here.keys() | supported_pythons()) - {minor_of(own.python)})
    return [
        Lane("locked", own.python, (ROOT / "requirements.lock").read_text("utf-8")),
        Lane("oldest", own.python, lowest_versions()),
        own,
        *(Lane(f"newest, python3.{minor}", here.get(minor, "")) for minor in others),
    ]


def pythons() -> list[str]:
    """A Python of each version from 3.11 up: those in the PATH, and those that pyenv has installed."""
    found = []
    for minor in PYTHONS:
        places = [shutil.which(f"python3.{minor}"), *PYENV.glob(f"versions/3.{minor}.*/bin/python3.{minor}")]
        found += [str(place) for place in places if place and version_of(str(place))][:1]
    return found


def supported_pythons() -> set[int]:
    """The minor versions of Python 3 that pyproject.toml names."""
    return {int(minor) for minor in re.findall(r":: 3\.(\d+)", "\n".join(project()["classifiers"]))}


def lowest_versions() -> str:
    """The lowest version of each dependency of the core that pyproject.toml allows, as constraints."""
    return "\n".join(re.sub(r">=([\w.]+)", r"==\1", line) for line in project()["dependencies"])


def project() -> dict[str, Any]:
    """The table `project` of pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def run_lane(lane: Lane, wheel: Path, work: Path, options: list[str]) -> Row:
    """Install the wheel and run the tests."""
    if not lane.python:
        return Row(lane.name, "", "not run: this Python is neither in the PATH nor in pyenv")
    folder = work / re.sub(r"\W+", "-", lane.name)
    started = time.monotonic()
    reason = install(lane, wheel, folder)
    seconds = f"{time.monotonic() - started:.0f}"
    if reason:
        log = str(folder / "install.txt")
        return Row(lane.name, version_of(lane.python), f"FAILED: {reason}", seconds, output=log)
    python = str(folder / "venv" / "bin" / "python")
    cache = f"cache_dir={folder / 'cache'}"
    tests = [python, "-m", "pytest", "-n", "2", "-rs", "-o", cache, *NOT_OURS, *options]
    code, output = logged(tests, folder / "tests.txt")
    summary = output.strip().splitlines()[-1].strip("= ")
    outcome, _, duration = summary.partition(" in ")
    outcome = f"FAILED: {outcome}" if code else outcome
    tested = duration.partition("s")[0]
    return Row(lane.name, version_of(lane.python), outcome, seconds, tested, str(folder / "tests.txt"))


def install(lane: Lane, wheel: Path, folder: Path) -> str:
    """Install the wheel and what tests need, or only what changed since; return why that failed, or ""."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "constraints.txt").write_text(lane.constraints, "utf-8")
    subprocess.run([lane.python, "-m", "venv", folder / "venv"], check=True)
    for old in (folder / "venv").glob("lib/*/site-packages/largeea*"):
        shutil.rmtree(old)
    python = str(folder / "venv" / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    command = [*pip, "--constraint", str(folder / "constraints.txt"), str(wheel), *TESTING]
    code, output = logged(command, folder / "install.txt")
    if code:
        errors = [line for line in output.splitlines() if line.startswith("ERROR")]
        return f"cannot be installed ({errors[0] if errors else 'pip does not say why'})"
    _, place = logged([python, "-c", "import largeea; print(largeea.__file__)"], folder / "place.txt")
    return "" if place.startswith(str(folder)) else f"tests would import {place.strip()}"


def logged(command: list[str], output: Path) -> tuple[int, str]:
    """Run a command in the root of the repository; return its exit code and what it says, also in a file."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with output.open("w") as file:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    return done.returncode, output.read_text("utf-8")


def version_of(python: str) -> str:
    """The version of a Python; empty if it does not start."""
    asked = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
    return "" if asked.returncode else asked.stdout.split()[1]


def minor_of(python: str) -> int:
    """12 for Python 3.12.1."""
    return int(version_of(python).split(".")[1])


def main() -> None:
    """Run the lanes and print a table; the exit code is 1 if any fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    possible = {lane.name: lane for lane in lanes()}
    parser.add_argument("--lane", choices=possible, help="run this lane only")
    parser.add_argument("--keep", type=Path, help="folder for environments and outputs; default: a new one")
    asked, options = parser.parse_known_args()
    work = (asked.keep or Path(tempfile.mkdtemp(prefix="lanes-"))).resolve()
    shutil.rmtree(work / "wheel", ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", work / "wheel", ROOT]
    subprocess.run(command, check=True)
    (wheel,) = (work / "wheel").glob("*.whl")
    rows = [Row(*(name.replace("_", " ") for name in Row._fields)), Row(*["---"] * len(Row._fields))]
    chosen = [possible[asked.lane]] if asked.lane else possible.values()
    rows += [run_lane(lane, wheel, work, options) for lane in chosen]
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.exit(any(row.outcome.startswith("FAILED") for row in rows))


if __name__ == "__main__":
    main()
