from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import largeea
from largeea.errors import ResourceError
from largeea.runs.folder import Run
from largeea.runs.lock import LOCK, held, hold, release, worker_on

HOLDER = """
import sys, time
from pathlib import Path
from largeea.runs.folder import Run
from largeea.runs.lock import hold
hold(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def other(tmp_path: Path):
    """Another process that works on the folder."""
    environment = os.environ | {"PYTHONPATH": str(Path(largeea.__file__).parents[1])}
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_by_name_until_the_first_is_dead(tmp_path: Path, other) -> None:
    who = rf"process {other.pid} on {platform.node()} \(since 20.*\) is working on the run .*; wait for it"
    with pytest.raises(ResourceError, match=who):
        hold(tmp_path)
    worker = worker_on(tmp_path)
    assert worker is not None
    assert worker["pid"] == other.pid
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert (tmp_path / LOCK).exists(), "what a killed process leaves behind"
    assert worker_on(tmp_path) is None
    release(hold(tmp_path))
    assert not (tmp_path / LOCK).exists()


def test_one_process_may_open_a_folder_again(tmp_path: Path) -> None:
    one, two = hold(tmp_path), hold(tmp_path)
    assert one == two
    assert held().count(one) == 1
    release(one)
    worker = worker_on(tmp_path)
    assert worker is not None
    assert worker["pid"] == os.getpid()
    release(two)
    assert worker_on(tmp_path) is None
    assert one not in held()


def test_a_run_that_nobody_holds_any_more_lets_go_of_its_folder(tmp_path: Path) -> None:
    Run(tmp_path / "run")
    assert tmp_path / "run" not in held()


def test_the_same_folder_by_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = hold(tmp_path)
    two = hold(Path())
    assert one == two
    release(one)
    release(two)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"5", b"{}", pytest.param(b"[" * 99_999, id="deep")])
def test_a_lock_file_that_says_nothing(tmp_path: Path, content: bytes, other) -> None:
    (tmp_path / LOCK).write_bytes(content)
    assert worker_on(tmp_path) == {}
    with pytest.raises(ResourceError, match="another process is working on the run"):
        hold(tmp_path)


def test_a_lock_that_is_a_link_does_not_empty_the_file_it_points_to(tmp_path: Path) -> None:
    precious = tmp_path / "precious.nt"
    precious.write_text("<urn:a> <urn:p> <urn:b> .")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / LOCK).symlink_to(precious)
    with pytest.raises(ResourceError, match=r"cannot write .*lock"):
        hold(folder)
    assert precious.read_text() == "<urn:a> <urn:p> <urn:b> ."
