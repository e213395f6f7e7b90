"""The Ray engine: the same bytes as the local one for any number of nodes, whatever dies on the way."""

from __future__ import annotations

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

from largeea.errors import ResourceError, UsageError
from largeea.execution import Execution, executing, tasks
from largeea.execution.engines import load_engine
from largeea.execution.file_arrays import FileViews
from largeea.execution.jobs import in_order, run_jobs
from largeea.graph import strings
from largeea.runs.artifacts import load_artifact, save_artifact
from largeea.search.dense import nearest_block
from largeea.similarity import Similarity

ray = pytest.importorskip("ray", reason="the extra largeea[ray] is not installed")

import ray_jobs  # noqa: E402
from ray_nodes import Cluster  # noqa: E402

from largeea.execution.jobs import Job  # noqa: E402
from largeea.execution.ray_cluster import Loads, Nodes  # noqa: E402
from largeea.execution.ray_engine import Session, _needs, _Tasks  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
NUMBERS = np.arange(40)
BLOCKS = [(first, first + 4) for first in range(0, 40, 4)]


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


def test_no_cluster_is_told_within_seconds() -> None:
    """Before a test of this module connects to one."""
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


def test_settings_and_losses(cluster: Cluster) -> None:
    with executing(cluster.execution):
        for _, found in run_jobs(ray_jobs.settings, [(0,), (1,)], at_once=1):
            assert found["threads"].tolist() == [1, 1], "one core a node, and no engine inside the engine"
        assert (load_engine("ray").slots, load_engine("ray").machines) == (3, 3)
        with pytest.raises(ResourceError, match="a job was lost 5 times in a row"):
            list(run_jobs(ray_jobs.deadly, [(0,), (1,)]))


def test_a_worker_that_was_interrupted_does_not_serve_again(cluster: Cluster, tmp_path: Path) -> None:
    """Interrupted in the middle of an import, it would fail every later job that needs the module."""
    with executing(cluster.execution), pytest.raises(ResourceError, match="job 0 has no room"):
        list(run_jobs(ray_jobs.refused_beside_another, [(0,), (1,)], str(tmp_path)))
    [note] = tmp_path.iterdir()
    process = Path("/proc", note.name.partition("-")[2])
    for _ in range(500):
        if not process.exists():
            break
        time.sleep(0.02)
    assert not process.exists()


@pytest.mark.parametrize(
    ("cores", "at_once", "each"), [((4, 8), 1, 4), ((4, 8), 2, 2), ((4,), None, 1), ((1, 8), 3, 1)]
)
def test_jobs_share_the_cores_of_a_node(cores: tuple[int, ...], at_once: int | None, each: int) -> None:
    nodes = Nodes()
    nodes._alive = [{"Resources": {"CPU": count, "GPU": 1}} for count in cores]
    nodes._looked = float("inf")
    with executing(Execution(threads=1)):
        needs = _needs(nodes, at_once)
    assert needs["num_cpus"] == each, "however many threads the driver has"
    assert needs["num_gpus"] == 1 / (at_once or 4)


def node(name: str, cores: int, **others: int) -> dict[str, Any]:
    return {"NodeID": name, "Resources": {"CPU": cores, **others}}


def test_the_freest_node_gets_the_next_task() -> None:
    loads, nodes = Loads(), [node("a", 1), node("b", 2)]
    assert [loads.take_freest(nodes, 1) for _ in range(3)] == ["a", "b", "b"]
    loads.give_back("b", 1, seconds=2.0)
    assert loads.take_freest(nodes, 1) == "b"
    for name, seconds in (("a", 3.0), ("b", 1.0), ("b", 0.5)):
        loads.give_back(name, 1, seconds)
    assert loads.take_freest(nodes, 1) == "a", "both are free, and b has worked longer"


def test_the_last_tasks_wait_for_free_nodes_and_gpu_tasks_for_gpus() -> None:
    session = Session()
    session.nodes._alive = [node("a", 8), node("b", 4, GPU=1)]
    session.nodes._looked = float("inf")
    jobs = [Job(ray_jobs.settings, (number,)) for number in range(9)]
    with executing(Execution(threads=1, device="cpu")):
        tasks_of_nodes = _Tasks(session, jobs, (), at_once=1)
    assert [tasks_of_nodes.at_a_time(waiting) for waiting in (9, 4, 3, 1)] == [6, 6, 3, 3]
    with executing(Execution(threads=1)):
        on_gpus = _Tasks(session, jobs, (), at_once=None)
    assert {on_gpus._node_for(place) for place in range(3)} == {"b"}


