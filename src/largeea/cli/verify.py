"""`largeea verify`: check the files of a run folder against their checksums."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.errors import InputError
from largeea.progress import step
from largeea.runs.inspection import verify
from largeea.runs.manifest import way_on

EXAMPLES = """
**Examples**

`largeea verify run`

`largeea verify run --json`
"""


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    json: options.Json = False,
) -> None:
    """Check every stored file of a run against its checksum; list the damaged and missing ones."""
    with step("verify"):
        checked, problems = verify(run)
    if json:
        found = [
            {"file": str(file.path.relative_to(run)), "stage": file.stage, "problem": problem}
            for file, problem in problems
        ]
        screen.json({"run": str(run), "files": checked, "problems": found})
    else:
        for file, problem in problems:
            part = f" (stage {file.stage})" if file.stage else ""
            screen.result(f"{file.path}: {problem}{part}")
        screen.result(f"{checked - len(problems)} of {checked} files match their checksums.")
    if problems:
        screen.note(f"Files that are damaged or missing are made again by: {way_on(run)}")
        raise typer.Exit(InputError.exit_code)
