from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from largeea.errors import ResourceError
from largeea.runs.files import atomic_write, remove_leftovers


def write(path: Path, content: bytes) -> None:
    with atomic_write(path) as file:
        file.write(content)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_new_content_replaces_the_old(tmp_path: Path) -> None:
    write(tmp_path / "file", b"old")
    write(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert names_in(tmp_path) == ["file"]


def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "file", b"new")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"new"


def test_nobody_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, b"old")
    with atomic_write(path) as file:
        file.write(b"ne")
        file.flush()
        assert path.read_bytes() == b"old"
        file.write(b"w")
    assert path.read_bytes() == b"new"


def test_whoever_reads_the_old_file_reads_it_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, b"old")
    with path.open("rb") as reader:
        write(path, b"new")
        assert reader.read() == b"old"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_whatever_happens_the_old_content_stays(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file"
    write(path, b"old")

    def fail_halfway() -> None:
        with atomic_write(path) as file:
            file.write(b"ne")
            raise error

    with pytest.raises(error):
        fail_halfway()
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "no space left to write .*file; free some space or choose another folder with -o"),
        (errno.EDQUOT, "no space left to write .*file"),
        (errno.EACCES, "cannot write .*file: Permission denied"),
        (errno.EIO, "cannot write .*file: Input/output error"),
    ],
)
def test_the_disk_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, message: str) -> None:
    path = tmp_path / "file"
    write(path, b"old")

    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(ResourceError, match=message):
            write(path, b"new")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["file"]


def test_the_folder_is_a_file(tmp_path: Path) -> None:
    write(tmp_path / "file", b"old")
    with pytest.raises(ResourceError, match=r"cannot write .*below: "):
        write(tmp_path / "file" / "below", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"


def test_the_place_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(ResourceError, match="cannot write"):
        write(tmp_path / "file", b"new")
    assert names_in(tmp_path) == ["file"]


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ResourceError, match="Permission denied"):
            write(tmp_path / "file", b"new")
    finally:
        tmp_path.chmod(0o700)


def test_only_unfinished_files_are_removed(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    left = tmp_path / "stages" / ".names.safetensors.4711.tmp"
    kept = [tmp_path / "stages" / "names.safetensors", tmp_path / "notes.tmp"]
    for path in (left, *kept):
        path.write_bytes(b"")
    remove_leftovers(tmp_path)
    assert not left.exists()
    assert all(path.exists() for path in kept)