def test_only_own_functions_and_plugins_can_be_named() -> None:
    for module, name, why in (
        ("os", "system", "a job names the module 'os'"),
        ("largeea_other.jobs", "run", "a job names the module 'largeea_other.jobs'"),
        ("largeea.execution.tasks", "importlib", "not a function of that module"),
        ("largeea.execution.tasks", "executing", "not a function of that module"),
        ("largeea.execution.tasks", "nothing", "not a function of that module"),
    ):
        with pytest.raises(UsageError, match=why):
            tasks.function_named(module, name)
    assert tasks.function_named("largeea.search.dense", "nearest_block") is nearest_block


def test_arrays_in_files_are_mapped_where_nodes_see_them(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 300_000
    matrix = Similarity((count, 5), np.arange(count + 1), np.zeros(count), np.ones(count))
    value = {"matrix": matrix, "names": strings(["some name"] * count)}
    save_artifact(value, tmp_path / "value")
    stored = load_artifact(tmp_path / "value")
    engine = load_engine("ray")

    def shared() -> tuple[list[int], int, int]:
        before = engine.report()
        given = stored["matrix"], {"names": stored["names"]}, ray_jobs.Pair(stored["matrix"].indices, 2)
        found = [part["sums"].tolist() for part in in_order(run_jobs(ray_jobs.sums, [(0,), (1,)], *given))]
        assert found == [[count, 9 * count, 2]] * 2
        after = engine.report()
        return tuple(after[kind] - before[kind] for kind in ("bytes_sent", "bytes_mapped"))

    heard: list[str] = []
    monkeypatch.setattr("largeea.execution.ray_objects.note", heard.append)
    with executing(cluster.execution):
        engine.begin()
        sent, mapped = shared()
        assert sent < 100_000
        assert mapped > 8 * count
        assert not list(tmp_path.glob(".token*"))
        assert heard == []
        describe = FileViews.describe

        def outdated(self: FileViews, array: np.ndarray) -> Any:
            found = describe(self, array)
            return found and found._replace(modified=0)

        with monkeypatch.context() as patch:
            patch.setattr(FileViews, "describe", outdated)
            sent, _ = shared()
            assert sent > 8 * count, "a file that a worker does not find is sent"
        assert shared()[1] == 0, "from now on"
        engine.session.store.given_up.clear()
        engine.session.store.seen.clear()
        monkeypatch.setattr("largeea.execution.ray_objects.read_token", ray_jobs.read_nothing)
        shared()
        shared()
        assert len(heard) == 1, "told once"
        assert f"does not see {tmp_path}: arrays travel over the network" in heard[0]


def test_two_stages_that_look_for_a_folder_at_once_both_see_it(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wrote their tokens into the same file, and one of them gave the folder up."""
    heard: list[str] = []
    monkeypatch.setattr("largeea.execution.ray_objects.note", heard.append)
    with executing(cluster.execution):
        engine = load_engine("ray")
        engine.begin()
        store, together = engine.session.store, threading.Barrier(4)

        def look() -> None:
            together.wait()
            store.look(str(tmp_path))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert heard == []
    assert sum(folder == str(tmp_path) and sees for (folder, _), sees in store.seen.items()) == 3


def test_a_killed_worker_and_a_lost_node_cost_nothing_but_time(cluster: Cluster, tmp_path: Path) -> None:
    engine = load_engine("ray")
    for name, act in (
        ("worker", lambda pid: os.kill(pid, signal.SIGKILL)),
        ("node", lambda pid: cluster.kill_node()),
    ):
        folder = tmp_path / name
        folder.mkdir()
        with executing(cluster.execution):
            engine.begin()
            before = engine.report()["repeated_jobs"]
            killer = when_begun(folder, act)
            found = squares_of(run_jobs(ray_jobs.slow_squares, BLOCKS, NUMBERS, str(folder)))
            killer.join()
        repeated = engine.report()["repeated_jobs"] - before
        sys.stdout.write(f"{name} killed: {repeated} of {len(BLOCKS)} jobs repeated\n")
        assert found == (NUMBERS**2).tolist()
        assert 1 <= repeated <= 4, "what was under way"
