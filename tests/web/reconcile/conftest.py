"""A graph small enough to know every answer, and a client of its service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import jsonschema
import pytest

from largeea.formats import read_graph
from largeea.formats.scope import in_scope
from largeea.graph import KnowledgeGraph
from largeea.web.guards import App
from largeea.web.reconcile import Settings, make_app
from largeea.web.reconcile.answers import Reconciler

TOWNS = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:City rdfs:subClassOf :Place ; rdfs:label "City" .
:Place rdfs:label "Place" .
:River a rdfs:Class ; rdfs:label "River" .
:a1 a :City ; rdfs:label "Frankfurt" ; :country :de ; :inhabitants 753056 ; :founded "1794-02-22"^^xsd:date ;
    rdfs:comment "A city on the Main." ; skos:altLabel "Mainhattan" ; :capital false ; :area 248.3 .
:a2 a :City ; rdfs:label "Frankfurt" ; :country :de ; :inhabitants 57015 ; :mayor "René Wilke" .
:a3 a :City ; rdfs:label "Washington" ; :country :us ; :capital true ;
    :opened "1800-11-17T12:30:00Z"^^xsd:dateTime .
:a4 a :River ; rdfs:label "Washington" .
:a5 a :City ; rdfs:label "Thessaloniki" ; skos:altLabel "Salonica"@en , "Θεσσαλονίκη"@el .
:a6 a :City ; rdfs:label "<script>alert(1)</script>" ; :note "\\"><img src=x onerror=alert(2)>" .
:a7 a :Place ; rdfs:label "Mercury (planet)" .
:a8 a :Place ; rdfs:label "Königsberg in Bayern" .
:de a :Place ; rdfs:label "Germany" .
:us a :Place ; rdfs:label "United States" .
"""
Ask = Callable[..., list[dict[str, Any]]]
Send = Callable[..., httpx2.Response]


@pytest.fixture(scope="session")
def graph(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    file = tmp_path_factory.mktemp("graph") / "towns.ttl"
    file.write_text(TOWNS, "utf-8")
    found = read_graph(file)
    return in_scope(found, found, "individuals")[0]


@pytest.fixture(scope="session")
def reconciler(graph: KnowledgeGraph) -> Reconciler:
    return Reconciler(graph)


@pytest.fixture(scope="session")
def app(reconciler: Reconciler) -> App:
    return make_app(reconciler, Settings("Towns", batch_size=20))


@pytest.fixture
def send(app: App) -> Send:
    """`send("GET", "/path", ...)`: one request, as httpx2 takes it."""

    def request(method: str, url: str, **rest: Any) -> httpx2.Response:
        async def answer() -> httpx2.Response:
            transport = httpx2.ASGITransport(rest.pop("app", app))
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:80") as client:
                return await client.request(method, url, **rest)

        return anyio.run(answer)

    return request


@pytest.fixture
def ask(send: Send, valid: Callable[..., None]) -> Ask:
    """`ask(query=..., type=...)`: the candidates of one query, sent as OpenRefine does."""

    def candidates(**query: Any) -> list[dict[str, Any]]:
        response = send("POST", "/", data={"queries": json.dumps({"q0": query})})
        assert response.status_code == 200, response.text
        valid("result-batch", response.json())
        found: list[dict[str, Any]] = response.json()["q0"]["result"]
        return found

    return candidates


@pytest.fixture(scope="session")
def valid() -> Callable[[str, Any], None]:
    """`valid("manifest", value)`: the value obeys the schema of this name."""
    folder = Path(__file__).with_name("schemas")
    schemas = {file.stem: json.loads(file.read_text()) for file in folder.glob("*.json")}

    def check(name: str, value: Any) -> None:
        jsonschema.Draft202012Validator(schemas[name]).validate(value)

    return check
