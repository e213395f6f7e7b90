"""The Ray engine: the same bytes as the local one for any number of nodes, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import largeea
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.errors import ResourceError, UsageError
from largeea.execution import Execution, executing
from largeea.execution.engines import load_engine
from largeea.execution.jobs import in_order, run_jobs

ray = pytest.importorskip("ray", reason="the extra largeea[ray] is not installed")
HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)

import ray_jobs  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
NUMBERS = np.arange(40)
BLOCKS = [(first, first + 4) for first in range(0, 40, 4)]


class Nodes:
    """A Ray cluster of processes on this machine: a head for the driver, and nodes with a core each."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": HERE}
        store = {"object_store_memory": 100_000_000}
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **store})
        self.nodes = [self.cluster.add_node(num_cpus=1, **store) for _ in range(count)]
        self.execution = Execution(engine="ray", address=self.cluster.address, device="cpu")

    def close(self) -> None:
        ray.shutdown()
        self.cluster.shutdown()


@pytest.fixture
def start() -> Iterator[Callable[[int], Nodes]]:
    started: list[Nodes] = []

    def begin(count: int) -> Nodes:
        for nodes in started:
            nodes.close()
        started[:] = [Nodes(count)]
        return started[0]

    yield begin
    for nodes in started:
        nodes.close()


def squares_of(found: Iterator[tuple[int, dict[str, np.ndarray]]]) -> list[int]:
    return [int(number) for part in in_order(found) for number in part["squares"]]


def when_begun(folder: Path, act: Callable[[int], None]) -> threading.Thread:
    """Act on the process of the first slow job, once it has begun."""

    def watch() -> None:
        while not (notes := list(folder.iterdir())):
            time.sleep(0.02)
        act(int(notes[0].name.partition("-")[2]))

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_results_errors_and_settings(start: Callable[[int], Nodes]) -> None:
    nodes = start(2)
    with executing(nodes.execution):
        assert squares_of(run_jobs(ray_jobs.squares, BLOCKS, NUMBERS)) == (NUMBERS**2).tolist()
        with pytest.raises(ResourceError, match="job 2 has no room"):
            list(run_jobs(ray_jobs.refused, [(number,) for number in range(4)]))
        for _, found in run_jobs(ray_jobs.settings, [(0,), (1,)], at_once=1):
            assert found["threads"].tolist() == [1, 1], "one core a node, and no engine inside the engine"
        assert load_engine("ray").slots == 2
        with pytest.raises(ResourceError, match="a job was lost 5 times in a row"):
            list(run_jobs(ray_jobs.deadly, [(0,), (1,)]))


def test_a_killed_worker_and_a_lost_node_cost_nothing_but_time(
    start: Callable[[int], Nodes], tmp_path: Path
) -> None:
    nodes = start(2)
    engine = load_engine("ray")
    for name, act in (
        ("worker", lambda pid: os.kill(pid, signal.SIGKILL)),
        ("node", lambda pid: nodes.cluster.remove_node(nodes.nodes[0], allow_graceful=False)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        with executing(nodes.execution):
            engine.begin()
            before = engine.report()["repeated_jobs"]
            killer = when_begun(folder, act)
            found = squares_of(run_jobs(ray_jobs.slow_squares, BLOCKS, NUMBERS, str(folder)))
            killer.join()
        repeated = engine.report()["repeated_jobs"] - before
        sys.stdout.write(f"{name} killed: {repeated} of {len(BLOCKS)} jobs repeated\n")
        assert found == (NUMBERS**2).tolist()
        assert 1 <= repeated <= 4, "what was under way"


def test_the_same_bytes_on_any_number_of_nodes(start: Callable[[int], Nodes], tmp_path: Path) -> None:
    pair = demo_pair()
    settings: dict[str, Any] = {"evidence": {"rounds": 2}}
    local = tmp_path / "local"
    largeea.align(pair.source, pair.target, config=settings, folder=local)
    for count in (1, 2, 3):
        nodes, folder = start(count), tmp_path / str(count)
        largeea.align(pair.source, pair.target, config=settings, folder=folder, execution=nodes.execution)
        stages = {path.name: path.read_bytes() for path in (folder / "stages").iterdir()}
        assert stages == {path.name: path.read_bytes() for path in (local / "stages").iterdir()}


def test_where_jobs_ran_is_in_the_manifest(start: Callable[[int], Nodes], tmp_path: Path) -> None:
    nodes = start(1)
    write_pair(demo_pair(), tmp_path / "demo")
    largeea.align_files(tmp_path / "demo", output=tmp_path / "run", execution=nodes.execution)
    cluster = json.loads((tmp_path / "run" / "manifest.json").read_text())["cluster"]
    assert sum(node["jobs"] for node in cluster["nodes"].values()) > 0
    assert cluster["repeated_jobs"] == 0


def test_no_cluster_is_told_within_seconds() -> None:
    started = time.monotonic()
    with (
        executing(Execution(engine="ray", address="127.0.0.1:9")),
        pytest.raises(ResourceError, match=r"no Ray cluster answers at 127\.0\.0\.1:9"),
    ):
        load_engine("ray").begin()
    assert time.monotonic() - started < 30
    with (
        executing(Execution(engine="ray", address="nowhere")),
        pytest.raises(UsageError, match="give HOST:PORT or auto"),
    ):
        load_engine("ray").begin()
    with pytest.raises(UsageError, match="add engine = ray"):
        Execution(address="auto")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "largeea.execution.ray_engine", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'largeea\[ray\]'"):
        load_engine("ray")
