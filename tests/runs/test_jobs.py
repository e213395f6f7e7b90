"""Finished jobs on disk: found again by name, known by their hash, removed with their stage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from largeea.runs.jobs import JobFolder, remove_jobs

KEY, OTHER = "a" * 64, "b" * 64


def rows(number: int) -> dict[str, np.ndarray]:
    return {"rows": np.array([number, number])}


def stored(run: Path) -> list[Path]:
    return sorted((run / "jobs").rglob("*.safetensors"))


@pytest.mark.parametrize("job", ["batch-3", "block-0-1024", "../../escape", "a b/c", "*", "", "x" * 100])
def test_a_job_is_found_by_its_name_whatever_that_is(tmp_path: Path, job: str) -> None:
    folder = JobFolder(tmp_path, KEY)
    folder.save("another", rows(1))
    assert folder.load(job) is None
    folder.save(job, rows(7))
    found = folder.load(job)
    assert found is not None
    assert found["rows"].tolist() == [7, 7]
    assert all(path.parent.parent == tmp_path / "jobs" for path in stored(tmp_path))


def test_a_name_that_begins_like_another_is_another(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path, KEY)
    folder.save("batch-10", rows(10))
    assert folder.load("batch-1") is None


def test_jobs_of_another_key_are_others(tmp_path: Path) -> None:
    JobFolder(tmp_path, KEY).save("batch", rows(1))
    assert JobFolder(tmp_path, OTHER).load("batch") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
        lambda path: path.write_bytes(path.read_bytes()[:20]),
        lambda path: path.write_bytes(b""),
    ],
)
def test_what_a_power_cut_has_damaged_is_not_used(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    folder = JobFolder(tmp_path, KEY)
    folder.save("batch", rows(1))
    damage(stored(tmp_path)[0])
    assert folder.load("batch") is None
    assert stored(tmp_path) == []
    folder.save("batch", rows(1))
    assert folder.load("batch") is not None


def test_jobs_go_with_their_stage(tmp_path: Path) -> None:
    for key in (KEY, OTHER):
        JobFolder(tmp_path, key).save("batch", rows(1))
    remove_jobs(tmp_path, KEY)
    assert JobFolder(tmp_path, KEY).load("batch") is None
    assert JobFolder(tmp_path, OTHER).load("batch") is not None
    remove_jobs(tmp_path)
    assert not (tmp_path / "jobs").exists()
    remove_jobs(tmp_path, KEY)
