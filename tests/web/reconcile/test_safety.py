"""Limits, access from other origins, and what a hostile graph or client can do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import httpx2
import pytest

from largeea.formats import read_graph
from largeea.web.reconcile import Settings, make_app
from largeea.web.reconcile.answers import Reconciler
from largeea.web.reconcile.extend import extend
from largeea.web.reconcile.preview import preview
from largeea.web.reconcile.queries import BadRequest, Extension, Query, WantedProperty

EX = "http://example.org/"
Send = Callable[..., httpx2.Response]


def batch(size: int) -> dict[str, str]:
    return {"queries": json.dumps({f"q{number}": {"query": "Frankfurt"} for number in range(size)})}


def test_a_batch_above_the_limit_is_refused(send: Send) -> None:
    assert send("POST", "/", data=batch(20)).status_code == 200
    refused = send("POST", "/", data=batch(21))
    assert refused.status_code == 413
    assert refused.json() == {"error": "21 queries in a batch; the limit is 20"}
    asked = {"ids": ["a"] * 21, "properties": []}
    assert send("POST", "/", data={"extend": json.dumps(asked)}).status_code == 413


def test_a_body_above_the_limit_is_refused_and_cross_origin_clients_can_read_that(
    send: Send, reconciler: Reconciler
) -> None:
    app = make_app(reconciler, Settings("Towns", body_limit=1000))
    response = send("POST", "/", app=app, data={"queries": "x" * 1000})
    assert response.status_code == 413
    assert response.headers["access-control-allow-origin"] == "*"


def test_a_data_extension_has_a_limit_of_values(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"ids": [EX + "a1", EX + "a2"], "properties": [{"id": EX + "inhabitants"}]}
    assert send("POST", "/", data={"extend": json.dumps(asked)}).status_code == 200
    monkeypatch.setattr(import_module("largeea.web.reconcile.extend"), "MAX_CELLS", 1)
    assert send("POST", "/", data={"extend": json.dumps(asked)}).status_code == 413


def test_a_data_extension_has_a_limit_of_properties(send: Send) -> None:
    for count, status in ((100, 200), (101, 400)):
        asked = {"ids": [EX + "a1"], "properties": [{"id": f"{EX}p{i}"} for i in range(count)]}
        assert send("POST", "/", data={"extend": json.dumps(asked)}).status_code == status


def test_a_data_extension_of_a_hub_took_minutes(
    reconciler: Reconciler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The literals of an entity are looked through for each property, however often it is asked for."""
    calls: list[int] = []
    monkeypatch.setattr(reconciler.facts, "values", lambda entity, *_: calls.append(entity) or [])
    asked = Extension(ids=[EX + "a1"] * 500, properties=[WantedProperty(id=EX + "country")] * 3)
    extend(reconciler, asked, 60)
    assert len(calls) == 3
    with pytest.raises(BadRequest, match="it took more than -1 s"):
        extend(reconciler, asked, -1)


def test_time_is_limited(reconciler: Reconciler) -> None:
    with pytest.raises(BadRequest, match="fewer queries") as raised:
        reconciler.answer({"q": Query(query="Frankfurt")}, -1)
    assert raised.value.status == 503


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("GET", "/"),
        ("POST", "/"),
        ("GET", "/suggest/entity"),
        ("GET", "/suggest/property"),
        ("GET", "/suggest/type"),
        ("GET", "/properties"),
        ("GET", "/preview?id=a5"),
        ("GET", "/preview?id=nobody"),
        ("GET", "/missing"),
    ],
)
def test_every_endpoint_may_be_asked_from_any_origin(send: Send, method: str, url: str) -> None:
    origin = {"origin": "http://127.0.0.1:3333"}
    assert send(method, url, headers=origin).headers["access-control-allow-origin"] == "*"
    assert send(method, url).headers["access-control-allow-origin"] == "*"
    preflight = send(
        "OPTIONS",
        url,
        headers=origin
        | {"access-control-request-method": method, "access-control-request-headers": "content-type"},
    )
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert method in preflight.headers["access-control-allow-methods"]
    assert "access-control-allow-credentials" not in preflight.headers


def test_an_unknown_host_is_refused(send: Send) -> None:
    assert send("GET", "/", headers={"host": "evil.example"}).status_code == 403


def test_a_script_in_a_label_is_shown_as_text(send: Send) -> None:
    page = send("GET", "/preview", params={"id": EX + "a6"})
    assert page.headers["content-type"].startswith("text/html")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    assert not re.search(r"<(script|img)", page.text)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "x-frame-options" not in page.headers


def test_json_is_never_a_page_or_a_script(send: Send) -> None:
    answer = send("GET", "/suggest/entity", params={"prefix": "<script>", "callback": "alert"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text.startswith("{")


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/suggest/../../etc/passwd",
        "/suggest/%2e%2e",
    ],
)
def test_no_path_leads_to_a_file(send: Send, path: str) -> None:
    response = send("GET", path)
    assert response.status_code == 404
    assert "root:" not in response.text


def test_the_preview_reads_no_file(send: Send) -> None:
    for name in ("../../etc/passwd", "file:///etc/passwd", "/etc/passwd"):
        assert send("GET", "/preview", params={"id": name}).status_code == 404


def test_a_name_that_reorders_text_or_holds_control_characters_is_spelt_out_in_the_preview(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.nt"
    name = r"invoice\u202Egpj.exe\u001B[2J\u0000 two\nlines"
    file.write_text(f'<urn:a> <http://www.w3.org/2000/01/rdf-schema#label> "{name}" .\n')
    page = preview(Reconciler(read_graph(file)), 0)
    assert (
        "<h1>invoice\u2039U+202E\u203agpj.exe\u2039U+001B\u203a[2J\u2039U+0000\u203a two lines</h1>" in page
    )
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


def test_an_iri_that_is_no_valid_address_broke_the_preview(tmp_path: Path) -> None:
    file = tmp_path / "a.nt"
    file.write_text("<http://exa\u2100mple.org/a> <urn:p> <urn:b> .\n")
    page = preview(Reconciler(read_graph(file)), 0)
    assert '<a href="http://exa\u2100mple.org/a"' in page
