from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.errors import InputError
from largeea.formats import streams
from largeea.formats.rejects import Rejects
from largeea.formats.streams import (
    ahead,
    blocks_of_lines,
    digest,
    is_compressed,
    limited_lines,
    open_bytes,
    plain_suffix,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

WITH_CHECKSUM = {zstd.CompressionParameter.checksum_flag: 1}  # as the command zstd does
COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstd.compress(data, options=WITH_CHECKSUM),
}
often = settings(deadline=None, max_examples=80, database=None, derandomize=True)
TEXT = "".join(f"line {i} äß中\n" for i in range(5000)).encode()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_files_read_like_plain_ones(tmp_path, suffix):
    for name in (f"a.nt{suffix}", f"a.nt{suffix.upper()}"):
        (tmp_path / name).write_bytes(COMPRESS[suffix](TEXT))
        with open_bytes(tmp_path / name) as stream:
            assert stream.read() == TEXT
        assert is_compressed(tmp_path / name)
        assert plain_suffix(tmp_path / name) == ".nt"


def test_several_archives_in_one_file_are_one_text(tmp_path):
    for suffix, compress in COMPRESS.items():
        path = tmp_path / f"parts{suffix}"
        path.write_bytes(compress(b"one\n") + compress(b"two\n"))
        with open_bytes(path) as stream:
            assert stream.read() == b"one\ntwo\n"


def test_plain_suffixes():
    expected = {"a.NT": ".nt", "a.b.ttl.gz": ".ttl", "a.gz": "", "a": "", "dir.nt/a": "", ".nt": ""}
    assert {name: plain_suffix(Path(name)) for name in expected} == expected


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_truncated_archive_is_named(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(COMPRESS[suffix](os.urandom(1 << 16))[:-100])
    cut_short = r"a\.\w+: the compressed file is cut short; fetch it again"
    with open_bytes(path) as stream, pytest.raises(InputError, match=cut_short):
        stream.read()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_damaged_archive_is_named(tmp_path, suffix):
    content = bytearray(COMPRESS[suffix](os.urandom(1 << 15).hex().encode()))
    content[1000:1400] = bytes(400)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    with open_bytes(path) as stream, pytest.raises(InputError, match=r"cannot be read: .*; is it complete"):
        stream.read()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_suffix_that_lies_is_named(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(TEXT)
    with open_bytes(path) as stream, pytest.raises(InputError, match=r"cannot be read: .*suffix right"):
        stream.read()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_bomb_stops_before_it_hurts(tmp_path, suffix):
    """More than 200 MB of zeros; what is read before the refusal stays near the limit."""
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(COMPRESS[suffix](bytes(12 << 20)) * 20)
    seen = 0

    def drain(stream):
        nonlocal seen
        while block := stream.read(1 << 20):
            seen += len(block)

    with open_bytes(path) as stream, pytest.raises(InputError, match=r"300 times its size.*decompress it"):
        drain(stream)
    assert seen <= max(streams.EXPANSION_COUNTS_FROM, streams.MAX_EXPANSION * path.stat().st_size)


def test_little_text_may_expand_as_it_likes(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(8 << 20)))
    with open_bytes(path) as stream:
        assert len(stream.read()) == 8 << 20


def test_what_cannot_be_opened_says_why(tmp_path):
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    reasons = {
        "missing": "no such file",
        "empty": "the file is empty",
        "pipe": "not a regular file",
        ".": "is a folder",
        "x" * 300: "cannot be opened: File name too long",
        "empty/below": "cannot be opened: Not a directory",
    }
    for name, reason in reasons.items():
        for open_it in (open_bytes, digest):
            if (name, open_it) == ("empty", digest):
                continue  # a list in a folder may be empty; who needs the content says so
            with pytest.raises(InputError, match=reason) as caught:
                open_it(tmp_path / name)
            assert caught.value.path == tmp_path / name


def test_the_digest_is_that_of_the_file_on_the_disk(tmp_path):
    for name, content in {"a": TEXT, "b.gz": gzip.compress(TEXT), "empty": b""}.items():
        (tmp_path / name).write_bytes(content)
        assert digest(tmp_path / name) == hashlib.sha256(content).digest()


# Blocks of lines


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("streams") / "text"


@often
@given(st.lists(st.text("ab\r é中", max_size=12), min_size=1), st.booleans(), st.integers(3, 40))
def test_blocks_are_the_text_cut_at_line_ends(scratch, lines, ends, size):
    text = "\n".join(lines).encode() + (b"\n" if ends else b"")
    scratch.write_bytes(b"\xef\xbb\xbf" + text)
    blocks = list(blocks_of_lines(scratch, size))
    assert all(block.text.endswith(b"\n") for block in blocks)
    joined = b"".join(block.text for block in blocks)
    assert joined == (text if text.endswith(b"\n") or not text else text + b"\n")
    before = 0
    for block in blocks:
        assert block.first == before + 1
        assert block.count == block.text.count(b"\n")
        before += block.count


@often
@given(st.lists(st.sampled_from([b"", b"fine", "fein, äöü".encode(), b"Latin-1: \xe9", b"\xff\xfe"])))
def test_lines_in_another_encoding_are_rejected_one_by_one(scratch, lines):
    scratch.write_bytes(b"first\r\n" + b"\n".join(lines))
    rejects = Rejects(max_errors=len(lines))
    blocks = list(blocks_of_lines(scratch, 16))
    for block in blocks:
        block.reject_undecodable(scratch, rejects)
    assert rejects.read_count == len(lines) + (1 if lines and lines[-1] else 0) or not lines
    text = b"".join(block.text for block in blocks)
    assert sum(block.rejected for block in blocks) == len(rejects)
    bad = [number for number, line in enumerate(lines, 2) if line and line[-1] in (0xE9, 0xFE)]
    assert [reject.line for reject in rejects.lines] == bad
    expected = [b"" if number in bad else line for number, line in enumerate(lines, 2)]
    assert text.rstrip(b"\n") == b"\n".join([b"first\r", *expected]).rstrip(b"\n")


def test_the_byte_that_is_not_utf8_is_shown(scratch):
    scratch.write_bytes(b"ok\ncaf\xe9 \xe8\n")
    (block,) = blocks_of_lines(scratch)
    with pytest.raises(InputError, match=r"text:2: not UTF-8: byte 0xe9") as caught:
        block.reject_undecodable(scratch, Rejects(0))
    assert r"caf\\xe9" in str(caught.value)


def test_many_lines_in_another_encoding_take_no_time(scratch):
    scratch.write_bytes(b"caf\xe9\n" * 100_000)
    rejects = Rejects(max_errors=1 << 20)
    started = time.perf_counter()
    for block in blocks_of_lines(scratch):
        block.reject_undecodable(scratch, rejects)
    assert len(rejects) == 100_000
    assert time.perf_counter() - started < 10


def test_a_line_without_end_is_refused(scratch, monkeypatch):
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 100)
    scratch.write_bytes(b"short\n" + b"x" * 99 + b"\n" + b"y" * 500)
    with pytest.raises(InputError, match=r"text:3: a line is longer than"):
        list(blocks_of_lines(scratch, 50))


