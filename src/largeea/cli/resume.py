"""`largeea resume`: resume a run from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea.api import carry_out
from largeea.cli import align, options
from largeea.runs.request import read_request

EXAMPLES = """
**Examples**

`largeea resume run`

`largeea resume run --json`
"""


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run that `largeea align` started.")],
    memory: options.Memory = None,
    gpu_memory: options.GpuMemory = None,
    threads: options.Threads = None,
    device: options.Device = "auto",
    json: options.Json = False,
) -> None:
    """Resume an interrupted run or repair a damaged one, with the same input and settings."""
    request, config = read_request(run)
    execution = options.make_execution(memory, gpu_memory, threads, device)
    align.tell(carry_out(request, config, execution, run, mend=True), json)
