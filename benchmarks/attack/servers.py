"""The web applications of LargeEA, started in processes of their own, and clients that send any bytes."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attack.process import start

from largeea import cli

SERVERS = {
    "review": ["review", "run", "--no-open"],
    "reconcile": ["reconcile", "a.nt", "--port", "0"],
}
PATIENCE = 30.0


@dataclass
class Server:
    """A server on this machine; `told` is what it has printed to standard error, once it has ended."""

    port: int
    token: str
    told: str = ""

    def get(self, path: str) -> tuple[bytes, bytes]:
        """Head and body of the answer to an honest request of one who knows the token."""
        token = f"X-LargeEA-Token: {self.token}\r\n" if self.token else ""
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{token}Connection: close\r\n\r\n"
        head, _, body = self.exchange(request.encode(), PATIENCE).partition(b"\r\n\r\n")
        return head, body

    def serves(self) -> bool:
        """Return whether an honest request is answered, whatever the answer."""
        return self.get("/")[0].startswith(b"HTTP/1.1 ")

    def connect(self) -> socket.socket:
        """A connection to the server."""
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def exchange(self, sent: bytes, seconds: float = 2) -> bytes:
        """Send bytes and return the answer; empty if the server hangs up or says nothing."""
        answer = b""
        with self.connect() as client:
            client.settimeout(seconds)
            try:
                client.sendall(sent)
                while part := client.recv(1 << 16):
                    answer += part
            except OSError:
                pass
        return answer


@contextmanager
def serving(name: str) -> Iterator[Server]:
    """Start a server in the current folder, and end it by a signal."""
    out, err = Path(f"{name}.out"), Path(f"{name}.err")
    process = start(lambda: cli.run(SERVERS[name]), out, err)
    server = None
    try:
        server = Server(*_address(out, err))
        yield server
    finally:
        os.killpg(process, signal.SIGTERM)
        os.waitpid(process, 0)
        if server:
            server.told = err.read_text("utf-8", "replace")


def _address(*outputs: Path) -> tuple[int, str]:
    """Wait for the server to print its address; return its port and its token, if it has one."""
    deadline = time.monotonic() + 2 * PATIENCE
    while time.monotonic() < deadline:
        text = "".join(path.read_text("utf-8", "replace") for path in outputs if path.exists())
        if found := re.search(r"http://127\.0\.0\.1:(\d+)(?:/\?token=(\S+)|/)?\s", text):
            return int(found[1]), found[2] or ""
        time.sleep(0.1)
    raise SystemExit(f"the server has not started: {text}")
