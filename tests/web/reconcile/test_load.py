"""A real server under many requests at a time: no error, bounded memory."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import SplitResult, urlencode, urlsplit

import httpx2
import pytest

REQUESTS, CONNECTIONS = 1000, 500
PLACES = 2000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """The address and the process of a server of many places."""
    file = tmp_path_factory.mktemp("served") / "places.csv"
    rows = [f"p{number},Place {number % 500} of {number}" for number in range(PLACES)]
    file.write_text("\n".join(["id,label", *rows]), "utf-8")
    command = [sys.executable, "-m", "largeea", "reconcile", str(file), "--columns", "subject=id,name=label"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().split()[-1], server.pid
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0
        server.stdout.close()


def memory(pid: int) -> int:
    """Resident memory of a process in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(status.split("VmRSS:")[1].split()[0])


def request(number: int) -> tuple[str, str, dict[str, str]]:
    """Method, path and form of a query, a suggestion, a data extension or the manifest, in turn."""
    queries = {"q0": {"query": f"Place {number % 500} of {number}", "limit": 1}}
    extension = {"ids": [f"p{number}"], "properties": [{"id": "label"}]}
    return (
        ("POST", "/", {"queries": json.dumps(queries)}),
        ("GET", f"/suggest/entity?prefix=place%20{number}", {}),
        ("POST", "/", {"extend": json.dumps(extension)}),
        ("GET", "/", {}),
    )[number % 4]


async def send(address: SplitResult, method: str, path: str, form: dict[str, str]) -> tuple[int, bytes]:
    """Status and body of the answer, on a connection of its own."""
    body = urlencode(form).encode()
    head = [
        f"{method} {path} HTTP/1.1",
        f"Host: {address.netloc}",
        "Connection: close",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
    ]
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write("\r\n".join([*head, "", ""]).encode() + body)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split()[1]), answer.partition(b"\r\n\r\n")[2]


async def send_all(url: str) -> list[tuple[int, bytes]]:
    connections = asyncio.Semaphore(CONNECTIONS)

    async def one(number: int) -> tuple[int, bytes]:
        async with connections:
            return await send(urlsplit(url), *request(number))

    return await asyncio.gather(*map(one, range(REQUESTS)))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
def test_many_requests_at_a_time(served: tuple[str, int]) -> None:
    url, pid = served
    httpx2.get(url, timeout=60).raise_for_status()
    before = memory(pid)
    answers = asyncio.run(send_all(url))
    assert {status for status, _ in answers} == {200}
    for number in range(0, REQUESTS, 4):
        best = json.loads(answers[number][1])["q0"]["result"][0]
        assert best["name"] == f"Place {number % 500} of {number}"
    assert memory(pid) - before < 150e6
