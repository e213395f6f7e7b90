"""What a client such as OpenRefine sends and gets back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from largeea.web.reconcile import Settings, make_app
from largeea.web.reconcile.answers import Reconciler

EX = "http://example.org/"
Send = Callable[..., httpx2.Response]
Valid = Callable[[str, Any], None]


def test_the_manifest_names_every_endpoint(send: Send, valid: Valid) -> None:
    manifest = send("GET", "/").json()
    valid("manifest", manifest)
    assert manifest["name"] == "Towns"
    assert manifest["identifierSpace"] == EX
    assert manifest["batchSize"] == 20
    assert manifest["defaultTypes"][0] == {"id": EX + "City", "name": "City"}
    for service in [*manifest["suggest"].values(), manifest["extend"]["propose_properties"]]:
        assert send("GET", service["service_url"] + service["service_path"]).status_code == 200
    page = send("GET", manifest["preview"]["url"].replace("{{id}}", "http%3A%2F%2Fexample.org%2Fa5"))
    assert "Thessaloniki" in page.text


def test_behind_a_proxy_the_manifest_has_its_address(
    send: Send, valid: Valid, reconciler: Reconciler
) -> None:
    app = make_app(reconciler, Settings("Towns", "https://refine.example.org/towns/"))
    for host in ("127.0.0.1", "refine.example.org"):
        manifest = send("GET", "/", app=app, headers={"host": host}).json()
        valid("manifest", manifest)
        assert manifest["suggest"]["type"]["service_url"] == "https://refine.example.org/towns"
        assert manifest["preview"]["url"] == "https://refine.example.org/towns/preview?id={{id}}"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_batch_of_ten_as_openrefine_sends_it(send: Send, valid: Valid, method: str) -> None:
    names = ["Frankfurt", "Washington", "Salonica", "Mercury", "Germany", "USA", "a7", "", "Bayern", "ß"]
    batch = {
        f"q{number}": {
            "query": name,
            "type": EX + "City",
            "type_strict": "should",
            "properties": [{"pid": EX + "country", "v": "Germany"}],
        }
        for number, name in enumerate(names)
    }
    field = {"queries": json.dumps(batch, ensure_ascii=method == "GET")}
    response = send(method, "/", **({"params": field} if method == "GET" else {"data": field}))
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    valid("result-batch", response.json())
    assert list(response.json()) == list(batch)
    assert response.json()["q0"]["result"][0]["name"] == "Frankfurt"


def test_a_candidate_says_what_its_score_is_made_of(send: Send) -> None:
    query = {
        "query": "Frankfurt",
        "type": EX + "City",
        "properties": [{"pid": EX + "inhabitants", "v": 753056}],
    }
    response = send("POST", "/", data={"queries": json.dumps({"q": query})})
    best = response.json()["q"]["result"][0]
    assert best["description"] == "A city on the Main."
    assert best["features"] == [
        {"id": "name", "value": 100},
        {"id": f"property:{EX}inhabitants", "value": 100},
        {"id": "type", "value": True},
    ]


def test_data_extension_types_the_values(send: Send, valid: Valid) -> None:
    wanted = ["country", "inhabitants", "founded", "area", "capital", "mayor", "opened", "nothing"]
    asked = {"ids": [EX + "a1", "a3", "nobody"], "properties": [{"id": EX + name} for name in wanted]}
    response = send("POST", "/", data={"extend": json.dumps(asked)})
    assert response.status_code == 200, response.text
    valid("extension", response.json())
    meta, rows = response.json()["meta"], response.json()["rows"]
    assert [entry["id"] for entry in meta] == [EX + name for name in wanted]
    assert meta[0]["name"] == "country"
    assert rows[EX + "a1"] == {
        EX + "country": [{"id": EX + "de", "name": "Germany"}],
        EX + "inhabitants": [{"int": 753056}],
        EX + "founded": [{"date": "1794-02-22T00:00:00"}],
        EX + "area": [{"float": 248.3}],
        EX + "capital": [{"bool": False}],
        **{EX + name: [] for name in ("mayor", "opened", "nothing")},
    }
    assert rows["a3"][EX + "opened"] == [{"date": "1800-11-17T12:30:00Z"}]
    assert set(map(len, rows["nobody"].values())) == {0}


@pytest.mark.parametrize(("limit", "count"), [(1, 1), ("1", 1), (0, 2), ("", 2)])
def test_data_extension_obeys_the_limit(send: Send, limit: Any, count: int) -> None:
    label = "http://www.w3.org/2004/02/skos/core#altLabel"
    asked = {"ids": [EX + "a5"], "properties": [{"id": label, "settings": {"limit": limit}}]}
    rows = send("GET", "/", params={"extend": json.dumps(asked)}).json()["rows"]
    assert len(rows[EX + "a5"][label]) == count


def test_properties_are_proposed_by_type(send: Send, valid: Valid) -> None:
    of_rivers = send("GET", "/properties", params={"type": EX + "River", "limit": 5}).json()
    valid("proposal", of_rivers)
    assert sorted(entry["name"] for entry in of_rivers["properties"]) == ["label", "type"]
    assert (of_rivers["type"], of_rivers["limit"]) == (EX + "River", 5)
    everything = send("GET", "/properties", params={"type": "", "limit": 100}).json()
    assert {"country", "mayor"} < {entry["name"] for entry in everything["properties"]}
    assert len(send("GET", "/properties", params={"limit": 2}).json()["properties"]) == 2


@pytest.mark.parametrize(
    ("kind", "prefix", "expected"),
    [
        ("entity", "wash", ["a3", "a4"]),
        ("entity", EX + "a5", ["a5"]),
        ("entity", "salon", ["a5"]),
        ("entity", "Tesaloniki", ["a5"]),
        ("entity", "FRANK", ["a1", "a2"]),
        ("property", "coun", ["country"]),
        ("property", EX + "mayor", ["mayor"]),
        ("type", "ci", ["City"]),
        ("type", "?", []),
    ],
)
def test_suggestions(send: Send, valid: Valid, kind: str, prefix: str, expected: list[str]) -> None:
    answer = send("GET", f"/suggest/{kind}", params={"prefix": prefix, "callback": "steal"})
    valid("suggest-response", answer.json())
    assert [entry["id"].removeprefix(EX) for entry in answer.json()["result"]] == expected


def test_a_cursor_skips_suggestions(send: Send) -> None:
    whole = send("GET", "/suggest/entity", params={"prefix": "wash"}).json()["result"]
    assert whole[0]["notable"] == [{"id": EX + "City", "name": "City"}]
    rest = send("GET", "/suggest/entity", params={"prefix": "wash", "cursor": 1}).json()["result"]
    assert rest == whole[1:]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("queries", "{", "queries: Invalid JSON"),
        ("queries", "[]", "queries: "),
        ("queries", '{"q0": {"query": "a", "colour": 1}}', "queries.q0.colour: Extra inputs"),
        ("queries", '{"q0": {"query": 5}}', "queries.q0.query: Input should be a valid string"),
        ("queries", '{"q0": {"query": "a", "limit": 0}}', "queries.q0.limit: "),
        ("queries", '{"q0": {"query": "a", "type_strict": "maybe"}}', "queries.q0.type_strict: "),
        ("queries", '{"q0": {"query": "a", "properties": [{"v": 1}]}}', "queries.q0.properties.0.pid: "),
        ("queries", '{"q0": {"query": "a", "properties": [{"pid": "a", "v": {}}]}}', "queries.q0.properties"),
        ("queries", '{"q0": {}}', "either query or properties"),
        ("queries", "[" * 5000, "queries: "),
        ("queries", '{"q0": {"query": "\\ud800"}}', "queries: Invalid JSON"),
        ("extend", '{"ids": ["a"]}', "extend.properties: Field required"),
        (
            "extend",
            '{"ids": ["a"], "properties": [{"id": "a", "settings": {"x": 1}}]}',
            "extend.properties.0.settings.x: ",
        ),
        (
            "extend",
            '{"ids": ["a"], "properties": [{"id": "a", "settings": {"limit": -1}}]}',
            "extend.properties.0.settings.limit: ",
        ),
        ("other", "{}", "neither a field queries nor extend"),
    ],
)
def test_a_wrong_request_is_told_what_and_where(
    send: Send, valid: Valid, field: str, value: str, said: str
) -> None:
    response = send("POST", "/", data={field: value})
    assert response.status_code == 400
    valid("error", response.json())
    assert said in response.json()["error"]


def test_wrong_parameters_and_bodies(send: Send) -> None:
    assert send("GET", "/suggest/entity", params={"prefix": "a", "cursor": "-1"}).status_code == 400
    assert send("GET", "/properties", params={"limit": "many"}).status_code == 400
    assert send("POST", "/", json={"queries": {}}).status_code == 415
    assert send("POST", "/", content=b"\xff=1", headers={"content-type": FORM}).status_code == 400
    assert send("GET", "/suggest/colour").status_code == 404
    assert send("GET", "/preview", params={"id": "nobody"}).status_code == 404
    assert send("DELETE", "/").status_code == 405


FORM = "application/x-www-form-urlencoded"
