"""The API as a browser, a program and an attacker see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the web extra is not installed")

from starlette.testclient import TestClient

from largeea.reviews import read_reviews
from largeea.web.guards import STRICT_HEADERS
from largeea.web.review.app import BODY_LIMIT, STATIC, make_app
from largeea.web.review.session import Session

from .conftest import SCRIPT, TOWNS

TOKEN = "a-token-of-this-test"
ORIGIN = "http://127.0.0.1:8000"
READS = (
    "/api/overview",
    "/api/progress",
    "/api/pairs",
    "/api/start",
    "/api/pairs/0",
    "/api/pairs/0/neighbours.svg",
)


@pytest.fixture
def stranger(run_folder: Path) -> Iterator[TestClient]:
    with TestClient(make_app(Session(run_folder, "ada"), TOKEN), base_url=ORIGIN) as client:
        yield client


@pytest.fixture
def client(stranger: TestClient) -> TestClient:
    assert stranger.get(f"/?token={TOKEN}").status_code == 200
    return stranger


def decision(client: TestClient, pair: int = 0, kind: str = "same") -> dict[str, object]:
    detail = client.get(f"/api/pairs/{pair}").json()
    return {
        "pair": pair,
        "decision": kind,
        "source": detail["source"]["iri"],
        "target": detail["target"]["iri"],
    }


# A person


def test_the_page_and_its_files(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for path in set(re.findall(r'(?:src|href)="(/[^"]+)"', page.text)):
        assert client.get(path).status_code == 200, path


def test_the_cookie_is_for_this_page_alone(stranger: TestClient) -> None:
    cookie = stranger.get(f"/?token={TOKEN}").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_pairs_are_paged(client: TestClient) -> None:
    first = client.get("/api/pairs?first=0&count=3").json()
    second = client.get("/api/pairs?first=3&count=3").json()
    assert first["total"] == len(TOWNS)
    assert len({row["pair"] for row in first["rows"] + second["rows"]}) == 6
    assert client.get("/api/pairs?first=1000000&count=3").json()["rows"] == []
    assert len(client.get("/api/pairs?count=100000").json()["rows"]) == len(TOWNS)


def test_a_decision_is_on_disk_when_it_is_answered(client: TestClient, run_folder: Path) -> None:
    body = decision(client)
    answer = client.post("/api/decisions", json=body, headers={"origin": ORIGIN})
    assert answer.json()["progress"]["verdicts"]["same"] == 1
    assert set(answer.json()["scores"]) == {"confidence", "status", "evidence"}
    assert read_reviews(run_folder).confirmed == [(body["source"], body["target"])]
    undone = client.post("/api/undo", headers={"origin": ORIGIN}).json()
    assert (undone["pair"], undone["undone"]) == (0, 1)
    assert read_reviews(run_folder).confirmed == []


def test_scores_are_not_sent_in_blind_mode(client: TestClient) -> None:
    blind = client.get("/api/pairs/0").json()
    assert blind["scores"] is None
    assert client.get("/api/pairs/0?scores=1").json()["scores"]["status"] in ("accepted", "doubtful")


def test_markup_in_a_name_is_sent_as_text(client: TestClient) -> None:
    (row,) = client.get("/api/pairs", params={"text": "<script>"}).json()["rows"]
    answer = client.get(f"/api/pairs/{row['pair']}")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["source"]["name"] == SCRIPT
    picture = client.get(f"/api/pairs/{row['pair']}/neighbours.svg")
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert "&lt;script" in picture.text
    assert "<script" not in picture.text


def test_the_script_never_writes_markup() -> None:
    script = (STATIC / "review.js").read_text()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "DOMParser",
        "http://",
    ):
        assert word not in script
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"\son\w+=|style=|<style|<script(?![^>]*\ssrc=)", page)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_is_sufficient(theme: int) -> None:
    """WCAG 2 AA: text has a contrast of at least 4.5."""
    style = (STATIC / "review.css").read_text()
    colours = dict(re.findall(r"--(\w+): (#\w{6})", style.split(":root {")[1 + theme]))
    for text in ("ink", "quiet", "same", "different", "unsure"):
        for ground in ("page", "card", "soft"):
            dim, bright = sorted(luminance(colours[name]) for name in (text, ground))
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, (text, ground)


# A program


def test_a_program_may_use_the_token_in_a_header(stranger: TestClient, run_folder: Path) -> None:
    headers = {"x-largeea-token": TOKEN}
    detail = stranger.get("/api/pairs/0", headers=headers).json()
    body = {
        "pair": 0,
        "decision": "unsure",
        "source": detail["source"]["iri"],
        "target": detail["target"]["iri"],
    }
    assert stranger.post("/api/decisions", json=body, headers=headers).status_code == 200
    assert len(read_reviews(run_folder).decisions) == 1


@pytest.mark.parametrize(
    "path",
    [
        *("/api/pairs?first=-1", "/api/pairs?first=x", "/api/pairs?order=worst", "/api/pairs?lowest=2"),
        *("/api/pairs?lowest=x", "/api/pairs?evidence=rumour", "/api/pairs/999", "/api/pairs?first=²"),
        "/api/pairs/999/neighbours.svg",
    ],
)
def test_mistakes_are_explained(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 400
    assert answer.json()["error"]


@pytest.mark.parametrize(
    "change",
    [
        *({"decision": "none"}, {"decision": 1}, {"pair": "0"}, {"pair": True}, {"pair": 999}, {"pair": -1}),
        *({"instead": "x"}, {"instead": -1}, {"source": "http://a/99"}, {"target": None}),
    ],
)
def test_wrong_decisions_are_not_stored(client: TestClient, run_folder: Path, change) -> None:
    answer = client.post("/api/decisions", json=decision(client) | change, headers={"origin": ORIGIN})
    assert answer.status_code == 400
    assert read_reviews(run_folder).decisions == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"null", b"[" * 10_000])
def test_what_is_not_a_json_object_is_refused(client: TestClient, body: bytes) -> None:
    assert client.post("/api/decisions", content=body, headers={"origin": ORIGIN}).status_code == 400


# An attacker


@pytest.mark.parametrize("path", ["/", *READS])
def test_without_the_token_nothing_is_served(stranger: TestClient, path: str) -> None:
    assert stranger.get(path).status_code == 403
    assert stranger.get(path, headers={"x-largeea-token": "wrong"}).status_code == 403
    assert stranger.get(path, headers={"cookie": "largeea-review-00000000=x"}).status_code == 403
    assert stranger.get(path, params={"token": "wrong"}).status_code == 403
    assert stranger.post(path).status_code == 403


def test_the_token_in_an_address_opens_the_page_only(stranger: TestClient) -> None:
    assert stranger.get(f"/api/overview?token={TOKEN}").status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8000", ""]
)
@pytest.mark.parametrize("path", ["/api/decisions", "/api/undo"])
def test_writes_of_other_pages_are_refused(
    client: TestClient, run_folder: Path, path: str, origin: str
) -> None:
    answer = client.post(path, json=decision(client), headers={"origin": origin})
    assert answer.status_code == 403
    assert read_reviews(run_folder).decisions == []


def test_a_cookie_without_an_origin_cannot_write(client: TestClient) -> None:
    assert client.post("/api/undo").status_code == 403


def test_foreign_host_names_are_refused(client: TestClient) -> None:
    assert client.get("/api/overview", headers={"host": "evil.example"}).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/static/../app.py",
            "/static/%2e%2e/app.py",
            "/static/..%2fapp.py",
            "/static/%2e%2e%2f%2e%2e%2fguards.py",
        ),
        *("/static//etc/passwd", "/static/%00", "/reviews.tsv", "/static/", "/static/x.js"),
    ],
)
def test_no_other_file_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code in (404, 405)


def test_large_bodies_are_refused(client: TestClient) -> None:
    answer = client.post("/api/decisions", content=b"x" * (BODY_LIMIT + 1), headers={"origin": ORIGIN})
    assert answer.status_code == 413


def test_every_answer_has_the_policy(client: TestClient) -> None:
    for path in ("/", "/static/review.js", "/nowhere", *READS):
        policy = client.get(path).headers["content-security-policy"]
        assert policy == STRICT_HEADERS["content-security-policy"]


def test_a_pair_number_of_thousands_of_digits_was_an_internal_error(client: TestClient) -> None:
    for number in ("9" * 5000, "-1", "1.5", "x"):
        for path in (f"/api/pairs/{number}", f"/api/pairs/{number}/neighbours.svg"):
            answer = client.get(path)
            assert answer.status_code == 400
            assert answer.json()["error"].startswith("pair must be a number")
