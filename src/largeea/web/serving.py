"""Serves a web application on this machine until the process is asked to end."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from largeea.errors import ResourceError
from largeea.plugins import optional

if TYPE_CHECKING:
    from largeea.web.guards import App

CONNECTIONS = 2048
"""Connections at a time; further ones are answered with 503."""
REQUEST_SECONDS = 10
"""A connection on which no complete request header arrives in this time is closed."""
_SHUTDOWN_SECONDS = 1


def serve(
    app: App, host: str = "127.0.0.1", port: int = 0, *, announce: Callable[[str], None] = lambda url: None
) -> None:
    """Serve the application until Ctrl-C or SIGTERM; port 0 takes a free one.

    `announce` is called with the base URL, such as `http://127.0.0.1:8123`, once the server listens.
    """
    require_web()
    listener = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{listener.getsockname()[1]}"
    _allow_open_files(2 * CONNECTIONS)
    with listener:
        asyncio.run(_server(app, lambda: announce(url)).serve(sockets=[listener]))


def require_web() -> None:
    """Raise `UsageError` with the command that installs the packages of the web extra if one is missing."""
    for package in ("starlette", "uvicorn"):
        optional(package, "web", "a web application")


def _server(app: App, ready: Callable[[], None]) -> Any:
    """Return a server that ends quietly on a signal instead of raising it again."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.force_exit = self.should_exit
            self.should_exit = True

    return Server(
        uvicorn.Config(
            app,
            http=_protocol(),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=REQUEST_SECONDS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
    )


def _protocol() -> Any:
    """Return uvicorn's HTTP protocol, with a time limit for the header of each request."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._deadline = self.loop.call_later(REQUEST_SECONDS, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            answering = self.cycle is not None and not self.cycle.response_complete
            if answering and self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None
            elif not answering and self._deadline is None:
                self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
            super().connection_lost(exc)

    return Protocol


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError, TypeError, UnicodeError) as error:  # of a host that is no name
        listener.close()
        raise ResourceError(f"cannot listen on {host}, port {port}: {error}; choose another port") from error
    return listener


def _allow_open_files(number: int) -> None:
    """Raise the soft limit of open files as far as the hard limit allows: a connection is an open file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
