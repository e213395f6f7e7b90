"""Nothing in the input reaches the terminal unescaped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import largeea
from largeea.cli import run
from largeea.cli.screen import printable

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def test_nothing_in_a_name_reaches_the_terminal(cli, capsys):
    evil = r"\u001b[31mred\u001b]0;title\u0007 \u009b2J \u202e [bold]markup[/bold] :key: \u0000"
    for side in "ab":
        Path(f"{side}.nt").write_text(f'<urn:{side}:1> <{LABEL}> "{evil}"@en .\n')
    out, err = cli("align", "a.nt", "b.nt", "-o", "run")
    assert "[bold]markup[/bold] :key:" in out.replace("\n", "")
    assert r"\x1b[31mred" in out
    name = "x\x1b[31m\x9b [red].nt"
    Path(name).write_text(Path("a.nt").read_text())
    shown = [out, err, *cli("inspect", name), *cli("inspect", name, "--json")]
    assert "x\\x1b[31m\\x9b [red].nt" in shown[2]
    Path(name).write_text("\x1b[31m rubbish")
    assert run(["inspect", name]) == 3
    for text in (*shown, *capsys.readouterr()):
        assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_nothing_in_a_traceback_reaches_the_terminal(capsys):
    name = "x\x1b[31m\x9b.nt"
    Path(name).write_text("\x1b]0;title\x07 rubbish")
    assert run(["--debug", "inspect", name]) == 3
    err = capsys.readouterr().err
    assert "Traceback" in err
    trace, message = err.rsplit("error: ", 1)
    for text in (trace, message):
        assert r"x\x1b[31m\x9b.nt" in text
    assert not [c for c in err if not c.isprintable() and c != "\n"]


def test_printable():
    assert printable("a\tb\nü 中 \U0001f5fc") == "a\tb\nü 中 \U0001f5fc"
    assert printable("\x1b[0m\x7f\x85\u202e\udcff") == r"\x1b[0m\x7f\x85\x202e\xdcff"


def test_a_terminal_without_the_alphabet_is_no_reason_to_fail():
    for side in "ab":
        Path(f"{side}.nt").write_text(
            f"<http://{side}/Zürich> <http://{side}/p> <http://{side}/中> .\n", encoding="utf-8"
        )
    program = [sys.executable, "-c", "from largeea.cli import main; main()"]
    place = str(Path(largeea.__file__).parents[1])
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": place}
    done = subprocess.run(
        [*program, "align", "a.nt", "b.nt", "-o", "run"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert r"Z\xfcrich" in done.stdout