# Working ahead


def test_ahead_passes_everything_on_in_order():
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert list(ahead(iter(()))) == []


def test_ahead_passes_errors_on_at_their_place():
    def items():
        yield 1
        yield 2
        raise InputError("broken")

    passed_on = ahead(items())
    assert [next(passed_on), next(passed_on)] == [1, 2]
    with pytest.raises(InputError, match="broken"):
        next(passed_on)


def test_ahead_ends_with_its_caller():
    """A caller that gives up leaves no thread and no open file behind."""
    stream = io.BytesIO(b"x" * 100)

    def items():
        with stream:
            while block := stream.read(1):
                yield block

    source = items()
    working = ahead(source)
    assert next(working) == b"x"
    working.close()
    source.close()
    assert stream.closed


# Lines one by one


def test_limited_lines_are_the_lines(scratch):
    scratch.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n\nlast")
    assert list(limited_lines(scratch)) == [b"one\r\n", b"two\n", b"\n", b"last"]


def test_a_line_beyond_its_limit_is_refused_unread(scratch):
    scratch.write_bytes(b"short\n" + b"x" * 99 + b"\n" + b"y" * 100 + b"\n")
    lines = limited_lines(scratch, most_bytes=100)
    assert [len(next(lines)), len(next(lines))] == [6, 100]
    with pytest.raises(InputError, match=r"text:3: a line is longer than 0 MB; is this text"):
        next(lines)


# What no reader can use


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04rest", "is a ZIP archive; unpack it"),
        (b"7z\xbc\xaf\x27\x1crest", "is a 7z archive"),
        (b"Rar!\x1a\x07\x01\x00", "is a RAR archive"),
        (bytes(257) + b"ustar\x00", "is a tar archive"),
        (gzip.compress(TEXT), r"is compressed with gzip .*the suffix \.gz"),
        (bz2.compress(TEXT), "is compressed with bzip2"),
        (lzma.compress(TEXT), "is compressed with xz"),
        (zstd.compress(TEXT), "is compressed with zstd"),
    ],
)
def test_foreign_content_is_named(scratch, content, message):
    scratch.write_bytes(content)
    with open_bytes(scratch) as stream, pytest.raises(InputError, match=f"text: {message}"):
        stream.read()


@pytest.mark.parametrize(
    "content", [b"BZhang\tin\tChina\n", b"PKW\ta\tb", b"x", "ÿþ text".encode(), bytes(300)]
)
def test_text_that_only_looks_foreign_is_read(scratch, content):
    scratch.write_bytes(content)
    with open_bytes(scratch) as stream:
        assert stream.read() == content
