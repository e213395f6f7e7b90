from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from largeea.errors import LargeEAWarning
from largeea.progress import advance, listening, note, step, track, warn


class Diary:
    def __init__(self) -> None:
        self.entries: list[object] = []

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        self.entries.append(f"{title} begins")
        yield
        self.entries.append(f"{title} ends")

    def advance(self, done: int, total: int) -> None:
        self.entries.append((done, total))

    def note(self, message: str) -> None:
        self.entries.append(message)

    def warn(self, message: str) -> None:
        self.entries.append(f"warning: {message}")


def test_nobody_listens() -> None:
    with step("work"):
        note("hello")
        advance(1, 2)
        assert list(track("abc", 3)) == ["a", "b", "c"]


def test_python_users_get_notes_through_logging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "largeea"), step("work"):
        note("hello")
    assert [(record.name, record.levelname, record.message) for record in caplog.records] == [
        ("largeea", "DEBUG", "work"),
        ("largeea", "INFO", "hello"),
    ]


def test_python_users_get_warnings_as_warnings() -> None:
    with pytest.warns(LargeEAWarning, match="^look into this$"):
        warn("look into this")
    assert issubclass(LargeEAWarning, UserWarning)


def test_a_listener_gets_warnings_itself() -> None:
    diary = Diary()
    with listening(diary):
        warn("look into this")
        advance(3, 4)
    assert diary.entries == ["warning: look into this", (3, 4)]


def test_the_listener_hears_all_in_order() -> None:
    diary = Diary()
    with listening(diary), step("work"):
        note("hello")
        assert list(track(iter("ab"), 2)) == ["a", "b"]
    assert diary.entries == ["work begins", "hello", (0, 2), (1, 2), (2, 2), "work ends"]


def test_no_items_are_all_done() -> None:
    diary = Diary()
    with listening(diary):
        assert list(track([], 0)) == []
    assert diary.entries == [(0, 0)]


def test_listening_ends_also_by_an_error() -> None:
    outer, inner = Diary(), Diary()
    with listening(outer):
        with pytest.raises(ZeroDivisionError), listening(inner):
            raise ZeroDivisionError
        note("after")
    note("nobody")
    assert outer.entries == ["after"]
    assert inner.entries == []


def test_another_thread_is_not_overheard() -> None:
    diary = Diary()
    with listening(diary):
        thread = threading.Thread(target=note, args=("from afar",))
        thread.start()
        thread.join()
    assert diary.entries == []
