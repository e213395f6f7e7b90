"""What all commands share: help, the version, quiet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import largeea
from largeea import __version__
from largeea.cli import COMMANDS, run


def test_quiet_leaves_the_result(cli):
    for place in (0, 5):
        arguments = ["align", "a.nt", "b.ttl", "-o", "run"]
        arguments.insert(place, "--quiet")
        out, err = cli(*arguments)
        assert err == ""
        assert "Written to" in out


def test_version(cli):
    assert cli("--version") == (f"largeea {__version__}\n", "")


def test_python_can_run_the_package():
    environment = {**os.environ, "PYTHONPATH": str(Path(largeea.__file__).parents[1])}
    for arguments, expected in (
        (["--version"], f"largeea {__version__}\n"),
        (["align", "--help"], "Usage: "),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "largeea", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "largeea", "nonsense"], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 2


@pytest.mark.parametrize("command", ["align", "plan", "evaluate", "bench", "demo", "inspect"])
def test_help_has_examples(cli, command):
    for flag in ("--help", "-h"):
        out, _ = cli(command, flag)
        assert f"Usage: largeea {command}" in out
        assert "Examples" in out
        assert f"largeea {command} " in out[out.index("Examples") :]
    assert command in cli("--help")[0]


def test_only_what_is_asked_for_is_imported():
    program = """
import sys
from largeea.cli import COMMANDS, run
def loaded():
    return sorted(name for name in COMMANDS if f"largeea.cli.{name.replace('-', '_')}" in sys.modules)
run(["-q", "status", "nowhere"])
one = loaded()
run(["nonsense"])
extras = [name for name in ("torch", "faiss", "matplotlib") if name in sys.modules]
print(one, loaded() == one, extras)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(largeea.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "['status'] True []\n"


def test_a_slip_is_met_with_the_command_that_was_meant(capsys):
    assert run(["experimnet", "overall"]) == 2
    message = capsys.readouterr().err
    assert "Did you mean" in message
    assert "'experiment'" in message


def test_help_lists_every_command(cli):
    for arguments in (["--help"], ["-h", "align"]):
        out, _ = cli(*arguments)
        assert all(f" {name} " in out for name in COMMANDS)


def test_without_a_command_there_is_help(capsys):
    assert run([]) == 2
    shown = capsys.readouterr()
    assert "Usage: largeea" in shown.out + shown.err
    assert "error" not in shown.err
