"""Stages as data: a key is made of the call, and nothing but the key decides what is computed again."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from largeea.config import Config, load
from largeea.execution import Execution, code, executing
from largeea.execution.jobs import run_jobs
from largeea.execution.machine import NICENESS
from largeea.execution.stages import Call, Handle, bytes_of
from largeea.graph import Arrays, Links
from largeea.runs.folder import Run

computed: list[str] = []
"""The stages that were really computed, in order."""
meetings = threading.Barrier(2)
at_once, at_once_lock = [0], threading.Lock()


def first(value: int) -> Links:
    computed.append("first")
    return Links(np.array([[value, 0]]))


def second(links: Links, factor: int) -> Links:
    computed.append("second")
    return Links(links.pairs * factor)


def third(parts: dict[str, Links], settings: Config) -> Links:
    computed.append("third")
    return Links(np.concatenate([links.pairs + settings.seed for links in parts.values()]))


def job(number: int) -> Arrays:
    return {"number": np.array([number])}


def nodes_have_jobs() -> None:
    """As on a cluster, where two stages are computed at a time once nodes have jobs of the first."""
    run_jobs(job, [(1,)])


def meeting(value: int) -> Links:
    """Ends only if two are computed at the same time."""
    nodes_have_jobs()
    meetings.wait(timeout=20)
    return Links(np.array([[value, 0]]))


def watched(value: int) -> Links:
    """Counts how many are computed at the same time."""
    nodes_have_jobs()
    with at_once_lock:
        at_once.append(at_once[-1] + 1)
    threading.Event().wait(0.05)
    with at_once_lock:
        at_once.append(at_once[-1] - 1)
    return Links(np.array([[value, 0]]))


def patience(value: int) -> Links:
    """How far the thread that computes this gives way to others."""
    nodes_have_jobs()
    return Links(np.array([[os.getpriority(os.PRIO_PROCESS, 0), 0]]))


def failing(value: int) -> Links:
    raise ValueError(f"always, also with {value}")


@pytest.fixture(autouse=True)
def _nothing_computed() -> None:
    computed.clear()


def method(run: Run, value: int = 3, factor: int = 2, config: Config = Config()) -> Handle[Links]:  # noqa: B008
    a = run.stage("a", first, value)
    b = run.stage("b", second, a, factor)
    return run.stage("c", third, {"a": a, "b": b}, config)


def answer(folder: Path | None, **changes: object) -> list[list[int]]:
    with Run(folder) as run:
        return method(run, **changes).value.pairs.tolist()


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    handle = method(Run())
    assert computed == []
    assert handle.value.pairs.tolist() == [[3, 0], [6, 0]]
    assert computed == ["first", "second", "third"]
    _ = handle.value
    assert computed == ["first", "second", "third"]


def test_what_is_computed_ahead_is_computed_once(tmp_path: Path) -> None:
    with Run(tmp_path / "run") as run:
        handle = method(run)
        run.stage.ahead(*(run.stage(name, *call) for name, *call in (("a", first, 3),)), handle)
        assert handle.value.pairs.tolist() == [[3, 0], [6, 0]]
    assert computed == ["first", "second", "third"]


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_the_background_gives_way_to_what_is_waited_for() -> None:
    run = Run()
    here, there = run.stage("here", patience, 1), run.stage("there", patience, 2)
    run.stage.ahead(there)
    while not there.is_there:
        threading.Event().wait(0.01)
    assert there.value.source[0] == min(here.value.source[0] + NICENESS, 19)


def test_an_error_ahead_is_raised_where_the_value_is_asked_for() -> None:
    run = Run()
    handle = run.stage("a", failing, 1)
    run.stage.ahead(handle)
    with pytest.raises(ValueError, match="always"):
        _ = handle.value


@pytest.mark.parametrize("stored", [True, False])
def test_side_by_side_two_arguments_are_computed_at_a_time(tmp_path: Path, stored: bool) -> None:
    with Run(tmp_path / "run" if stored else None) as run:
        run.stage.side_by_side = True
        parts = {name: run.stage(name, meeting, number) for number, name in enumerate("abcd")}
        both = run.stage("both", third, parts, Config())
        assert both.value.pairs.tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]]


def test_an_argument_given_twice_does_not_hold_up_the_background() -> None:
    """The background waited for what is computed here, and left the other argument for later."""
    run = Run()
    run.stage.side_by_side = True
    a, b = run.stage("a", meeting, 1), run.stage("b", meeting, 2)
    both = run.stage("both", third, {"a": a, "b": b, "again": a}, Config())
    assert both.value.pairs.tolist() == [[1, 0], [2, 0], [1, 0]]


def test_while_an_argument_is_under_way_another_one_is_computed() -> None:
    """What the background was computing was waited for, although another argument was still missing."""
    run = Run()
    run.stage.side_by_side = True
    a, b, c = run.stage("a", first, 1), run.stage("b", meeting, 2), run.stage("c", meeting, 3)
    group = run.stage("group", third, {"c": c, "b": b}, Config())
    whole = run.stage("whole", third, {"a": a, "group": group, "c": c}, Config())
    assert whole.value.pairs.tolist() == [[1, 0], [3, 0], [2, 0], [3, 0]]


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_what_needs_most_stages_is_computed_first_and_gives_way_to_nothing() -> None:
    run = Run()
    run.stage.side_by_side = True
    short, start = run.stage("short", patience, 1), run.stage("start", patience, 2)
    long = run.stage("long", third, {"start": start}, Config())
    whole = run.stage("whole", third, {"short": short, "start": start, "long": long}, Config())
    here = os.getpriority(os.PRIO_PROCESS, 0)
    there = min(here + NICENESS, 19)
    assert whole.value.pairs[1:].tolist() == [[here, 0], [here, 0]]
    assert whole.value.source[0] in (here, there), "in the background, unless the long way was shorter"


def test_nothing_is_computed_beside_before_nodes_have_jobs() -> None:
    run = Run()
    run.stage.side_by_side = True
    beside = run.stage("beside", first, 1)
    run.stage.ahead(beside)
    whole = run.stage("whole", third, {"a": run.stage("a", second, run.stage("c", first, 2), 2)}, Config())
    assert whole.value.pairs.tolist() == [[4, 0]]
    assert computed == ["first", "second", "third"]
    a, b = run.stage("d", meeting, 1), run.stage("e", meeting, 2)
    assert run.stage("both", third, {"a": a, "b": b}, Config()).value.pairs.tolist() == [[1, 0], [2, 0]]
    while not beside.is_there:  # then what was asked for is computed too
        threading.Event().wait(0.01)


def test_side_by_side_no_more_than_two_are_computed_at_a_time() -> None:
    run = Run()
    run.stage.side_by_side = True
    groups = {
        name: run.stage(
            name, third, {str(at): run.stage(f"{name}{at}", watched, at) for at in range(3)}, Config()
        )
        for name in "abc"
    }
    _ = run.stage("all", third, groups, Config()).value
    assert max(at_once) == 2


def test_an_error_side_by_side_is_raised() -> None:
    run = Run()
    run.stage.side_by_side = True
    parts = {"a": run.stage("a", first, 1), "b": run.stage("b", failing, 2)}
    with pytest.raises(ValueError, match="always"):
        _ = run.stage("both", third, parts, Config()).value


def test_stored_results_are_used_again(tmp_path: Path) -> None:
    assert answer(tmp_path / "run") == answer(tmp_path / "run") == [[3, 0], [6, 0]]
    assert computed == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"value": 4}, ["first", "second", "third"]),
        ({"factor": 5}, ["second", "third"]),
        ({"config": load(settings=("seed=1",))}, ["third"]),
    ],
)
def test_a_change_repeats_exactly_what_depends_on_it(
    tmp_path: Path, changes: dict[str, object], expected: list[str]
) -> None:
    answer(tmp_path / "run")
    computed.clear()
    assert answer(tmp_path / "run", **changes) == answer(None, **changes)
    assert computed[: -len(["first", "second", "third"])] == expected


def test_going_back_costs_only_what_was_replaced(tmp_path: Path) -> None:
    answer(tmp_path / "run")
    answer(tmp_path / "run", factor=5)
    computed.clear()
    answer(tmp_path / "run")
    assert computed == ["second", "third"]


def test_swapped_and_dropped_inputs_change_the_key() -> None:
    run = Run()
    a, b = run.stage("a", first, 1), run.stage("b", first, 2)
    keys = {
        Call(third, ({"x": a, "y": b}, Config())).key,
        Call(third, ({"x": b, "y": a}, Config())).key,
        Call(third, ({"x": a}, Config())).key,
        Call(third, ({"x": a, "z": b}, Config())).key,
        Call(second, ({"x": a, "y": b}, Config())).key,
    }
    assert len(keys) == 5
    with pytest.raises(TypeError, match="required positional argument"):
        _ = run.stage("c", third, {"x": a}).value


def test_a_stage_takes_no_values_that_a_key_cannot_tell_apart() -> None:
    with pytest.raises(TypeError, match="second was given a Links"):
        Run().stage("b", second, Links.none(), 2)


def test_the_name_of_a_stage_is_only_a_label(tmp_path: Path) -> None:
    """A result under another name is another file, but the same call has the same key."""
    with Run(tmp_path / "run") as run:
        assert run.stage("a", first, 1).key == run.stage("other", first, 1).key


def test_changed_code_repeats_the_stage_and_what_builds_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(tmp_path / "run")
    computed.clear()
    fingerprints = {first: "1", second: "changed", third: "1"}
    monkeypatch.setattr("largeea.execution.stages.code_fingerprint", lambda function: fingerprints[function])
    answer(tmp_path / "run")
    assert computed == ["first", "second", "third"], "all fingerprints are new to the folder"
    computed.clear()
    fingerprints[second] = "changed again"
    answer(tmp_path / "run")
    assert computed == ["second", "third"]


def test_execution_settings_repeat_nothing(tmp_path: Path) -> None:
    answer(tmp_path / "run")
    computed.clear()
    for execution in (Execution(threads=7), Execution(memory="1GB"), Execution(device="cpu")):
        with executing(execution):
            answer(tmp_path / "run")
    assert computed == []


def test_without_a_folder_results_live_as_long_as_their_handles() -> None:
    run = Run()
    handle = method(run)
    _ = handle.value
    again = method(run)
    assert again is handle
    del handle, again
    _ = method(run).value
    assert computed == ["first", "second", "third"] * 2


def test_a_damaged_result_is_computed_again(tmp_path: Path) -> None:
    answer(tmp_path / "run")
    path = tmp_path / "run" / "stages" / "b.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    computed.clear()
    with Run(tmp_path / "run") as run:
        a = run.stage("a", first, 3)
        assert run.stage("b", second, a, 2).value.pairs.tolist() == [[6, 0]]
    assert computed == ["second"]


def test_bytes_of_counts_arrays_wherever_they_are() -> None:
    links = Links(np.zeros((10, 2), np.int32), np.zeros(10, np.float32))
    assert bytes_of(links) == 120
    assert bytes_of({"a": links, "b": {"c": np.zeros(4)}, "d": 3}) == 152


def test_a_fingerprint_covers_everything_a_module_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    def fingerprint() -> str:
        code._closure.cache_clear()
        code._digest.cache_clear()
        code.imports_of.cache_clear()
        code.module_fingerprint.cache_clear()
        return code.module_fingerprint("largeea.evidence.neighbours")

    before, read = fingerprint(), code.source_of
    assert fingerprint() == before

    def changed(module: str) -> None:
        monkeypatch.setattr(
            code, "source_of", lambda name: read(name) + (b"\n# changed" if name == module else b"")
        )

    for module in ("largeea.evidence.neighbours", "largeea.evidence.kernels", "largeea.similarity.kernels"):
        changed(module)
        assert fingerprint() != before, module
    for module in ("largeea.names.channel", "largeea.progress", "largeea.execution.jobs", "largeea.config"):
        changed(module)
        assert fingerprint() == before, module
