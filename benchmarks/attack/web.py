"""Hostile clients of `largeea review` and `largeea reconcile`; an honest one is served all the while."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attack.process import start
from benchmarks.attack.victims import prepare
from benchmarks.attack.workshop import Attempt, Workshop

from largeea import cli

SERVERS = {
    "review": ["review", "run", "--no-open"],
    "reconcile": ["reconcile", "a.nt", "--port", "0"],
}
PATIENCE = 30.0
IDLE_CONNECTIONS = 500
HOSTILE = {
    "a header of 1 MB": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * (1 << 20) + b"\r\n\r\n",
    "100,000 headers": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 100_000 + b"\r\n",
    "a path of 1 MB": b"GET /" + b"a/" * (1 << 19) + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "no HTTP": os.urandom(1 << 16),
    "a length that lies": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\nx",
    "a negative length": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\nx",
    "chunks without end": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"1\r\nx\r\n" * 100_000,
    "two lengths": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 9\r\n\r\nx",
    "a foreign host": b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "a way out of the folder": b"GET /../../../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "deep JSON": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 60000\r\n\r\n" + b"[" * 60_000,
}


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    prepare(workshop)
    for name, arguments in SERVERS.items():
        out, err = Path(f"{name}.out"), Path(f"{name}.err")
        server = start(lambda arguments=arguments: cli.run(arguments), out, err)
        try:
            port = _port(out, err)
            for what, sent in HOSTILE.items():
                answer = _exchange(port, sent)
                served = _is_served(port)
                wrong = None if served else "an honest client is not served any more"
                if b"root:" in answer or b"Traceback" in answer:
                    wrong = f"it answers {answer[:100]!r}"
                yield f"hostile client of {name}", wrong and f"{what}: {wrong}"
            yield f"idle connections to {name}", _flooded(port)
        finally:
            os.killpg(server, signal.SIGTERM)
            code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
        told = err.read_text("utf-8", "replace")
        wrong = "Traceback" in told or "internal error" in told
        yield f"end of {name}", f"ended with {code}: {told[-200:]}" if wrong else None


def _port(*outputs: Path) -> int:
    """Wait for the server to print its address."""
    deadline = time.monotonic() + 2 * PATIENCE
    while time.monotonic() < deadline:
        text = "".join(path.read_text("utf-8", "replace") for path in outputs if path.exists())
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", text):
            return int(found[1])
        time.sleep(0.1)
    raise SystemExit(f"the server has not started: {text}")


def _exchange(port: int, sent: bytes) -> bytes:
    """Send bytes and return the first part of the answer; empty if the server hangs up or says nothing."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        client.settimeout(2)
        try:
            client.sendall(sent)
            return client.recv(1 << 16)
        except OSError:
            return b""


def _is_served(port: int) -> bool:
    """Return whether an honest request is answered, whatever the answer."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        client.settimeout(PATIENCE)
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        return client.recv(100).startswith(b"HTTP/1.1 ")


def _flooded(port: int) -> str | None:
    """Keep connections open that send a byte now and then; an honest client comes through."""
    slow = [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(IDLE_CONNECTIONS)]
    try:
        for client in slow:
            client.sendall(b"G")
        return None if _is_served(port) else f"not served beside {IDLE_CONNECTIONS} slow clients"
    finally:
        for client in slow:
            client.close()
