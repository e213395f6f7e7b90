"""Archives that mean well, and others."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from largeea.datasets import archives
from largeea.datasets.archives import can_unpack, unpack
from largeea.errors import InputError, ResourceError

FILES = {"set/rel_triples_1": b"a\tb\tc\n" * 1000, "set/721_5fold/1/train_links": b"a\tb\n", "README": b""}


def make_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def make_tar(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


MAKERS = [("a.zip", make_zip), ("a.tar.gz", make_tar)]


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def nothing_was_written(folder: Path, archive: str) -> bool:
    return [path.name for path in folder.iterdir()] == [archive]


@pytest.mark.parametrize(("name", "make"), MAKERS)
def test_all_files_come_out(tmp_path, name, make):
    unpack(make(tmp_path / name, FILES), tmp_path / "out")
    assert content(tmp_path / "out") == FILES


def test_folders_in_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.mkdir("set")
        archive.writestr("set/a", b"x")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        entry = tarfile.TarInfo("set")
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    unpack(tmp_path / "a.zip", tmp_path / "one")
    unpack(tmp_path / "a.tar", tmp_path / "two")
    assert content(tmp_path / "one") == {"set/a": b"x"}
    assert content(tmp_path / "two") == {}


@pytest.mark.parametrize(("name", "make"), MAKERS)
@pytest.mark.parametrize("path", ["../evil", "a/../../evil", "/etc/evil", "C:/evil", "a\\..\\evil"])
def test_no_way_out(tmp_path, name, make, path):
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(InputError, match="leads out of the folder"):
        unpack(make(inner / name, {"good": b"1", path: b"evil"}), inner / "out")
    assert nothing_was_written(inner, name)
    assert nothing_was_written(tmp_path, "inner")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_no_links_or_devices_in_tar(tmp_path, kind):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        entry = tarfile.TarInfo("link")
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(InputError, match="holds a link or device"):
        unpack(tmp_path / "a.tar", tmp_path / "out")
    assert nothing_was_written(tmp_path, "a.tar")


def test_no_links_in_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="holds a link"):
        unpack(tmp_path / "a.zip", tmp_path / "out")
    assert nothing_was_written(tmp_path, "a.zip")


@pytest.mark.parametrize(("name", "make"), MAKERS)
def test_bombs_are_stopped(tmp_path, name, make, monkeypatch):
    monkeypatch.setattr(archives, "EXPANSION_COUNTS_FROM", 1 << 16)
    bomb = make(tmp_path / name, {f"part{i}": bytes(1 << 20) for i in range(4)})
    with pytest.raises(InputError, match="like a bomb"):
        unpack(bomb, tmp_path / "out")
    assert nothing_was_written(tmp_path, name)


def test_too_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILES", 2)
    with pytest.raises(InputError, match="more than 2 files"):
        unpack(make_zip(tmp_path / "a.zip", {str(i): b"" for i in range(3)}), tmp_path / "out")


def test_two_files_of_one_name(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for _ in range(2):
            archive.addfile(tarfile.TarInfo("same"), io.BytesIO())
    with pytest.raises(InputError, match="two files of the same name"):
        unpack(tmp_path / "a.tar", tmp_path / "out")


@pytest.mark.parametrize(("name", "make"), MAKERS)
def test_damaged_archives(tmp_path, name, make):
    archive = make(tmp_path / name, {"a": os.urandom(100_000)})
    archive.write_bytes(archive.read_bytes()[:50_000])
    with pytest.raises(InputError, match=r"cannot be unpacked: .*fetch it again"):
        unpack(archive, tmp_path / "out")
    assert nothing_was_written(tmp_path, name)


def test_a_flipped_bit_is_noticed(tmp_path):
    archive = make_zip(tmp_path / "a.zip", {"a": os.urandom(10_000)})
    data = bytearray(archive.read_bytes())
    data[5_000] ^= 1
    archive.write_bytes(data)
    with pytest.raises(InputError, match="cannot be unpacked"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "lzma.zip"])
def test_damage_that_only_the_packer_notices_was_an_internal_error(tmp_path, packing):
    if packing == "lzma.zip":
        archive = tmp_path / "a.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as opened:
            opened.writestr("a", b"abc" * 10_000)
    else:
        archive = make_tar(tmp_path / f"a.tar.{packing}", {"a": os.urandom(100_000)}, f"w:{packing}")
    data = archive.read_bytes()
    archive.write_bytes(data[: len(data) // 3] + b"\xff" * 40 + data[len(data) // 3 + 40 :])
    with pytest.raises(InputError, match=r"(?s)cannot be unpacked: .*fetch it again"):
        unpack(archive, tmp_path / "out")


def test_a_flipped_bit_in_a_tar_came_out_of_it(tmp_path):
    archive = make_tar(tmp_path / "a.tar.gz", {"a": os.urandom(10_000)})
    data = bytearray(archive.read_bytes())
    data[5_000] ^= 1
    archive.write_bytes(data)
    with pytest.raises(InputError, match=r"cannot be unpacked: CRC"):
        unpack(archive, tmp_path / "out")


def test_endless_padding_of_a_tar_is_not_read(tmp_path):
    archive = make_tar(tmp_path / "a.tar.gz", {"a": b"x"})
    archive.write_bytes(archive.read_bytes() + gzip.compress(bytes(4 << 20)))
    with pytest.raises(InputError, match="more behind its end"):
        unpack(archive, tmp_path / "out")


def test_a_name_in_an_archive_that_is_not_utf_8_was_an_internal_error(tmp_path):
    archive = make_zip(tmp_path / "a.zip", {"\u00e4": b"x"})
    archive.write_bytes(archive.read_bytes().replace("\u00e4".encode(), b"\xff\xff"))
    with pytest.raises(InputError, match="cannot be unpacked"):
        unpack(archive, tmp_path / "out")


def test_a_full_disk_leaves_no_half(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    archive = make_zip(tmp_path / "a.zip", FILES)
    monkeypatch.setattr(archives, "_copy", full)
    with pytest.raises(ResourceError, match="No space left on device; free some space"):
        unpack(archive, tmp_path / "out")
    assert nothing_was_written(tmp_path, "a.zip")


@pytest.mark.parametrize(
    ("name", "can"), [("a.zip", True), ("A.ZIP", True), ("a.tar.gz", True), ("a.tgz", True), ("a.7z", False)]
)
def test_what_can_be_unpacked(name, can):
    assert can_unpack(Path(name)) is can
