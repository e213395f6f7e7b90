"""Every guard lets good requests through and stops the others, whatever the application does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx2
import pytest

pytest.importorskip("starlette", reason="the web extra is not installed")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from largeea.web.guards import STRICT_HEADERS, guarded

LIMIT = 1000


async def echo(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def sleep(request: Request) -> Response:
    await asyncio.sleep(30)
    return PlainTextResponse("late")


async def trickle(request: Request) -> Response:
    async def parts():
        yield b"begun"
        await asyncio.sleep(30)

    return StreamingResponse(parts())


async def own_policy(request: Request) -> Response:
    return PlainTextResponse("", headers={"Cache-Control": "max-age=60"})


APP = Starlette(
    routes=[
        Route("/echo", echo, methods=["GET", "POST"]),
        Route("/sleep", sleep),
        Route("/trickle", trickle),
        Route("/own", own_policy),
    ]
)


def ask(method: str, path: str, host: str = "127.0.0.1:80", seconds: float = 5, **more) -> httpx2.Response:
    async def work() -> httpx2.Response:
        transport = httpx2.ASGITransport(guarded(APP, hosts=["given"], body_limit=LIMIT, seconds=seconds))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, headers={"host": host}, **more)

    return asyncio.run(work())


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:80", "[::1]", "given:5"]
)
def test_own_hosts_are_served(host: str) -> None:
    assert ask("GET", "/echo", host).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost:80:80", "127.0.0.1:x"],
)
def test_foreign_hosts_are_refused(host: str) -> None:
    answer = ask("GET", "/echo", host)
    assert answer.status_code == 403
    assert answer.headers["x-frame-options"] == "DENY"


def test_security_headers_are_on_every_answer() -> None:
    for answer in (ask("GET", "/echo"), ask("GET", "/nowhere"), ask("POST", "/echo", content=b"x" * 2000)):
        assert all(answer.headers[name] == value for name, value in STRICT_HEADERS.items())
    policy = STRICT_HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert ask("GET", "/own").headers.get_list("cache-control") == ["max-age=60"]


async def in_parts(number: int) -> Iterator[bytes]:
    for _ in range(number):
        yield b"x" * 100


def test_bodies_up_to_the_limit_pass() -> None:
    assert ask("POST", "/echo", content=b"x" * LIMIT).text == str(LIMIT)
    assert ask("POST", "/echo", content=in_parts(10)).text == str(LIMIT)


def test_larger_bodies_are_refused_whatever_their_header_says() -> None:
    assert ask("POST", "/echo", content=b"x" * (LIMIT + 1)).status_code == 413
    assert ask("POST", "/echo", content=in_parts(11)).status_code == 413


def test_slow_answers_are_given_up() -> None:
    answer = ask("GET", "/sleep", seconds=0.1)
    assert (answer.status_code, answer.text) == (503, "the answer takes longer than 0.1 s")
    with pytest.raises(TimeoutError):
        ask("GET", "/trickle", seconds=0.1)
