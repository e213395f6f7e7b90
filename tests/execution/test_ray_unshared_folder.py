"""A node in a mount namespace of its own does not see the run folder, and the run has the same bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import largeea
from largeea.datasets.demo import demo_pair
from largeea.execution import Execution, executing, file_arrays
from largeea.execution.engines import load_engine
from largeea.execution.jobs import machines

pytest.importorskip("ray", reason="the extra largeea[ray] is not installed")

from ray_nodes import Cluster, node_without_folder, why_no_namespaces

WHY_NOT = why_no_namespaces()
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]
SETTINGS: dict[str, Any] = {"evidence": {"rounds": 2}}


@pytest.fixture
def empty_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A head without cores for jobs, and no node yet."""
    started = Cluster(0, tmp_path)
    yield started
    started.close()


def stages_of(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (run / "stages").iterdir()}


def test_nodes_that_do_not_see_the_run_folder_are_sent_the_arrays(
    empty_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First all jobs run on such a node, then it shares them with a node that sees the folder."""
    monkeypatch.setattr(file_arrays, "LEAST_BYTES", 1)
    heard: list[str] = []
    monkeypatch.setattr("largeea.execution.ray_objects.note", heard.append)
    pair, runs, engine = demo_pair(), tmp_path / "runs", load_engine("ray")
    runs.mkdir()

    def align(name: str, execution: Execution) -> dict[str, bytes]:
        folder = runs / name
        largeea.align(pair.source, pair.target, config=SETTINGS, folder=folder, execution=execution)
        return stages_of(folder)

    expected = align("local", Execution(device="cpu"))
    with node_without_folder(empty_cluster, runs):
        for count, name in enumerate(("alone", "shared"), 1):
            with executing(empty_cluster.execution):
                engine.begin()
                while machines() < count:
                    time.sleep(0.2)
            assert align(name, empty_cluster.execution) == expected, name
            assert f"does not see {runs / name / 'stages'}: arrays travel over the network" in heard[-1]
            empty_cluster.add()
    assert len(heard) == 2, "told once for each run"
