"""Same input, same bytes: however many threads there are, and within whatever limits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from largeea import Execution
from largeea.api import align_files
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair

THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
SETTINGS = {"evidence": {"rounds": 2}}


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    answers = []
    for threads in ("1", "2"):
        folder = tmp_path / threads
        command = [sys.executable, "-m", "largeea", "demo", "-o", str(folder)]
        environment = os.environ | dict.fromkeys(THREADS, threads)
        subprocess.run(command, env=environment, check=True, capture_output=True)
        answers.append((folder / "alignment.tsv").read_bytes())
    assert answers[0] == answers[1]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    write_pair(demo_pair(("en", "nl"), seed=0), folder)
    return folder


@pytest.fixture(scope="module")
def stages(pair: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    align_files(pair, output=folder, config=SETTINGS, execution=Execution(threads=2))
    return folder / "stages"


@pytest.mark.parametrize(
    "execution",
    [Execution(threads=1), Execution(threads=5), Execution(threads=2, memory="9GB")],
    ids=["one thread", "five threads", "another memory limit"],
)
def test_execution_settings_leave_no_trace_in_any_stage(
    pair: Path, stages: Path, tmp_path: Path, execution: Execution
) -> None:
    """Threads and block sizes differ; every stored array is the same to the bit."""
    align_files(pair, output=tmp_path / "run", config=SETTINGS, execution=execution)
    names = sorted(path.name for path in stages.iterdir())
    assert sorted(path.name for path in (tmp_path / "run" / "stages").iterdir()) == names
    for name in names:
        assert (tmp_path / "run" / "stages" / name).read_bytes() == (stages / name).read_bytes(), name
