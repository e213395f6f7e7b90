"""Hostile clients of `largeea review` and `largeea reconcile`; an honest one is served all the while."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.attack.process import call
from benchmarks.attack.servers import PATIENCE, SERVERS, Server, serving
from benchmarks.attack.victims import prepare
from benchmarks.attack.workshop import Attempt, Workshop

IDLE_CONNECTIONS = 500
FLOOD_THREADS, FLOOD_REQUESTS = 32, 1000
HOST = b"HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HOSTILE = {
    "a header of 1 MB": b"GET / " + HOST + b"X: " + b"x" * (1 << 20) + b"\r\n\r\n",
    "100,000 headers": b"GET / " + HOST + b"X: y\r\n" * 100_000 + b"\r\n",
    "a path of 1 MB": b"GET /" + b"a/" * (1 << 19) + b" " + HOST + b"\r\n",
    "no HTTP": os.urandom(1 << 16),
    "a length that lies": b"POST / " + HOST + b"Content-Length: 99999999999\r\n\r\nx",
    "a negative length": b"POST / " + HOST + b"Content-Length: -1\r\n\r\nx",
    "chunks without end": b"POST / " + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 100_000,
    "two lengths": b"POST / " + HOST + b"Content-Length: 1\r\nContent-Length: 9\r\n\r\nx",
    "a foreign host": b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "a way out of the folder": b"GET /../../../../etc/passwd " + HOST + b"\r\n",
    "an encoded way out": b"GET /static/..%2f..%2f..%2f..%2fetc/passwd " + HOST + b"\r\n",
    "deep JSON": b"POST / "
    + HOST
    + b"Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
    + b"[" * 60_000,
    "a form of many fields": b"POST / "
    + HOST
    + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\n"
    + b"a=&" * 20_000,
    "another protocol": b"GET / " + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
}
DIGITS = "9" * 5000
ODD_TEXTS = ("%00", "%ff%fe", "nan", "-1", "1e400", "%C2%B2", "9" * 12, DIGITS, "(" * 2000, "http://[", "")
PARAMETERS = {
    "review": (
        *(
            f"/api/pairs?{name}="
            for name in ("first", "count", "lowest", "highest", "text", "since", "order")
        ),
        *(f"/api/start?{name}=" for name in ("role", "evidence", "status")),
        *("/api/pairs/", "/api/pairs/0/neighbours.svg?width=", "/static/", "/?token="),
    ),
    "reconcile": (
        *(
            "/preview?id=",
            "/suggest/entity?prefix=",
            "/suggest/entity?cursor=",
            "/suggest/",
            "/properties?type=",
        ),
        *(
            "/properties?limit=",
            "/?queries=",
            "/?extend=",
            "/suggest/type?prefix=",
            "/suggest/property?prefix=",
        ),
    ),
}
"""What is asked, with an odd text at its end."""
ODD_VALUES = (
    *("1e400", "NaN", "true", "null", DIGITS, "9" * 4000, "[" * 5000, '{"a":' * 1000, "[]", "{}", '"x"'),
    *('"\\ud800"', '"\\u0000"', '""', '"http://["', "-1", f'"{"a " * 2000}"', f'"{chr(0x301) * 2000}"'),
)
BODIES = {
    "review": (
        *("%s", '{"pair": %s, "decision": "same"}', '{"pair": 0, "decision": %s}'),
        '{"pair": 0, "decision": "same", "instead": %s, "source": "urn:a:Paris", "target": "urn:b:Paris"}',
        '{"pair": 0, "decision": "same", "source": %s, "target": %s}',
    ),
    "reconcile": (
        *("queries=%s", 'queries={"q": %s}', 'queries={"q": {"query": %s}}', "extend=%s"),
        'queries={"q": {"query": "Paris", "limit": %s}}',
        'queries={"q": {"query": "Paris", "type": %s, "type_strict": %s}}',
        'queries={"q": {"query": "Paris", "properties": [{"pid": "urn:year", "v": %s}]}}',
        'queries={"q": {"properties": [{"pid": "urn:p", "v": {"id": %s}}]}}',
        'extend={"ids": [%s], "properties": [{"id": %s}]}',
        'extend={"ids": ["urn:a:Paris"], "properties": [{"id": "urn:year", "settings": {"limit": %s}}]}',
    ),
}
"""What is written, with odd values in its places."""
WRITTEN_TO = {
    "review": ("/api/decisions", "application/json"),
    "reconcile": ("/", "application/x-www-form-urlencoded"),
}
ORIGINS = (b"http://evil.example", b"null", b"http://127.0.0.1.evil.example", b"https://127.0.0.1")
DECISION = b'{"pair": 0, "decision": "different", "source": "urn:a:Paris", "target": "urn:b:Paris"}'


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    prepare(workshop)
    for name in SERVERS:
        with serving(name) as server:
            for what, sent in HOSTILE.items():
                yield f"hostile client of {name}", (wrong := attacked(server, sent)) and f"{what}: {wrong}"
            yield f"slow clients of {name}", slow(server, b"G")
            yield f"slow clients of {name}", slow(server, b"POST / " + HOST + b"Content-Length: 9\r\n\r\nx")
            yield from odd_requests(name, server)
            yield f"slow readers of {name}", slow(server, b"GET / " + HOST + b"\r\n")
            yield f"flood of {name}", flooded(server)
            if name == "review":
                yield from forged(server)
        wrong = "Traceback" in server.told or "internal error" in server.told
        yield f"end of {name}", f"it says {server.told[-200:]}" if wrong else None


def attacked(server: Server, sent: bytes) -> str | None:
    """Send bytes, and return what is wrong with the answer, or with the server afterwards."""
    answer = server.exchange(sent)
    if wrong := harmful(answer):
        return wrong
    if sent == HOSTILE["a foreign host"] and not answer.startswith(b"HTTP/1.1 403 "):
        return f"it is answered {answer[:40]!r}"
    return None if server.serves() else "an honest client is not served any more"


def harmful(answer: bytes) -> str | None:
    """Return what is wrong with an answer; an internal error is never right."""
    told = b"root:" in answer or b"Traceback" in answer or answer.startswith(b"HTTP/1.1 500 ")
    return f"it answers {answer[:100]!r}" if told else None


def odd_requests(name: str, server: Server) -> Iterator[Attempt]:
    """Ask for what is not there, and write what makes no sense, as one who knows the token."""
    known = f"X-LargeEA-Token: {server.token}\r\n" if server.token else ""
    for path in PARAMETERS[name]:
        for text in ODD_TEXTS:
            head, body = server.get(path + text)
            wrong = harmful(head + body) or (None if head else "no answer")
            yield f"odd request to {name}", wrong and f"{path}{text[:40]}: {wrong}"
    address, kind = WRITTEN_TO[name]
    head = f"POST {address} HTTP/1.1\r\nHost: 127.0.0.1\r\n{known}Content-Type: {kind}\r\nConnection: close"
    for form in BODIES[name]:
        for value in ODD_VALUES:
            sent = form.replace("%s", value).encode()
            answer = server.exchange(
                f"{head}\r\nContent-Length: {len(sent)}\r\n\r\n".encode() + sent, PATIENCE
            )
            wrong = harmful(answer) or (None if answer else "no answer")
            yield f"odd request to {name}", wrong and f"{form}, {value[:40]}: {wrong}"


def slow(server: Server, beginning: bytes) -> str | None:
    """Keep connections open on which nothing more is sent or read; an honest client comes through."""
    clients = [server.connect() for _ in range(IDLE_CONNECTIONS)]
    try:
        for client in clients:
            client.sendall(beginning)
        return None if server.serves() else f"not served beside {IDLE_CONNECTIONS} slow clients"
    finally:
        for client in clients:
            client.close()


def flooded(server: Server) -> str | None:
    """Send many requests at once from a process of its own; each is answered or refused."""

    def flood() -> int:
        with ThreadPoolExecutor(FLOOD_THREADS) as clients:
            served = sum(clients.map(lambda _: server.serves(), range(FLOOD_REQUESTS)))
        return 0 if served == FLOOD_REQUESTS else 1

    if call(flood).code:
        return f"not all of {FLOOD_REQUESTS} requests were answered"
    return None if server.serves() else "an honest client is not served any more"


def forged(server: Server) -> Iterator[Attempt]:
    """Write a decision from foreign pages, or without the token; nothing may be stored."""
    token = b"X-LargeEA-Token: %s\r\n" % server.token.encode()
    wrong_token = b"X-LargeEA-Token: %s\r\n" % (b"0" * len(server.token))
    heads = [token + b"Origin: %s\r\n" % origin for origin in ORIGINS]
    heads += [b"", wrong_token, b"Cookie: token=%s\r\n" % server.token.encode(), token + token]
    for head in heads:
        request = b"POST /api/decisions " + HOST + head + b"Connection: close\r\n"
        answer = server.exchange(request + b"Content-Length: %d\r\n\r\n" % len(DECISION) + DECISION)
        stored = Path("run", "reviews.tsv").exists()
        wrong = f"{head!r}: {answer[:40]!r}" if stored or b" 403 " not in answer[:20] else None
        yield "forged origin or token", wrong
