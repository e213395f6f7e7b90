"""A small finished run to review, in a folder of its own for each test."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import largeea

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TOWNS = (
    *(
        "Berlin",
        "Paris",
        "Tokyo",
        "Lima",
        "Cairo",
        "Oslo",
        "Quito",
        "Hanoi",
        "Rome",
        "Madrid",
        "Vienna",
        "Prague",
    ),
    *("Dublin", "Athens", "Warsaw", "Lisbon", "Ankara", "Riyadh", "Nairobi", "Accra"),
)
Start = Callable[[], tuple[subprocess.Popen[str], str]]
SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rings of towns that differ in spelling; one town has markup for a name."""
    folder = tmp_path_factory.mktemp("review")
    for side, ending in (("a", ""), ("b", "a")):
        lines = []
        for number, town in enumerate(TOWNS):
            this, following = f"http://{side}/{number}", f"http://{side}/{(number + 1) % len(TOWNS)}"
            name = SCRIPT.replace('"', '\\"') if town == "Lima" else town + ending
            lines += [
                f'<{this}> <{LABEL}> "{name}"@en .',
                f'<{this}> <{LABEL}> "{town} in another language"@fr .',
                f"<{this}> <http://{side}/next> <{following}> .",
                f'<{this}> <http://{side}/founded> "{1000 + number * (1 if side == "a" else 1.0)}" .',
                f'<{this}> <http://{side}/motto> "{town.lower()} is {"a" if side == "a" else "the"} town" .',
                f'<{this}> <http://{side}/{side}only> "something {number}" .',
            ]
        (folder / f"{side}.nt").write_text("\n".join(lines) + "\n")
    largeea.align_files(folder / "a.nt", folder / "b.nt", folder / "run")
    return folder / "run"


@pytest.fixture
def run_folder(finished_run: Path, tmp_path: Path) -> Path:
    """A copy of the run that a test may write reviews into."""
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


@pytest.fixture
def start(run_folder: Path) -> Iterator[Start]:
    """Starts `largeea review`; returns the process and the address it prints."""
    started: list[subprocess.Popen[str]] = []

    def work() -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "largeea", "review", str(run_folder), "--no-open", "--author", "Ada"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        started.append(server)
        assert server.stdout is not None
        for line in server.stdout:
            if found := re.search(r"http://\S+", line):
                return server, found[0]
        raise AssertionError("the server has printed no address")

    yield work
    for server in started:
        server.kill()
        server.communicate()
