"""Servers that lie, and archives that harm, for `largeea data get`; an honest server then gives the data."""

from __future__ import annotations

import io
import os
import signal
import socket
import stat
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.attack.process import fall, run, start
from benchmarks.attack.victims import know_an_archive, prepare
from benchmarks.attack.workshop import Attempt, Workshop, difference

from largeea.datasets import download

GET = ["data", "get", "attack", "-q"]
PATIENCE = 2
"""Seconds without a byte after which a connection counts as broken, instead of a minute."""
MOST_MB = 600.0
FLOOD = b"x" * (1 << 20)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n"

Answer = Callable[[bytes], Iterator[bytes]]
"""From the bytes of the archive to what a server sends, piece by piece."""


def _all(*pieces: bytes) -> Answer:
    return lambda archive: iter(pieces)


def honest(archive: bytes) -> Iterator[bytes]:
    yield OK + b"Content-Length: %d\r\n\r\n" % len(archive) + archive


def _shorter(archive: bytes) -> Iterator[bytes]:
    yield OK + b"Content-Length: %d\r\n\r\n" % len(archive) + archive[: len(archive) // 2]


def _longer(archive: bytes) -> Iterator[bytes]:
    yield OK + b"Content-Length: %d\r\n\r\n" % len(archive) + archive + archive


def _flipped(archive: bytes) -> Iterator[bytes]:
    yield from honest(archive[:60] + bytes([archive[60] ^ 1]) + archive[61:])


def _endless_header(archive: bytes) -> Iterator[bytes]:
    yield OK
    for _ in range(300):
        yield b"X: " + FLOOD + b"\r\n"


def _chunk_of_a_terabyte(archive: bytes) -> Iterator[bytes]:
    yield OK + b"Transfer-Encoding: chunked\r\n\r\n10000000000\r\n" + archive


def _silent(archive: bytes) -> Iterator[bytes]:
    yield OK + b"Content-Length: 100\r\n\r\n"
    time.sleep(10 * PATIENCE)


def _redirected(to: bytes) -> Answer:
    return _all(b"HTTP/1.1 302 Found\r\nLocation: " + to + b"\r\nContent-Length: 0\r\n\r\n")


LIES: dict[str, Answer] = {
    "nothing": _all(),
    "no HTTP": _all(b"\0\xff" * 1000),
    "another status line": _all(b"HTTP/9.9 -1 \x1b[2J\r\n\r\n"),
    "a control sequence as reason": _all(b"HTTP/1.1 500 \x1b[2J\x07\r\nContent-Length: 0\r\n\r\n"),
    "half": _shorter,
    "twice": _longer,
    "a flipped bit": _flipped,
    "a web page": _all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"),
    "a negative length": _all(OK + b"Content-Length: -5\r\n\r\nxxxxx"),
    "a length of a petabyte": _all(OK + b"Content-Length: 1000000000000000\r\n\r\nx"),
    "a length that is no number": _all(OK + b"Content-Length: \xc2\xb2\r\n\r\nx"),
    "no length": lambda archive: iter([OK + b"\r\n" + archive]),
    "a header without end": _endless_header,
    "too many headers": _all(OK + b"X: y\r\n" * 100_000 + b"\r\n"),
    "a chunk of a terabyte": _chunk_of_a_terabyte,
    "a chunk of negative length": _all(OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nxxxxx"),
    "a part that nobody asked for": _all(
        b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 99-199/200\r\nContent-Length: 100\r\n\r\n" + b"x" * 100
    ),
    "no such range": _all(b"HTTP/1.1 416 No\r\nContent-Range: bytes */0\r\nContent-Length: 0\r\n\r\n"),
    "an ETag with a line break": _all(OK + b'ETag: "a\rb\x00"\r\nContent-Length: 3\r\n\r\nxyz'),
    "a way to itself": _redirected(b"/"),
    "a way to a file": _redirected(b"file:///etc/passwd"),
    "a way to nowhere": _redirected(b"http://[::1"),
    "silence": _silent,
}


def _zip(files: dict[str, bytes], mode: int = 0) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return sink.getvalue()


def _tar(kind: bytes, name: str, link: str = "", size: int = 0) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname, entry.size = kind, link, size
        archive.addfile(entry, io.BytesIO(bytes(size)))
    return sink.getvalue()


def _false_size(archive: bytes) -> bytes:
    """Let the directory of an archive declare that its first file has 1 byte."""
    at = archive.rindex(b"PK\x01\x02") + 24
    return archive[:at] + (1).to_bytes(4, "little") + archive[at + 4 :]


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "out of the folder.zip": lambda: _zip({"../evil": b"x"}),
    "absolute.zip": lambda: _zip({"/tmp/evil": b"x"}),
    "backslashes.zip": lambda: _zip({"..\\evil": b"x"}),
    "link.zip": lambda: _zip({"link": b"/etc/passwd"}, stat.S_IFLNK | 0o777),
    "bomb.zip": lambda: _zip({f"part{i}": bytes(64 << 20) for i in range(6)}),
    "false size.zip": lambda: _false_size(_zip({"a": bytes(1 << 20)})),
    "twice the same.zip": lambda: _zip({"a": b"x"})[:-22] + _zip({"a": b"x"}),
    "file and folder.zip": lambda: _zip({"a": b"x", "a/b": b"y"}),
    "long name.zip": lambda: _zip({"x" * 5000: b"x"}),
    "deep folders.zip": lambda: _zip({"a/" * 3000 + "b": b"x"}),
    "control characters.zip": lambda: _zip({"\x1b[2J": b"x"}),
    "no archive.zip": lambda: b"PK\x03\x04" + b"x" * 1000,
    "empty.zip": lambda: b"",
    "link.tar.gz": lambda: _tar(tarfile.SYMTYPE, "link", "/etc"),
    "hard link.tar.gz": lambda: _tar(tarfile.LNKTYPE, "link", "/etc/passwd"),
    "device.tar.gz": lambda: _tar(tarfile.CHRTYPE, "null"),
    "pipe.tar.gz": lambda: _tar(tarfile.FIFOTYPE, "pipe"),
    "out of the folder.tar.gz": lambda: _tar(tarfile.REGTYPE, "../evil"),
    "bomb.tar.gz": lambda: _tar(tarfile.REGTYPE, "zeros", size=400 << 20),
    "cut short.tar.gz": lambda: _tar(tarfile.REGTYPE, "a", size=1 << 20)[:-9],
    "damaged.tar.xz": lambda: b"\xfd7zXZ\x00" + b"x" * 1000,
    "damaged.tar.bz2": lambda: b"BZh9" + b"x" * 1000,
}


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    prepare(workshop)
    workshop.restore("inputs")
    archive = Path("pair.zip").read_bytes()
    with served(honest, archive) as url:
        run(GET, lambda: _from(url))
    expected = _compared(workshop)
    for what, answer in list(LIES.items())[:most]:
        workshop.restore("inputs")
        with served(answer, archive) as url:
            outcome = run(GET, lambda url=url: _from(url))
        wrong = fall(outcome, (0, 3, 4)) or _shown_or_large(outcome.out + outcome.err, outcome.memory_mb)
        if not wrong and outcome.code:
            for path in Path("data").rglob("pair.zip"):  # as the message says
                path.unlink()
                path.with_name("pair.zip.sha256").unlink(missing_ok=True)
            with served(honest, archive) as url:
                wrong = fall(run(GET, lambda url=url: _from(url)), (0,))
        wrong = wrong or difference(_compared(workshop), expected)
        yield "lying server", wrong and f"{what}: {wrong}"
    for name, make in list(ARCHIVES.items())[:most]:
        workshop.restore("inputs")
        before = workshop.content()
        content = make()
        with served(honest, content) as url:
            outcome = run(GET, lambda url=url, name=name: _from(url, name))
        wrong = fall(outcome, (3, 4)) or _shown_or_large(outcome.out + outcome.err, outcome.memory_mb)
        kept = {
            path: data for path, data in workshop.content().items() if not path.startswith("data/attack/")
        }
        found = [*workshop.work.parent.rglob("evil"), *Path("data").rglob("*")]
        left = [path for path in found if path.name == "evil" or path.is_symlink() or _is_special(path)]
        wrong = wrong or difference(kept, before) or (f"left {left[0]}" if left else None)
        yield "hostile archive", wrong and f"{name}: {wrong}"


def _from(url: str, file: str = "pair.zip") -> None:
    """Let the data set `attack` come from this address, and wait less for an answer."""
    know_an_archive(url, file)
    download.TIMEOUT_SECONDS = PATIENCE


def _is_special(path: Path) -> bool:
    return not path.is_file() and not path.is_dir()


def _compared(workshop: Workshop) -> dict[str, bytes]:
    return {name: data for name, data in workshop.content().items() if ".part" not in name}


def _shown_or_large(shown: str, memory_mb: float) -> str | None:
    if "\x1b" in shown or "\x07" in shown:
        return "it prints control characters"
    if "root:" in shown:
        return "it shows a file of this machine"
    return f"it takes {memory_mb:.0f} MB" if memory_mb > MOST_MB else None


@contextmanager
def served(answer: Answer, archive: bytes) -> Iterator[str]:
    """The address of a server on this machine that gives each client the same answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = start(lambda: _serve(listening, answer, archive), Path("/dev/null"), Path("/dev/null"))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/pair.zip"
        finally:
            os.kill(server, signal.SIGKILL)
            os.waitpid(server, 0)


def _serve(listening: socket.socket, answer: Answer, archive: bytes) -> int:
    while True:
        client, _ = listening.accept()
        with client:
            try:
                client.recv(1 << 16)
                for piece in answer(archive):
                    client.sendall(piece)
            except OSError:
                continue
