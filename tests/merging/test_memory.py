"""Memory is bounded: it does not grow with the number of statements."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from largeea.merging import merge_run
from largeea.merging import statements as merging_statements

PROGRAM = """
import sys, threading, time
from pathlib import Path
from largeea.formats import streams
from largeea.merging import merge_run

streams.blocks_of_lines.__defaults__ = (1 << 20,)  # so that both files have many blocks
peak = 0

def watch():
    global peak
    while True:
        status = Path("/proc/self/status").read_text().splitlines()
        peak = max(peak, next(int(line.split()[1]) for line in status if line.startswith("RssAnon")))
        time.sleep(0.002)

threading.Thread(target=watch, daemon=True).start()
for _ in range(2):
    merge_run(sys.argv[1], sys.argv[3])
before = peak
merged = merge_run(sys.argv[2], sys.argv[3])
print(merged.written, peak - before)
"""
"""Memory that is not a mapped file, sampled: the stored graphs are mapped, and a fork inherits its peak."""
TEXT = "of a long text " * 15


def lines(side: str, statements: int) -> str:
    names = ("anna", "bert", "cleo")
    return "".join(
        f'<http://{side}.org/{names[n % 3]}> <http://p/{n % 7}> "{n:09d} {TEXT}" .\n'
        for n in range(statements)
    )


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging_statements, "ROWS_AT_ONCE", 4)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_300_000_statements_take_little_more_memory_than_100_000(
    aligned: Callable[..., Path], tmp_path: Path
) -> None:
    links = [("http://s.org/anna", "http://t.org/anna")]
    target = {"t.nt": lines("t", 10)}
    runs = [
        aligned({"s.nt": lines("s", size)}, target, links, tmp_path / str(size))
        for size in (100_000, 300_000)
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, runs), str(tmp_path / "m.nt.zst")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written, growth_kb = map(int, done.stdout.split())
    assert written == 300_010
    assert growth_kb < 30_000


@pytest.mark.usefixtures("small_blocks")
def test_blocks_do_not_change_what_is_written(aligned: Callable[..., Path], tmp_path: Path) -> None:
    rows = "subject,relation,object\n" + "".join(f"anna,knows,friend {n % 30}\n" for n in range(60))
    run = aligned({"s.csv": rows}, {"t.csv": rows}, [("anna", "anna")])
    merge_run(run, tmp_path / "m.nt")
    found = (tmp_path / "m.nt").read_text().splitlines()
    assert len(found) == len(set(found)) == 60
