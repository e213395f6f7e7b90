"""Same input, same bytes: however many threads there are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    answers = []
    for threads in ("1", "2"):
        folder = tmp_path / threads
        start = "from largeea.cli import main; main()"
        command = [sys.executable, "-c", start, "demo", "-o", str(folder)]
        environment = os.environ | dict.fromkeys(THREADS, threads)
        subprocess.run(command, env=environment, check=True, capture_output=True)
        answers.append((folder / "alignment.tsv").read_bytes())
    assert answers[0] == answers[1]
