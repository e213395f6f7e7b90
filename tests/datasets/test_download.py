"""Downloads from a server that breaks off, lies, or is not there."""

from __future__ import annotations

import errno
import gc
import hashlib
import os
from pathlib import Path

import pytest

from largeea.datasets import download as module
from largeea.datasets.download import check, download
from largeea.errors import InputError, ResourceError
from largeea.progress import listening


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_arrives_whole(server, tmp_path):
    download(server.url, tmp_path / "new" / "a.zip", server.sha256(), len(server.content))
    assert (tmp_path / "new" / "a.zip").read_bytes() == server.content
    assert leftovers(tmp_path / "new") == ["a.zip"]


def test_progress_is_told(server, tmp_path):
    told = []

    class Ear:
        def step(self, title):
            raise AssertionError

        def advance(self, done, total):
            told.append((done, total))

        def note(self, message):
            raise AssertionError

    with listening(Ear()):
        download(server.url, tmp_path / "a.zip")
    assert told[0] == (0, 5)
    assert told[-1] == (5, 5)


def test_a_broken_connection_is_taken_up_where_it_broke(server, tmp_path):
    server.manners = ["broken", "broken", "fine"]
    download(server.url, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == server.content
    size = len(server.content)
    assert server.ranges == [None, f"bytes={size // 2}-", f"bytes={size * 3 // 4}-"]
    assert leftovers(tmp_path) == ["a.zip"]


def test_a_server_that_closes_without_a_word(server, tmp_path):
    server.manners = ["slow-start", "fine"]
    download(server.url, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == server.content


def test_what_came_is_kept_for_the_next_command(server, tmp_path):
    server.manners = ["broken"]
    with pytest.raises(ResourceError, match=r"connection broke after .* run the same command again.*ask Bob"):
        download(server.url, tmp_path / "a.zip", help="ask Bob")
    assert leftovers(tmp_path) == ["a.zip.part", "a.zip.part.version"]
    had = (tmp_path / "a.zip.part").stat().st_size
    assert had == len(server.content) * 15 // 16
    server.manners, server.ranges = ["fine"], []
    download(server.url, tmp_path / "a.zip")
    assert server.ranges == [f"bytes={had}-"]
    assert (tmp_path / "a.zip").read_bytes() == server.content


def test_a_server_that_cannot_go_on_starts_again(server, tmp_path):
    server.manners = ["broken", "no-range"]
    download(server.url, tmp_path / "a.zip", server.sha256())
    assert (tmp_path / "a.zip").read_bytes() == server.content


def test_a_file_that_changed_in_between_is_not_mixed(server, tmp_path):
    server.manners = ["broken"]
    with pytest.raises(ResourceError):
        download(server.url, tmp_path / "a.zip")
    server.content, server.manners = server.content[::-1], ["fine"]
    download(server.url, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == server.content


def test_without_version_and_checksum_nothing_is_gone_on_with(server, tmp_path):
    (tmp_path / "a.zip.part").write_bytes(b"who knows from where")
    server.manners = ["no-version"]
    download(server.url, tmp_path / "a.zip")
    assert server.ranges == [None]
    assert (tmp_path / "a.zip").read_bytes() == server.content


def test_a_part_that_is_already_whole(server, tmp_path):
    (tmp_path / "a.zip.part").write_bytes(server.content)
    download(server.url, tmp_path / "a.zip", server.sha256())
    assert (tmp_path / "a.zip").read_bytes() == server.content
    assert server.ranges == [f"bytes={len(server.content)}-"]


def test_a_part_that_is_longer_than_the_file_is_dropped(server, tmp_path):
    (tmp_path / "a.zip.part").write_bytes(server.content + b"more")
    download(server.url, tmp_path / "a.zip", server.sha256())
    assert (tmp_path / "a.zip").read_bytes() == server.content


def test_a_download_without_length_is_measured_by_the_size_expected(server, tmp_path):
    server.manners = ["short", "fine"]
    download(server.url, tmp_path / "a.zip", server.sha256(), len(server.content))
    assert (tmp_path / "a.zip").read_bytes() == server.content


@pytest.mark.parametrize("manner", ["fine", "short"])
def test_a_wrong_file_is_removed(server, tmp_path, manner):
    server.manners = [manner]
    wrong = "sha256:" + "0" * 64
    with pytest.raises(ResourceError, match=rf"another file than expected: sha256:\w+ instead of {wrong}"):
        download(server.url, tmp_path / "a.zip", wrong)
    assert leftovers(tmp_path) == []


def test_another_size_than_expected(server, tmp_path):
    with pytest.raises(ResourceError, match=r"offers 5,120,000 bytes, but 7 were expected"):
        download(server.url, tmp_path / "a.zip", size=7)


def test_more_than_the_whole(server, tmp_path):
    server.manners = ["too-much"]
    with pytest.raises(ResourceError, match=r"sends more than the 5,120,000 bytes"):
        download(server.url, tmp_path / "a.zip", size=len(server.content))


def test_a_file_of_unknown_size_has_a_limit_too(server, tmp_path, monkeypatch):
    server.manners = ["short"]
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    with pytest.raises(ResourceError, match=r"sends more than the 1,000 bytes"):
        download(server.url, tmp_path / "a.zip")


def test_another_part_than_asked_for(server, tmp_path):
    server.manners = ["broken", "wrong-part"]
    with pytest.raises(ResourceError, match="another part than asked for"):
        download(server.url, tmp_path / "a.zip")


def test_a_web_page_is_no_data(server, tmp_path):
    server.manners = ["html"]
    with pytest.raises(ResourceError, match="a web page instead of the file"):
        download(server.url, tmp_path / "a.zip")
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(("status", "words"), [("404", "404 Not Found"), ("503", "503 Service Unavailable")])
def test_a_server_that_refuses(server, tmp_path, status, words):
    server.manners = [status]
    with pytest.raises(ResourceError, match=rf"the server answers {words}. see the page"):
        download(server.url, tmp_path / "a.zip", help="see the page")


@pytest.mark.parametrize("manner", ["negative-chunk", "nowhere"])
def test_an_answer_that_is_not_http_is_no_internal_error(server, tmp_path, manner):
    server.manners = [manner]
    with pytest.raises(ResourceError, match=r"the answer of the server is not valid HTTP .*ask Bob"):
        download(server.url, tmp_path / "a.zip", help="ask Bob")


def test_a_redirection_to_no_address_left_the_connection_open(server, tmp_path):
    """An open connection warns when it is collected, and warnings are errors here."""
    server.manners = ["nowhere"]
    with pytest.raises(ResourceError, match="is not valid HTTP"):
        download(server.url, tmp_path / "a.zip")
    gc.collect()


def test_offline(tmp_path):
    with pytest.raises(ResourceError, match=r"cannot reach nowhere\.invalid .*offline\? By hand"):
        download("http://nowhere.invalid/a.zip", tmp_path / "a.zip", help="By hand: ...")
    assert leftovers(tmp_path) == []


def test_a_full_disk_keeps_what_is_there(server, tmp_path, monkeypatch):
    def full(answer, file, whole):
        file.write(b"abc")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(module, "_copy", full)
        with pytest.raises(ResourceError, match="No space left on device; what is there is kept"):
            download(server.url, tmp_path / "a.zip")
    assert (tmp_path / "a.zip.part").read_bytes() == b"abc"


def test_the_first_file_of_unknown_checksum_is_the_one_to_be(tmp_path):
    file = tmp_path / "a.zip"
    file.write_bytes(b"first")
    check(file, None)
    assert (tmp_path / "a.zip.sha256").read_text() == f"{hashlib.sha256(b'first').hexdigest()}  a.zip\n"
    check(file, None)
    file.write_bytes(b"second")
    with pytest.raises(InputError, match=r"a\.zip: is not what it should be: sha256:\w+ instead of sha256:"):
        check(file, None)


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
def test_known_checksums_are_compared(tmp_path, algorithm):
    file = tmp_path / "a.zip"
    file.write_bytes(b"right")
    checksum = f"{algorithm}:{hashlib.new(algorithm, b'right').hexdigest()}"
    check(file, checksum)
    assert leftovers(tmp_path) == ["a.zip"]
    file.write_bytes(b"wrong")
    with pytest.raises(InputError, match="is not what it should be"):
        check(file, checksum)


@pytest.mark.parametrize("left", [b"", b"\n", b"\xff\xfe"])
def test_a_damaged_record_of_a_checksum_was_an_internal_error(tmp_path, left):
    (tmp_path / "a.zip").write_bytes(b"first")
    (tmp_path / "a.zip.sha256").write_bytes(left)
    if left.strip():
        with pytest.raises(InputError, match="is not what it should be"):
            check(tmp_path / "a.zip", None)
    else:
        check(tmp_path / "a.zip", None)
        assert (tmp_path / "a.zip.sha256").read_text().endswith("  a.zip\n")


def test_a_damaged_mark_of_a_version_was_an_internal_error(server, tmp_path):
    for mark in (b"\xff\xfe\xfd", b"\n\r"):
        (tmp_path / "a.zip.part").write_bytes(b"other")
        (tmp_path / "a.zip.part.version").write_bytes(mark)
        download(server.url, tmp_path / "a.zip", None)
        assert (tmp_path / "a.zip").read_bytes() == server.content
