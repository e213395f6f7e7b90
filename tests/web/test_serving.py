"""The server in a process of its own: it announces itself, drops slow clients, and ends when asked to."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx2
import pytest

from largeea.errors import ResourceError
from largeea.web.serving import serve

pytest.importorskip("uvicorn", reason="the web extra is not installed")

PROGRAM = """
import sys
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from largeea.web import serving
from largeea.web.guards import guarded
serving.REQUEST_SECONDS = 1
app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("hello"))])
serving.serve(guarded(app), announce=lambda url: print(url, flush=True))
print("ended", flush=True)
"""


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[str], str]]:
    started = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    yield started, started.stdout.readline().strip()
    started.kill()
    started.communicate()


def connect(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    return connection


def test_it_listens_on_a_free_port_and_ends_quietly(server) -> None:
    process, url = server
    assert url.startswith("http://127.0.0.1:")
    answer = httpx2.get(url)
    assert (answer.status_code, answer.text) == (200, "hello")
    assert "server" not in answer.headers
    with connect(url):
        process.terminate()
        assert process.wait(20) == 0
    out, err = process.communicate()
    assert (out, err) == ("ended\n", "")


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "])
def test_who_does_not_finish_a_request_is_dropped(server, sent: bytes) -> None:
    _, url = server
    with connect(url) as client:
        client.sendall(sent)
        assert client.recv(100) == b""


def test_a_second_request_must_be_finished_too(server) -> None:
    _, url = server
    with connect(url) as client:
        client.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert b"200 OK" in client.recv(4096)
        client.sendall(b"GET")
        begun = time.monotonic()
        while client.recv(4096):
            pass
        assert time.monotonic() - begun < 15


def test_a_taken_port_is_told(server) -> None:
    _, url = server
    with pytest.raises(ResourceError, match="choose another port"):
        serve(None, port=int(url.rpartition(":")[2]))  # type: ignore[arg-type]


def test_a_host_that_is_no_name_is_told() -> None:
    for host in ("\u00e4..b", "x" * 300, "a\0b"):
        with pytest.raises(ResourceError, match="cannot listen on"):
            serve(None, host)  # type: ignore[arg-type]
