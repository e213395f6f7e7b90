from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from largeea.config import Config
from largeea.graph import Links
from largeea.runs.folder import Run
from largeea.runs.inspection import status, verify

FILES = ("stages/task.safetensors", "stages/fused.safetensors", "config.toml", "alignment.tsv")


def read_task() -> Links:
    return Links(np.array([[1, 2]]))


def fuse(task: Links, csls: int) -> Links:
    return Links.none()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    with Run(folder, {"source": "a.nt"}) as run:
        run.begin(Config())
        task = run.stage.given("task", "input", read_task, read_task)
        run.finish([task, run.stage("fused", fuse, task, 1)])
        (folder / "alignment.tsv").write_text("a\tb\n")
        run.vouch_for(["alignment.tsv"], summary={"accepted": 1})
    return folder


def problems(folder: Path) -> list[tuple[str, str | None, str]]:
    checked, found = verify(folder)
    assert checked == len(FILES)
    return [(str(file.path.relative_to(folder)), file.stage, problem) for file, problem in found]


def test_all_is_well(folder: Path) -> None:
    assert problems(folder) == []


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_byte_is_found_and_named(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    stage = Path(name).stem if name.startswith("stages") else None
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        (folder / name).write_bytes(changed)
        assert problems(folder) == [(name, stage, "damaged")]
    (folder / name).write_bytes(content)
    assert problems(folder) == []


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert [(file, problem) for file, _, problem in problems(folder)] == [(name, "missing")]


def test_status(folder: Path) -> None:
    facts = status(folder)
    assert (facts["state"], facts["worker"], facts["summary"]) == ("finished", None, {"accepted": 1})
    assert [(stage["name"], stage["state"], stage["after"]) for stage in facts["stages"]] == [
        ("task", "stored", []),
        ("fused", "stored", ["task"]),
    ]
    assert all(stage["in_answer"] and stage["seconds"] >= 0 for stage in facts["stages"])
    assert facts["stages"][1]["function"].endswith("fuse")
    assert facts["results"] == [{"name": "alignment.tsv", "state": "stored", "bytes": 4}]
    (folder / "stages" / "fused.safetensors").write_bytes(b"")
    assert [stage["state"] for stage in status(folder)["stages"]] == ["stored", "damaged"]


def test_a_stage_that_is_stored_but_not_part_of_the_answer(folder: Path) -> None:
    with Run(folder) as run:
        run.begin(Config())
        run.finish([run.stage.given("task", "input", read_task, read_task)])
    assert [(stage["name"], stage["in_answer"]) for stage in status(folder)["stages"]] == [
        ("task", True),
        ("fused", False),
    ]


def test_seconds_are_those_of_all_rounds(tmp_path: Path) -> None:
    with Run(tmp_path / "run") as run:
        run.begin(Config())
        task = run.stage.given("task", "input", read_task, read_task)
        rounds = [run.stage("fused", fuse, task, number) for number in range(3)]
        _ = [handle.value for handle in rounds]
        run.manifest["timings"]["fused"] = {
            handle.key: {"seconds": 0.5, "memory_mb": {"host": 1, "gpu": 0}} for handle in rounds
        }
        run.finish([task, rounds[-1]])
    assert [stage["seconds"] for stage in status(tmp_path / "run")["stages"]][1] == 1.5


def test_a_file_that_a_stage_wrote_besides_is_checked_too(folder: Path) -> None:
    (folder / "rejects.tsv").write_text("line 3\n")
    with Run(folder) as run:
        run.store.attach("task", "rejects.tsv")
        run.describe()
    assert verify(folder) == (len(FILES) + 1, [])
    (folder / "rejects.tsv").write_text("line 4\n")
    assert [(file.path.name, file.stage, problem) for file, problem in verify(folder)[1]] == [
        ("rejects.tsv", "task", "damaged")
    ]


def test_status_of_a_run_under_way(folder: Path) -> None:
    with Run(folder) as run:
        assert status(folder)["state"] == "running"
        run.begin(Config(seed=1))
    facts = status(folder)
    assert facts["state"] == "interrupted"
    assert facts["results"] == []


def test_an_answer_without_its_results_is_not_finished(tmp_path: Path) -> None:
    for request, state in (({"source": "a.nt"}, "interrupted"), (None, "finished")):
        with Run(tmp_path / state, request) as run:
            run.begin(Config())
            run.finish([])
        assert status(tmp_path / state)["state"] == state
