"""The writer writes in order, holds back what memory has no room for, and loses no error."""

from __future__ import annotations

import threading

import pytest

from largeea.runs.writer import Writer


def test_writes_end_in_the_order_they_were_given() -> None:
    writer, written = Writer(), list[int]()
    for number in range(20):
        writer.submit(lambda number=number: written.append(number), 1, 5)
    writer.close()
    assert written == list(range(20))


def test_one_that_has_no_room_waits() -> None:
    writer, gate, written = Writer(), threading.Event(), list[str]()

    def first() -> None:
        gate.wait(10)
        written.append("first")

    writer.submit(first, 6, 10)
    writer.submit(lambda: written.append("second"), 4, 10)
    assert written == [], "both have room, so neither is waited for"
    threading.Timer(0.1, gate.set).start()
    writer.submit(lambda: written.append("third"), 5, 10)
    assert "first" in written, "the third has room only after the first"
    writer.close()
    assert written == ["first", "second", "third"]


def test_one_larger_than_all_the_room_is_written_alone() -> None:
    writer, written = Writer(), list[int]()
    writer.submit(lambda: written.append(1), 100, 10)
    writer.submit(lambda: written.append(2), 100, 10)
    assert written[:1] == [1]
    writer.close()
    assert written == [1, 2]


def test_the_error_of_a_write_is_raised_once_and_what_waited_behind_it_is_dropped() -> None:
    writer, written, gate = Writer(), list[int](), threading.Event()

    def fail() -> None:
        gate.wait(10)
        raise OSError("no space left on device")

    writer.submit(fail, 1, 10)
    writer.submit(lambda: written.append(0), 1, 10)
    gate.set()
    with pytest.raises(OSError, match="no space"):
        writer.wait()
    assert written == []
    writer.submit(lambda: written.append(1), 1, 10)
    writer.close()
    assert written == [1]


def test_nothing_is_taken_after_the_end() -> None:
    writer = Writer()
    writer.close()
    with pytest.raises(RuntimeError, match="ended"):
        writer.submit(lambda: None, 1, 1)
