"""Ctrl-C and SIGTERM: end the process soon and say how to resume the run.

The signal raises an exception in the main thread. A long call into compiled code delays the exception until
it returns; if that takes too long, a second thread ends the process. This is safe: files are written
atomically, and a run resumes from its last finished stage.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from largeea.runs.lock import held
from largeea.runs.manifest import way_on

PATIENCE = 3.0
"""Seconds that the running step has to end before the process is ended."""
AGAIN = 0.02
"""Seconds after which a signal is sent again that came while an object was destroyed."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """A signal asked the process to end. A `BaseException`, so that no `except Exception` catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.exit_code = 128 + number


@contextmanager
def stopping(say: Callable[[str], None]) -> Iterator[None]:
    """Raise `Stopped` on a signal inside this context; `say` prints the message if the process is ended."""
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    heeded = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, _stop) for number in heeded}
    signal.set_wakeup_fd(sender, warn_on_full_buffer=False)
    over = threading.Event()
    threading.Thread(target=_watch, args=(receiver, over, say), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        over.set()
        os.close(sender)
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    """Raise `Stopped`. Python ignores it in a destructor: there, send the signal again a little later."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            threading.Timer(AGAIN, os.kill, (os.getpid(), number)).start()
            return
        frame = frame.f_back
    raise Stopped(number)


def _watch(receiver: int, over: threading.Event, say: Callable[[str], None]) -> None:
    """Wait for a signal or the end of the context; end the process if the main thread does not react."""
    with os.fdopen(receiver, "rb", buffering=0) as signals:  # open until the end: more signals may come
        received = signals.read(1)
        if not received or over.wait(PATIENCE):
            return
    stopped = Stopped(received[0])
    ways_on = sorted({way_on(_from_here(place)) for place in held()}) or ["the same command"]
    say(f"{stopped}\nWhat was finished is kept; continue with: {' or '.join(ways_on)}")
    os._exit(stopped.exit_code)


def _from_here(place: Path) -> Path:
    """The same folder, relative to the working directory where it is inside."""
    here = Path.cwd()
    return place.relative_to(here) if place.is_relative_to(here) else place
