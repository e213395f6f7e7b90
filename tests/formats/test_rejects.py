"""How many malformed statements are tolerated, and what the user is told about them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from largeea.errors import InputError, LargeEAWarning
from largeea.formats import read_graph
from largeea.formats import rejects as module
from largeea.formats.rejects import Rejects

PATH = Path("a.nt")


def add(rejects: Rejects, count: int) -> None:
    for line in range(count):
        rejects.add(PATH, line + 1, "is wrong", "text")


def test_a_hundred_are_tolerated_in_a_small_file():
    rejects = Rejects()
    rejects.saw(200)
    add(rejects, 100)
    expected = r"(?s)a.nt:101: is wrong\n  'x'\nThat makes 101 malformed.*100, or 1% of what is read"
    with pytest.raises(InputError, match=expected):
        rejects.add(PATH, 101, "is wrong", "x")


def test_one_per_cent_is_tolerated_in_a_large_file():
    rejects = Rejects()
    rejects.saw(1_000_000)
    add(rejects, 10_000)
    with pytest.raises(InputError, match="That makes 10001 malformed"):
        rejects.add(PATH, 1, "is wrong", "x")


def test_a_number_is_a_number():
    rejects = Rejects(2)
    rejects.saw(1_000_000)
    rejects.add(PATH, 1, "is wrong", "x")
    rejects.add_repaired(PATH, 2, "language tag", "is wrong", "x")
    with pytest.raises(InputError, match=r"That makes 3 malformed line\(s\); 2 allowed"):
        rejects.add_repaired(PATH, 3, "language tag", "is wrong", "x")


def test_garbage_fails_early_whatever_follows(tmp_path):
    """The share counts what was read so far, so a good second half does not help."""
    path = tmp_path / "a.nt"
    good = b"".join(b"<urn:%d> <urn:p> <urn:b> .\n" % i for i in range(400_000))
    path.write_bytes(b"garbage\n" * 4000 + good)
    with pytest.raises(InputError, match=r"a\.nt:\d+: "):
        read_graph(path, rejects=Rejects())
    path.write_bytes(good + b"garbage\n" * 4000)
    assert read_graph(path, rejects=Rejects()).counts.rejected == 4000


def test_repaired_literals_are_listed_and_cost_nothing():
    rejects = Rejects()
    for line in range(1000):
        rejects.add_repaired(PATH, line + 1, "datatype", "is wrong", "x")
    assert len(rejects) == 0
    assert rejects
    file = io.BytesIO()
    rejects.write(file)
    assert file.getvalue().count(b"kept without its datatype: is wrong") == 1000


def test_the_list_has_an_end(monkeypatch):
    monkeypatch.setattr(module, "MOST_LISTED", 3)
    rejects = Rejects(100)
    add(rejects, 5)
    assert (len(rejects), len(rejects.lines)) == (5, 3)
    file = io.BytesIO()
    rejects.write(file)
    lines = file.getvalue().decode().splitlines()
    assert lines[0] == "file\tline\treason\ttext"
    assert lines[1] == "a.nt\t1\tis wrong\ttext"
    assert lines[-1] == "\t\tand 2 more, which are not listed\t"


def test_the_user_is_told_once():
    rejects = Rejects()
    rejects.tell()  # nothing to tell
    rejects.saw(2000)
    rejects.add(Path("b.nt"), 7, "is wrong", "x")
    rejects.add_repaired(PATH, None, "language tag", "is wrong", "x")
    with pytest.warns(LargeEAWarning) as told:
        rejects.tell(Path("run") / "rejects.tsv")
    assert [str(warning.message) for warning in told] == [
        "1 malformed line(s) or statement(s) were left out and 1 literal(s) were kept without a malformed "
        "language tag or datatype of 2,000 read; the first: a.nt: kept without its language tag: is wrong. "
        "All are listed in run/rejects.tsv"
    ]
