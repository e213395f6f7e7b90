"""Run the tests of the core on the wheel, with other versions of its dependencies and on other Pythons.

python .ci/lanes.py [--lane NAME] [--keep FOLDER] [PYTEST OPTIONS]

Lanes: `locked` (versions of requirements.lock), `oldest` (lowest versions that pyproject.toml allows),
`newest` (highest available ones), and `newest` again on every other Python from 3.11 up that is here. None
installs an extra: tests that need one skip.
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


def lanes() -> list[Lane]:
    """All lanes that can run here."""
    own = sys.executable
    others = [path for path in pythons() if version_of(path).split(".")[:2] != version_of(own).split(".")[:2]]
    return [
        Lane("locked", own, (ROOT / "requirements.lock").read_text("utf-8")),
        Lane("oldest", own, lowest_versions()),
        Lane("newest", own),
        *(Lane(f"newest, {Path(path).name}", path) for path in others),
    ]


def pythons() -> list[str]:
    """A Python of each version from 3.11 up: those in the PATH, and those that pyenv has installed."""
    found = {}
    for minor in PYTHONS:
        places = [shutil.which(f"python3.{minor}"), *PYENV.glob(f"versions/3.{minor}.*/bin/python3.{minor}")]
        working = [str(place) for place in places if place and version_of(str(place))]
        found.update({minor: working[0]} if working else {})
    return list(found.values())


def lowest_versions() -> str:
    """The lowest version of each dependency of the core that pyproject.toml allows, as constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return "\n".join(re.sub(r">=([\w.]+)", r"==\1", line) for line in project["dependencies"])


def run_lane(lane: Lane, wheel: Path, work: Path, options: list[str]) -> tuple[str, ...]:
    """Install the wheel and run the tests; return the row of the table."""
    folder = work / re.sub(r"\W+", "-", lane.name)
    folder.mkdir(parents=True)
    (folder / "constraints.txt").write_text(lane.constraints)
    python = folder / "venv" / "bin" / "python"
    started = time.monotonic()
    subprocess.run([lane.python, "-m", "venv", folder / "venv"], check=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    done = subprocess.run([*pip, "--constraint", folder / "constraints.txt", wheel, *TESTING], check=False)
    installed = time.monotonic()
    if done.returncode:
        return (
            lane.name,
            version_of(lane.python),
            "FAILED: cannot be installed",
            f"{installed - started:.0f}",
            "",
        )
    with (folder / "tests.txt").open("w") as output:
        tests = [python, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", *NOT_OURS, *options]
        done = subprocess.run(tests, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
    outcome = (folder / "tests.txt").read_text("utf-8").strip().splitlines()[-1].strip("= ")
    outcome = f"FAILED: {outcome}" if done.returncode else outcome
    return (
        lane.name,
        version_of(lane.python),
        outcome,
        f"{installed - started:.0f}",
        str(folder / "tests.txt"),
    )


def version_of(python: str) -> str:
    """The version of a Python; empty if it does not start."""
    asked = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
    return "" if asked.returncode else asked.stdout.split()[1]


def main() -> None:
    """Run the lanes and print a table; the exit code is 1 if any fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lane", help="run this lane only")
    parser.add_argument("--keep", type=Path, help="folder for environments and outputs; default: a new one")
    chosen, options = parser.parse_known_args()
    work = chosen.keep or Path(tempfile.mkdtemp(prefix="lanes-"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", work / "wheel", ROOT]
    subprocess.run(command, check=True)
    (wheel,) = (work / "wheel").glob("*.whl")
    rows = [("lane", "Python", "outcome", "install (s)", "output"), ("---",) * 5]
    rows += [run_lane(lane, wheel, work, options) for lane in lanes() if chosen.lane in (None, lane.name)]
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.exit(any(row[2].startswith("FAILED") for row in rows))


if __name__ == "__main__":
    main()
