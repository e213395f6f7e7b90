from __future__ import annotations

from pathlib import Path

import pytest

from largeea.errors import UsageError
from largeea.execution import Execution, current, executing, machine
from largeea.execution.settings import SHARE_OF_MACHINE, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("12GB", 12 * 10**9), ("800 mb", 8 * 10**8), ("1.5GiB", 3 * 2**29), ("2g", 2 * 10**9), (5000, 5000)],
)
def test_sizes_are_read_as_people_write_them(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-3GB", "0", 0, -1, "3XB", True, None, 2.5])
def test_what_is_no_size_is_refused(text: object) -> None:
    with pytest.raises(UsageError, match="give a size such as 12GB"):
        parse_size(text, "memory")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": 0}, "threads = 0: give a whole number of at least 1"),
        ({"device": "tpu"}, "device = 'tpu': give auto, cpu, cuda or cuda:N"),
        ({"memory": "lots"}, "memory = 'lots': give a size"),
        ({"cores": 2}, "unknown execution setting 'cores'; known: memory, gpu_memory, threads"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Execution.of(given)


def test_wrong_types_are_type_errors() -> None:
    with pytest.raises(TypeError, match="execution must be an Execution or a dict, not int"):
        Execution.of(3)  # type: ignore[arg-type]


def test_defaults_come_from_the_machine() -> None:
    assert Execution().memory_bytes == int(SHARE_OF_MACHINE * machine.memory_bytes())
    assert Execution().thread_count == machine.cpu_count()


def test_limits_of_the_control_group_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)), raising=False)
    machine.memory_bytes.cache_clear()
    machine.cpu_count.cache_clear()
    try:
        assert machine.memory_bytes() == 1_000_000
        assert machine.cpu_count() == 2
        (tmp_path / "memory.max").write_text("max\n")
        machine.memory_bytes.cache_clear()
        assert machine.memory_bytes() > 10**8
    finally:
        machine.memory_bytes.cache_clear()
        machine.cpu_count.cache_clear()


def test_settings_hold_inside_their_context() -> None:
    before = current()
    with executing(Execution(threads=3)):
        assert current().thread_count == 3
    assert current() is before
