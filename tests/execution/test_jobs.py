"""Jobs: the same results for any engine, block size and number of threads; finished jobs are not repeated."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.execution import Execution, current, executing
from largeea.execution.engines import ENGINES, load_engine
from largeea.execution.jobs import Job, in_order, in_turn, over_rows, row_blocks, run_jobs, storing_jobs
from largeea.execution.shards import Shards
from largeea.graph import Arrays
from largeea.runs.jobs import JobFolder

calls: list[int] = []
ENGINE_NAMES = ["local"]
ELSEWHERE = ["ray"]
"""Tested in test_ray_engine.py, with a cluster."""


def squares(first: int, last: int, numbers: np.ndarray) -> Arrays:
    calls.append(first)
    return {"squares": numbers[first:last] ** 2}


def failing(first: int, last: int, numbers: np.ndarray) -> Arrays:
    if first == 4:
        raise KeyboardInterrupt
    return squares(first, last, numbers)


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    calls.clear()


def test_every_engine_is_covered() -> None:
    assert set(ENGINES.members()) == {*ENGINE_NAMES, *ELSEWHERE}


@pytest.mark.parametrize("engine", ENGINE_NAMES)
@pytest.mark.parametrize("at_once", [1, 3, None])
def test_an_engine_gives_every_result_once(engine: str, at_once: int | None) -> None:
    numbers = np.arange(10)
    jobs = [Job(squares, (first, first + 2)) for first in range(0, 10, 2)]
    found = dict(load_engine(engine).map(jobs, (numbers,), at_once))
    assert sorted(found) == [0, 1, 2, 3, 4]
    assert np.concatenate([found[place]["squares"] for place in range(5)]).tolist() == (numbers**2).tolist()


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_a_failing_job_ends_the_map(engine: str) -> None:
    jobs = [Job(failing, (first, first + 2)) for first in range(0, 1000, 2)]
    with pytest.raises(KeyboardInterrupt):
        list(load_engine(engine).map(jobs, (np.arange(1000),), 2))
    assert len(calls) < 20, "jobs that had not begun are dropped"


def test_an_unknown_engine_is_refused() -> None:
    with (
        executing(Execution(engine="steam")),
        pytest.raises(UsageError, match="unknown engine 'steam'; there are"),
    ):
        list(run_jobs(squares, [(0, 1), (1, 2)], np.arange(2)))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_in_order_for_any_number_of_threads(threads: int) -> None:
    numbers = np.arange(5000)
    with executing(Execution(threads=threads)):
        blocks = row_blocks(5000, least=100)
        found = in_order(run_jobs(squares, blocks, numbers))
    assert np.concatenate([part["squares"] for part in found]).tolist() == (numbers**2).tolist()


def test_finished_jobs_are_not_repeated(tmp_path: Path) -> None:
    blocks, numbers = [(first, first + 2) for first in range(0, 10, 2)], np.arange(10)
    with executing(Execution(threads=1)), storing_jobs(JobFolder(tmp_path, "key")):
        with pytest.raises(KeyboardInterrupt):
            list(run_jobs(failing, blocks, numbers))
        assert calls == [0, 2]
    with executing(Execution(threads=1)), storing_jobs(JobFolder(tmp_path, "key")):
        found = in_order(run_jobs(failing_no_more, blocks, numbers))
    assert calls == [0, 2, 0, 2, 4, 6, 8], "another function is another job"
    with executing(Execution(threads=1)), storing_jobs(JobFolder(tmp_path, "key")):
        again = in_order(run_jobs(failing_no_more, blocks, numbers))
    assert calls == [0, 2, 0, 2, 4, 6, 8]
    assert [part["squares"].tolist() for part in found] == [part["squares"].tolist() for part in again]


def failing_no_more(first: int, last: int, numbers: np.ndarray) -> Arrays:
    return squares(first, last, numbers)


def test_two_maps_of_one_stage_do_not_share_results(tmp_path: Path) -> None:
    blocks = [(0, 2), (2, 4)]
    with storing_jobs(JobFolder(tmp_path, "key")):
        one = in_order(run_jobs(squares, blocks, np.arange(4)))
        other = in_order(run_jobs(squares, blocks, np.arange(4) + 1))
    assert one[0]["squares"].tolist() == [0, 1]
    assert other[0]["squares"].tolist() == [1, 4]


def test_a_damaged_job_is_done_again(tmp_path: Path) -> None:
    blocks, numbers = [(0, 2), (2, 4)], np.arange(4)
    with storing_jobs(JobFolder(tmp_path, "key")):
        in_order(run_jobs(squares, blocks, numbers))
        for path in tmp_path.rglob("0-squares-0-2.*"):
            path.write_bytes(path.read_bytes()[:-1] + b"x")
    calls.clear()
    with storing_jobs(JobFolder(tmp_path, "key")):
        found = in_order(run_jobs(squares, blocks, numbers))
    assert calls == [0]
    assert found[0]["squares"].tolist() == [0, 1]


def test_shards_stay_with_their_jobs_where_some_are_stored(tmp_path: Path) -> None:
    shards = Shards((np.arange(2), np.arange(4), np.arange(6)))
    jobs = [(0, 2), (2, 4), (4, 6)]
    with storing_jobs(JobFolder(tmp_path, "key")):
        in_order(run_jobs(squares, jobs, shards))
        for path in tmp_path.rglob("0-squares-0-2.*"):
            path.unlink()
        for path in tmp_path.rglob("0-squares-4-6.*"):
            path.unlink()
    calls.clear()
    with storing_jobs(JobFolder(tmp_path, "key")):
        found = in_order(run_jobs(squares, jobs, shards))
    assert sorted(calls) == [0, 4]
    assert [part["squares"].tolist() for part in found] == [[0, 1], [4, 9], [16, 25]]


def test_results_in_turn_are_passed_on_as_soon_as_possible() -> None:
    given = iter([(1, {"a": 1}), (0, {"a": 0}), (3, {"a": 3}), (2, {"a": 2})])
    found = in_turn(given)
    assert next(found)[0] == 0
    assert next(given)[0] == 3, "nothing was taken beyond what was needed"


def test_threads_are_shared_among_jobs() -> None:
    seen = []

    def look(number: int) -> Arrays:
        seen.append(current().thread_count)
        return {}

    with executing(Execution(threads=6)):
        list(run_jobs(look, [(1,), (2,), (3,)], at_once=3))
        list(run_jobs(look, [(1,), (2,)], at_once=1))
    assert seen == [2, 2, 2, 6, 6]


def test_blocks_cover_all_rows_within_memory() -> None:
    with executing(Execution(threads=2, memory=800_000)):
        blocks = row_blocks(10_000, least=100, bytes_per_row=1000)
    assert [first for first, _ in blocks] == [0, *(last for _, last in blocks[:-1])]
    assert blocks[-1][1] == 10_000
    assert max(last - first for first, last in blocks) == 100
    assert all(first % 4 == 0 for first, _ in row_blocks(10_000, least=10, multiple_of=4))
    assert row_blocks(0) == []


@pytest.mark.parametrize("threads", [1, 4])
def test_over_rows_visits_every_row_once(threads: int) -> None:
    visits, lock = np.zeros(10_000, int), threading.Lock()

    def kernel(first: int, last: int, step: int) -> None:
        with lock:
            visits[first:last] += step

    with executing(Execution(threads=threads)):
        over_rows(kernel, 10_000, 2, least=100)
    assert set(visits.tolist()) == {2}
