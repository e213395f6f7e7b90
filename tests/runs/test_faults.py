"""The N-th write, flush or rename fails, for every N: a clear error, nothing half-written, and it goes on."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea import cli
from largeea.config import Config
from largeea.errors import InputError, LargeEAError, ResourceError
from largeea.execution.jobs import in_order, run_jobs
from largeea.graph import Arrays, Links
from largeea.runs import store
from largeea.runs.files import atomic_write
from largeea.runs.folder import CONFIG, Run, load_stage
from largeea.runs.inspection import verify

ERRORS = (errno.ENOSPC, errno.EIO, errno.EPERM)
LASTING = (errno.ENOSPC,)
"""A disk that is full stays full."""
SYSTEM_CALLS = ("fsync", "replace", "rename", "write", "ftruncate", "mkdir")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flush is counted; that it also takes time proves nothing here. Jobs are stored at once."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(store, "JOBS_AFTER", 0.0)


class Disk:
    """Counts what reaches the disk; call number `fail_at` fails, and all after it if the error lasts."""

    def __init__(self, fail_at: int = 0, error: int = errno.EIO) -> None:
        self.calls, self.fail_at, self.error = 0, fail_at, error

    def count(self) -> None:
        self.calls += 1
        if self.calls == self.fail_at or (self.error in LASTING and self.calls > self.fail_at):
            raise OSError(self.error, os.strerror(self.error))

    @contextmanager
    def in_use(self) -> Iterator[Disk]:
        def counted(original: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **options: Any) -> Any:
                self.count()
                return original(*arguments, **options)

            return call

        disk, open_path = self, Path.open

        class File(io.FileIO):
            def write(self, data: Any) -> int:
                disk.count()
                return super().write(data) or 0

        def opened(path: Path, mode: str = "r", *rest: Any, **options: Any) -> Any:
            return (
                io.BufferedWriter(File(path, "w"))
                if mode == "wb"
                else open_path(path, mode, *rest, **options)
            )

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "open", opened)
            for name in SYSTEM_CALLS:
                patch.setattr(os, name, counted(getattr(os, name)))
            yield self


def read_input() -> Links:
    return Links.none()


def job(number: int, seed: int) -> Arrays:
    return {"pairs": np.array([[seed, number]])}


def compute(task: Links, seed: int) -> Links:
    """A stage of two jobs."""
    found = in_order(run_jobs(job, [(0,), (1,)], seed, at_once=1))
    return Links(np.concatenate([part["pairs"] for part in found]))


def small_run(folder: Path, seed: int) -> None:
    """Two stages, one of them made of jobs, and two results; all of them tell the seed."""
    with Run(folder, {"source": "a.nt"}) as run:
        run.begin(Config(seed=seed))
        task = run.stage.given("task", "input", read_input, read_input)
        run.finish([task, run.stage("outer", compute, task, seed)])
        for name in ("a.tsv", "b.tsv"):
            with atomic_write(folder / name) as file:
                file.write(b"%d" % seed)
        run.vouch_for(["a.tsv", "b.tsv"], summary={"accepted": seed})


def calls_of(action: Callable[[], None]) -> int:
    with Disk().in_use() as disk:
        action()
    return disk.calls


def check_nothing_is_half(folder: Path, seeds: set[int]) -> None:
    """Old or new: every file, and the answer as a whole."""
    assert not list(folder.rglob("*.tmp"))
    for result in folder.glob("*.tsv"):
        assert int(result.read_text()) in seeds
    try:
        _, problems = verify(folder)
        assert problems == []
        answer = int(load_stage(folder, "outer").source[0])
    except InputError:
        return
    assert answer in seeds
    assert f"seed = {answer}\n" in (folder / CONFIG).read_text()


def same_content(one: Path, other: Path) -> bool:
    def content(folder: Path) -> dict[str, bytes]:
        with_times = "manifest.json", "report.html"
        files = (path for path in folder.rglob("*") if path.is_file() and path.name not in with_times)
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    return content(one) == content(other)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("before", [None, 1], ids=["first run", "run with other settings"])
def test_whichever_call_fails(tmp_path: Path, error: int, before: int | None) -> None:
    def begin(name: str) -> Path:
        if before is not None:
            small_run(tmp_path / name, before)
        return tmp_path / name

    reference, seeds = begin("reference"), {2} if before is None else {before, 2}
    total = calls_of(lambda: small_run(reference, 2))
    assert total > 40
    for number in range(1, total + 1):
        folder = begin(f"{number}")
        with (
            Disk(number, error).in_use(),
            pytest.raises(ResourceError, match=r"(no space left to|cannot) write .*with -o"),
        ):
            small_run(folder, 2)
        check_nothing_is_half(folder, seeds)
        small_run(folder, 2)
        assert same_content(folder, reference), f"call {number} of {total}"


def test_whichever_call_of_a_whole_alignment_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        lines = [
            f"<urn:{side}:{word}> <urn:p> <urn:{side}:Berlin> .\n" for word in ("Paris", "Tokyo", "Lima")
        ]
        Path(f"{side}.nt").write_text("".join(lines) + "rubbish\n")
    formats = ["--write", "tsv", "--write", "parquet"]
    arguments = ["align", "a.nt", "b.nt", "--max-errors", "2", "--without", "evidence", *formats, "-o"]
    assert cli.run([*arguments, "warm"]) == 0
    total = calls_of(lambda: assert_code(0, [*arguments, "reference"]))
    for number in range(1, total + 1):
        folder = f"run{number}"
        with Disk(number, ERRORS[number % 3]).in_use():
            assert_code(LargeEAError.exit_code - 1, [*arguments, folder])
        assert "-o" in capsys.readouterr().err
        begun = Path(folder, "manifest.json").is_file()
        assert_code(0, ["resume", folder] if begun else [*arguments, folder])
        assert same_content(Path(folder), Path("reference")), f"call {number} of {total}"
        assert_code(0, ["verify", folder])


def assert_code(code: int, arguments: list[str]) -> None:
    assert cli.run(arguments) == code
