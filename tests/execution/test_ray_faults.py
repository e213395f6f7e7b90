"""Runs on a cluster in which workers, nodes and the driver are killed end with the bytes of a local run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import largeea
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.execution.engines import load_engine
from largeea.progress import listening

pytest.importorskip("ray", reason="the extra largeea[ray] is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")
SETTINGS: dict[str, Any] = {"evidence": {"rounds": 2}}
TRAINED = SETTINGS | {"structure": {"model": "rrea", "epochs": 4}, "partition": {"k": 8}}


class Killer:
    """Kills a worker and a node while the jobs of some stages are under way; two stages run at a time."""

    def __init__(self, cluster: Any, stages: tuple[str, ...]) -> None:
        self.cluster, self.left = cluster, list(stages)
        self.killed: list[str] = []
        self._of_thread = threading.local()

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        before, self._of_thread.stage = getattr(self._of_thread, "stage", ""), title
        yield
        self._of_thread.stage = before

    def advance(self, done: int, total: int) -> None:
        stage = getattr(self._of_thread, "stage", "")
        if stage in self.left and 1 <= done < total and (working := self.cluster.working()):
            self.left.remove(stage)
            os.kill(working[0], signal.SIGKILL)
            self.cluster.kill_node()
            self.killed.append(stage)

    def note(self, message: str) -> None:
        pass

    warn = note


def different(one: Path, other: Path) -> list[str]:
    """The stages whose files differ."""
    ours, theirs = (
        {path.name: path.read_bytes() for path in (folder / "stages").iterdir()} for folder in (one, other)
    )
    return sorted(name for name in ours | theirs if ours.get(name) != theirs.get(name))


def test_a_killed_driver_resumes(cluster: Any, tmp_path: Path) -> None:
    write_pair(demo_pair(), tmp_path / "demo")
    largeea.align_files(tmp_path / "demo", output=tmp_path / "local", config=SETTINGS)
    run = tmp_path / "run"
    where = ["--engine", "ray", "--address", cluster.ray.address, "--device", "cpu", "--quiet"]
    given = [str(tmp_path / "demo"), "-o", str(run), "--set", "evidence.rounds=2"]
    driver = subprocess.Popen([sys.executable, "-m", "largeea", "align", *given, *where])
    while not (run / "stages" / "neighbours.safetensors").exists():
        assert driver.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    before = json.loads((run / "manifest.json").read_text())["stages"]
    subprocess.run([sys.executable, "-m", "largeea", "resume", str(run), *where], check=True)
    after = json.loads((run / "manifest.json").read_text())
    kept = {name: record for name, record in before.items() if after["stages"][name]["key"] == record["key"]}
    again = [name for name, record in kept.items() if after["stages"][name]["finished"] != record["finished"]]
    sys.stdout.write(f"driver killed after {len(before)} stages: {len(again)} of them repeated\n")
    assert len(kept) > 5
    assert again == []
    assert after["cluster"]["repeated_jobs"] == 0
    assert after["cluster"]["driver_waited_seconds"] > 0
    assert sum(node["jobs"] for node in after["cluster"]["nodes"].values()) > 0
    assert different(run, tmp_path / "local") == []
    for name in ("alignment.sssom.tsv", "doubtful.tsv", "unmatched.tsv"):
        assert (run / name).read_bytes() == (tmp_path / "local" / name).read_bytes()


def test_workers_and_nodes_die_while_batches_train_and_a_round_runs(cluster: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra largeea[structure] is not installed")
    pair = demo_pair()
    largeea.align(pair.source, pair.target, config=TRAINED, folder=tmp_path / "local")
    killer = Killer(cluster, ("structure", "surroundings"))
    with listening(killer):
        largeea.align(
            pair.source, pair.target, config=TRAINED, folder=tmp_path / "run", execution=cluster.execution
        )
    repeated = load_engine("ray").report()["repeated_jobs"]
    sys.stdout.write(f"a worker and a node killed in {killer.killed}: {repeated} jobs repeated\n")
    assert killer.killed == ["structure", "surroundings"]
    assert repeated >= 2
    assert different(tmp_path / "run", tmp_path / "local") == []
