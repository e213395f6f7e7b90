"""A web server that behaves as badly as it is told."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Server(ThreadingHTTPServer):
    """Serves `content`. Each request takes the next manner from `manners`; the last one stays.

    Manners: fine, no-range, no-version, broken (half of what it promises), short (no length, half), html,
    too-much, slow-start (closes without a word), wrong-part, negative-chunk, nowhere (a redirection to it),
    or a status such as 404.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = bytes(range(256)) * 20_000
        self.manners = ["fine"]
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/data.zip"

    def sha256(self) -> str:
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"

    def handle_error(self, request, client_address) -> None:
        """A client that hangs up is no concern of the server's."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def log_message(self, *_) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server
        manner = server.manners.pop(0) if len(server.manners) > 1 else server.manners[0]
        server.ranges.append(self.headers.get("Range"))
        version = f'"{hashlib.md5(server.content).hexdigest()}"'
        start = 0
        if manner.isdecimal():
            self.send_error(int(manner))
            return
        if manner == "nowhere":
            self.send_response(302)
            self.send_header("Location", "http://[::1")
            self.end_headers()
            return
        if manner == "negative-chunk":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"-5\r\nxxxxx")
            return
        if manner == "slow-start":
            self.close_connection = True
            return
        same = self.headers.get("If-Range", version) == version
        if self.headers.get("Range") and same and manner not in ("no-range", "html"):
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        size, body = len(server.content), server.content[start:]
        if manner == "html":
            body = b"<html>Please log in</html>"
        if start and not body:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", "text/html" if manner == "html" else "application/zip")
        if start:
            shown = start + 1 if manner == "wrong-part" else start
            self.send_header("Content-Range", f"bytes {shown}-{size - 1}/{size}")
        if manner not in ("short", "too-much"):
            self.send_header("Content-Length", str(len(body)))
        if manner != "no-version":
            self.send_header("ETag", version)
        self.end_headers()
        if manner in ("broken", "short"):
            body = body[: len(body) // 2]
        self.wfile.write(body * 2 if manner == "too-much" else body)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on this machine, gone after the test."""
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()
