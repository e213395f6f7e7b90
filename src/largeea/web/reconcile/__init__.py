"""The reconciliation service of a graph: the W3C Reconciliation Service API 0.2, which OpenRefine speaks.

It only reads, and any web page may ask it (CORS), so it never shares a port with an application that writes.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from largeea.web.guards import App, guarded
from largeea.web.reconcile.answers import Reconciler
from largeea.web.reconcile.extend import extend, propose
from largeea.web.reconcile.manifest import manifest
from largeea.web.reconcile.preview import CONTENT_POLICY, preview
from largeea.web.reconcile.queries import (
    MAX_TEXT,
    BadRequest,
    parse_extension,
    parse_queries,
    whole_number,
)
from largeea.web.reconcile.suggest import Suggestions

BODY_LIMIT = 4 << 20
BATCH_SIZE = 500
SECONDS = 30.0
REQUESTS_AT_ONCE = 32
"""Requests that are read or answered at a time; the others wait, and their bodies are not read."""
FORM = "application/x-www-form-urlencoded"
HEADERS = {
    "access-control-allow-origin": "*",
    "content-security-policy": CONTENT_POLICY,
    "cross-origin-resource-policy": "cross-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Settings:
    """How the service is offered: its name, its address for others, and its limits."""

    name: str
    public_url: str | None = None
    batch_size: int = BATCH_SIZE
    body_limit: int = BODY_LIMIT
    seconds: float = SECONDS
    hosts: tuple[str, ...] = ()
    """Host names that are served beside this machine's own and that of `public_url`."""


def make_app(reconciler: Reconciler, settings: Settings) -> App:
    """Return the service as an ASGI application, behind its guards.

    Example: `serve(make_app(Reconciler(graph), Settings("My graph")), announce=print)`.
    """
    service = _Service(reconciler, settings)
    routes = [
        Route("/", service.guarded(service.endpoint), methods=["GET", "POST"]),
        Route("/suggest/{kind}", service.guarded(service.suggest)),
        Route("/preview", service.guarded(service.preview)),
        Route("/properties", service.guarded(service.properties)),
    ]
    cors = Middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=["*"])
    app = Starlette(routes=routes, middleware=[cors])
    public = urlsplit(settings.public_url or "").hostname
    return guarded(
        app,
        hosts=[*settings.hosts, *([public] if public else [])],
        headers=HEADERS,
        body_limit=settings.body_limit,
        seconds=settings.seconds,
    )


class _Service:
    """The endpoints. What takes time runs in a thread, as many at a time as there are cores."""

    def __init__(self, reconciler: Reconciler, settings: Settings) -> None:
        self._reconciler, self._settings = reconciler, settings
        self._suggestions = Suggestions(reconciler)
        self._admitted = CapacityLimiter(REQUESTS_AT_ONCE)
        self._cores = CapacityLimiter(os.cpu_count() or 1)

    def guarded(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint that waits for its turn, and answers a bad request with the reason in JSON."""

        async def answer(request: Request) -> Response:
            async with self._admitted:
                try:
                    return await endpoint(request)
                except BadRequest as error:
                    return JSONResponse({"error": str(error)}, error.status)

        return answer

    async def endpoint(self, request: Request) -> Response:
        """The manifest, a batch of queries, or a data extension."""
        given = await _fields(request)
        if "queries" in given:
            return await self._in_thread(self._answer, given["queries"])
        if "extend" in given:
            return await self._in_thread(self._extend, given["extend"])
        if request.method == "POST":
            raise BadRequest("the form has neither a field queries nor extend")
        base_url = self._settings.public_url or str(request.base_url)
        offered = manifest(
            self._reconciler, self._settings.name, base_url.rstrip("/"), self._settings.batch_size
        )
        return JSONResponse(offered)

    async def suggest(self, request: Request) -> Response:
        """Entities, properties or types for what a user has typed."""
        kinds = {
            "entity": self._suggestions.entities,
            "property": self._suggestions.properties,
            "type": self._suggestions.types,
        }
        suggest = kinds.get(request.path_params["kind"])
        if suggest is None:
            raise BadRequest(f"only {', '.join(kinds)} are suggested", 404)
        prefix = request.query_params.get("prefix", "").strip()[:MAX_TEXT]
        cursor = whole_number("cursor", request.query_params.get("cursor"), 0, 1 << 30)
        return await self._in_thread(suggest, prefix, cursor)

    async def preview(self, request: Request) -> Response:
        """A page about an entity."""
        entity = self._reconciler.facts.find(request.query_params.get("id", ""))
        if entity < 0:
            raise BadRequest("no entity has this id; give one with ?id=", 404)
        page = await to_thread.run_sync(preview, self._reconciler, entity, limiter=self._cores)
        return HTMLResponse(page)

    async def properties(self, request: Request) -> Response:
        """Properties that are worth asking for."""
        limit = whole_number("limit", request.query_params.get("limit"), 50, 1000)
        return await self._in_thread(propose, self._reconciler, request.query_params.get("type", ""), limit)

    def _answer(self, text: str) -> dict[str, Any]:
        queries = parse_queries(text, self._settings.batch_size)
        return self._reconciler.answer(queries, self._settings.seconds)

    def _extend(self, text: str) -> dict[str, Any]:
        asked = parse_extension(text, self._settings.batch_size)
        return extend(self._reconciler, asked, self._settings.seconds)

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Response:
        """What `work` returns, as JSON; both are made in a thread."""
        return await to_thread.run_sync(_json, work, *arguments, limiter=self._cores)


def _json(work: Callable[..., Any], *arguments: Any) -> Response:
    return JSONResponse(work(*arguments))


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form, or of the URL; of a field that is given twice, the first."""
    if request.method != "POST":
        return dict(request.query_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise BadRequest(f"the body must be a form, {FORM}", 415)
    try:
        fields = parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=16)
    except ValueError as error:
        raise BadRequest(f"the form cannot be read: {error}") from None
    return {name: values[0] for name, values in fields.items()}
