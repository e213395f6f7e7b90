from __future__ import annotations

import os
from pathlib import Path

import pytest

from largeea.errors import InputError
from largeea.runs import inputs
from largeea.runs.inputs import check_unchanged, identity, record_inputs

LONG_AGO = 10**18


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files that nobody has touched for long."""
    found = [tmp_path / "a.nt", tmp_path / "b.nt"]
    for file in found:
        file.write_text(file.name)
        os.utime(file, ns=(LONG_AGO, LONG_AGO))
    return found


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose content is read."""
    read: list[str] = []
    original = inputs.digest

    def counted(path: Path) -> bytes:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(inputs, "digest", counted)
    return read


def test_known_files_are_not_read_again(files: list[Path], reads: list[str]) -> None:
    known = record_inputs(files, [])
    assert sorted(reads) == ["a.nt", "b.nt"]
    reads.clear()
    assert record_inputs(files, known) == known
    assert reads == []


def test_a_file_is_known_by_its_content(files: list[Path], reads: list[str]) -> None:
    known = record_inputs(files, [])
    reads.clear()
    files[0].touch()
    again = record_inputs(files, known)
    assert reads == ["a.nt"]
    assert identity(again, "") == identity(known, "")
    files[0].write_text("A.nt")
    assert identity(record_inputs(files, again), "") != identity(known, "")


def test_a_file_just_written_is_read_again(files: list[Path], reads: list[str]) -> None:
    """It may have changed within the same tick of the clock."""
    files[1].write_text("b.NT")
    known = record_inputs(files, [])
    reads.clear()
    record_inputs(files, known)
    assert reads == ["b.nt"]


def test_the_identity_of_an_input(files: list[Path]) -> None:
    def identity_of(*which: int, how: str = "") -> str:
        return identity(record_inputs([files[i] for i in which], []), how)

    found = [identity_of(0, 1), identity_of(1, 0), identity_of(0), identity_of(0, 1, how="max_errors=1")]
    assert len(set(found)) == 4
    assert identity_of(0, 1) == found[0]


def test_a_file_that_changes_while_it_is_read(files: list[Path]) -> None:
    records = record_inputs(files, [])
    check_unchanged(records)
    files[1].write_text("more than before")
    with pytest.raises(InputError, match=r"b\.nt: changed while it was being read"):
        check_unchanged(records)
    files[1].unlink()
    with pytest.raises(InputError, match="changed while"):
        check_unchanged(records)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        record_inputs([tmp_path / "none.nt"], [])
