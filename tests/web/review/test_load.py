"""Many requests at once: every one is answered, and memory stays bounded."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from .conftest import TOWNS, Start

pytest.importorskip("starlette", reason="the web extra is not installed")
httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed")
REQUESTS = 1000
PATHS = (
    "/api/pairs?count=50",
    "/api/pairs/{pair}",
    "/api/pairs/{pair}?scores=1",
    "/api/pairs/{pair}/neighbours.svg",
)


def peak_mb(process: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_thousand_requests_at_once(start: Start) -> None:
    server, address = start()
    base, token = address.split("/?token=")

    async def ask_all(requests: int) -> list[int]:
        limits = httpx2.Limits(max_connections=REQUESTS, max_keepalive_connections=0)
        headers = {"x-largeea-token": token}
        async with httpx2.AsyncClient(base_url=base, limits=limits, headers=headers, timeout=300) as client:
            paths = [PATHS[at % len(PATHS)].format(pair=at % len(TOWNS)) for at in range(requests)]
            return [answer.status_code for answer in await asyncio.gather(*map(client.get, paths))]

    asyncio.run(ask_all(REQUESTS // 5))
    before = peak_mb(server.pid)
    assert asyncio.run(ask_all(REQUESTS)) == [200] * REQUESTS
    assert peak_mb(server.pid) < before + 64
