"""Guards around a web application, as plain ASGI middlewares: host, body size, time and security headers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
STRICT_HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""For a page whose scripts, styles and pictures are files of its own server, and that nobody may embed."""


def guarded(
    app: App,
    *,
    hosts: Iterable[str] = (),
    headers: Mapping[str, str] = STRICT_HEADERS,
    body_limit: int = 1 << 16,
    seconds: float = 60,
) -> App:
    """Return the application behind all guards; `hosts` are allowed in addition to this machine's own names.

    Example: `serve(guarded(app, body_limit=1 << 20), announce=print)`.
    """
    bounded = TimeLimit(BodyLimit(app, body_limit), seconds)
    return SecurityHeaders(HostCheck(bounded, [*LOCAL_HOSTS, *hosts]), headers)


class SecurityHeaders:
    """Adds headers to every response, except those that the application has set itself."""

    def __init__(self, app: App, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                known = {name.lower() for name, _ in given}
                message["headers"] = given + [pair for pair in self._headers if pair[0] not in known]
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


class HostCheck:
    """Refuses requests for other host names with 403, so that no foreign name can be pointed at this server
    (DNS rebinding)."""

    def __init__(self, app: App, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if its host is known."""
        if scope["type"] == "http" and _host(scope) not in self._hosts:
            await refuse(send, 403, "this host name is not served here")
            return
        await self._app(scope, receive, send)


class BodyLimit:
    """Refuses bodies above the limit in bytes with 413; counts what arrives, whatever its header says."""

    def __init__(self, app: App, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the application sees a disconnect once the body is too large."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        received, refused, started = 0, False, False

        async def counted() -> Message:
            nonlocal received, refused
            if refused:
                return {"type": "http.disconnect"}
            message = await receive()
            received += len(message.get("body", b""))
            if received <= self._limit:
                return message
            refused = True
            if not started:
                await self._refuse(send)
            return {"type": "http.disconnect"}

        async def passed(message: Message) -> None:
            nonlocal started
            if not refused:
                started = True
                await send(message)

        if _claimed_length(scope) > self._limit:
            await self._refuse(send)
            return
        try:
            await self._app(scope, counted, passed)
        except Exception:
            if not refused:
                raise

    async def _refuse(self, send: Send) -> None:
        await refuse(send, 413, f"the request is larger than {self._limit:,} bytes")


class TimeLimit:
    """Answers 503 if the application has not begun its answer in time, and ends an answer that takes longer.

    Work in a thread cannot be ended; its late answer is dropped.
    """

    def __init__(self, app: App, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on within the time limit."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, over = False, False

        async def passed(message: Message) -> None:
            nonlocal started
            if not over:
                started = True
                await send(message)

        async def answer() -> None:
            await self._app(scope, receive, passed)

        task = asyncio.create_task(answer())
        try:
            await asyncio.wait({task}, timeout=self._seconds)
        finally:
            over = not task.done()
            if over:
                task.cancel()
        if not over:
            await task
        elif started:
            raise TimeoutError(f"the answer took longer than {self._seconds:g} s")
        else:
            await refuse(send, 503, f"the answer takes longer than {self._seconds:g} s")


async def refuse(send: Send, status: int, reason: str) -> None:
    """Send a short plain-text answer and ask the client to close the connection."""
    body = reason.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def header(scope: Scope, name: str) -> str | None:
    """Return the request's header with this lower-case name; None if it is absent or given twice."""
    found = [value for key, value in scope["headers"] if key.lower() == name.encode()]
    return found[0].decode("latin-1") if len(found) == 1 else None


def _host(scope: Scope) -> str:
    """Return the host name of the request in lower case, without the port."""
    given = (header(scope, "host") or "").lower()
    name, colon, port = given.rpartition(":")
    return name if colon and (port.isdigit() or not port) else given


def _claimed_length(scope: Scope) -> int:
    claimed = header(scope, "content-length") or ""
    return int(claimed) if claimed.isdigit() and len(claimed) < 20 else 0
