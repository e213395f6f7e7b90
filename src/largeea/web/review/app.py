"""The review app: a page, its files, and an API in JSON, as a Starlette application."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from largeea.errors import LargeEAError, UsageError
from largeea.reviews import Kind
from largeea.web.guards import App, guarded
from largeea.web.review.access import Access
from largeea.web.review.pairs import Selection
from largeea.web.review.picture import Theme
from largeea.web.review.session import Session

STATIC = Path(__file__).parent / "static"
BODY_LIMIT = 1 << 14
TIME_LIMIT = 120
"""Seconds for an answer; the first one reads the scores of the whole run."""
_DECIDED: tuple[Kind, ...] = ("same", "different", "unsure")
_THEMES: tuple[Theme, ...] = get_args(Theme)


def make_app(session: Session, token: str) -> App:
    """Return the application, behind its guards, for those who know the token."""
    inner = Starlette(
        routes=[
            Route("/", lambda request: FileResponse(STATIC / "index.html"), methods=["GET"]),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/api/overview", _answering(lambda request: session.overview())),
            Route("/api/progress", _answering(lambda request: session.progress())),
            Route("/api/pairs", _answering(lambda request: _rows(session, request.query_params))),
            Route("/api/start", _answering(lambda request: session.start(_selection(request.query_params)))),
            Route("/api/pairs/{pair}", _answering(lambda request: _detail(session, request))),
            Route("/api/pairs/{pair}/neighbours.svg", _picture(session)),
            Route("/api/decisions", _deciding(session), methods=["POST"]),
            Route("/api/undo", _answering(lambda request: session.undo()), methods=["POST"]),
        ],
        exception_handlers={LargeEAError: _refused},
    )
    return guarded(Access(inner, token), body_limit=BODY_LIMIT, seconds=TIME_LIMIT)


def _answering(work: Callable[[Request], dict[str, Any]]) -> Callable[[Request], Any]:
    """Return an endpoint that works in a thread and answers in JSON."""

    async def endpoint(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(work, request))

    return endpoint


def _deciding(session: Session) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        given = _json_object(await request.body())
        return JSONResponse(await run_in_threadpool(_decide, session, given))

    return endpoint


def _picture(session: Session) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        theme = next((one for one in _THEMES if one == request.query_params.get("theme")), _THEMES[0])
        width = _number(request.query_params, "width", 900)
        pair = _number(request.path_params, "pair", 0)
        picture = await run_in_threadpool(session.picture, pair, width, theme)
        return Response(picture, media_type="image/svg+xml")

    return endpoint


def _rows(session: Session, given: Mapping[str, str]) -> dict[str, Any]:
    return session.rows(_selection(given), _number(given, "first", 0), _number(given, "count", 20))


def _selection(given: Mapping[str, str]) -> Selection:
    return Selection(
        order=given.get("order", "doubtful"),  # type: ignore[arg-type]
        status=given.get("status", ""),  # type: ignore[arg-type]
        lowest=_share(given, "lowest", 0.0),
        highest=_share(given, "highest", 1.0),
        role=given.get("role", ""),
        evidence=given.get("evidence", ""),
        text=given.get("text", ""),
        unreviewed=given.get("unreviewed", "") == "1",
        since=_number(given, "since", 0),
    )


def _detail(session: Session, request: Request) -> dict[str, Any]:
    pair = _number(request.path_params, "pair", 0)
    return session.detail(pair, request.query_params.get("scores") == "1")


def _decide(session: Session, given: dict[str, Any]) -> dict[str, Any]:
    pair, instead = given.get("pair"), given.get("instead")
    kind = next((one for one in _DECIDED if one == given.get("decision")), None)
    iris = given.get("source"), given.get("target")
    if kind is None:
        raise UsageError(f"the decision must be one of {', '.join(_DECIDED)}")
    if type(pair) is not int or not (instead is None or type(instead) is int):
        raise UsageError("pair and instead must be numbers")
    return session.decide(pair, kind, instead, (str(iris[0]), str(iris[1])))


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise UsageError("the body must be a JSON object")
    return given


def _number(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise UsageError(f"{name} must be a number, not {text[:40]!r}")
    return int(text)


def _share(given: Mapping[str, str], name: str, default: float) -> float:
    try:
        return float(given.get(name) or default)
    except ValueError:
        raise UsageError(f"{name} must be a number between 0 and 1, not {given[name]!r}") from None


async def _refused(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=400 if isinstance(error, UsageError) else 500)
