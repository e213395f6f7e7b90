"""What every engine promises: each job once, errors as they are, and the same bytes as the local engine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import largeea
from largeea.datasets.demo import demo_pair
from largeea.errors import ResourceError
from largeea.execution import Execution, executing, jobs
from largeea.execution.engines import ENGINES
from largeea.execution.jobs import in_order, in_turn, keep, machines, run_jobs, whole_machine_blocks
from largeea.execution.shards import Shards
from largeea.matching import sinkhorn, sinkhorn_shards

sys.path.insert(0, str(Path(__file__).parents[1] / "execution"))
import ray_jobs

pytestmark = pytest.mark.filterwarnings("ignore")
ENGINE_NAMES = ("local", "ray")
NUMBERS = np.arange(40)
BLOCKS = [(first, first + 4) for first in range(0, 40, 4)]


class Place(NamedTuple):
    """How to use an engine, and how to give it one more machine, if it can have several."""

    execution: Execution
    grow: Callable[[], object] | None = None


@pytest.fixture(scope="module", params=ENGINE_NAMES)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Where jobs run: a cluster has one node at first."""
    if request.param == "local":
        yield Place(Execution(threads=2, device="cpu"))
        return
    pytest.importorskip("ray", reason="the extra largeea[ray] is not installed")
    from ray_nodes import Cluster, plugin_folder

    with plugin_folder() as plugin, pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(plugin))
        cluster = Cluster(1, plugin)
        yield Place(cluster.execution, cluster.add)
        cluster.close()


def test_every_engine_is_covered() -> None:
    assert set(ENGINES.members()) == set(ENGINE_NAMES)


def test_every_result_comes_once(place: Place) -> None:
    with executing(place.execution):
        for at_once in (None, 1):
            parts = in_order(run_jobs(ray_jobs.squares, BLOCKS, NUMBERS, at_once=at_once))
            assert np.concatenate([part["squares"] for part in parts]).tolist() == (NUMBERS**2).tolist()
        order = [number for number, _ in in_turn(run_jobs(ray_jobs.squares, BLOCKS, NUMBERS))]
    assert order == list(range(10))


def test_errors_of_jobs_are_errors_of_the_map(place: Place) -> None:
    with executing(place.execution), pytest.raises(ResourceError, match="job 2 has no room"):
        list(run_jobs(ray_jobs.refused, [(number,) for number in range(4)]))


def test_values_are_kept_and_shards_go_to_their_jobs(place: Place) -> None:
    with executing(place.execution):
        kept = keep(NUMBERS)
        shards = keep(Shards((np.array([3]), np.array([4]))))
        for _ in range(2):
            found = in_order(run_jobs(ray_jobs.squares, BLOCKS, kept))
            assert len(found) == 10
            parts = in_order(run_jobs(ray_jobs.squares, [(0, 1), (0, 1)], shards))
            assert [part["squares"].tolist() for part in parts] == [[9], [16]]
        numbers = Shards(tuple(NUMBERS[first:last] for first, last in BLOCKS))
        places = [(0, last - first) for first, last in BLOCKS]
        parts = in_order(run_jobs(ray_jobs.squares, places, numbers))
        assert np.concatenate([part["squares"] for part in parts]).tolist() == (NUMBERS**2).tolist()


def test_blocks_keep_all_machines_busy(place: Place) -> None:
    with executing(place.execution):
        assert [len(whole_machine_blocks(100, times)) for times in (1, 2, 50)] == [machines(), 1, 1]
        assert whole_machine_blocks(0, 1) == []
        assert whole_machine_blocks(100, 1)[-1][1] == 100


def test_the_whole_method_has_the_same_bytes(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one, two and three nodes; Sinkhorn iterations too, which would not leave the driver here.

    The local engine gets the work in blocks for five machines.
    """
    pair = demo_pair()
    settings: dict[str, Any] = {"evidence": {"rounds": 2, "sinkhorn_iterations": 5}}
    on_cpu = Execution(device="cpu")
    largeea.align(pair.source, pair.target, config=settings, folder=tmp_path / "local", execution=on_cpu)
    monkeypatch.setattr(sinkhorn, "MIN_ENTRIES_FOR_CLUSTER", 0)
    if place.grow is None:
        for module in (jobs, sinkhorn, sinkhorn_shards):
            monkeypatch.setattr(module, "machines", lambda: 5)
    for count in (1, 2, 3) if place.grow else (1,):
        if place.grow and count > 1:
            place.grow()
            with executing(place.execution):
                while machines() < count:
                    time.sleep(0.2)
        folder = tmp_path / str(count)
        largeea.align(pair.source, pair.target, config=settings, folder=folder, execution=place.execution)
        assert stages_of(folder) == stages_of(tmp_path / "local"), count


def stages_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "stages").iterdir()}
