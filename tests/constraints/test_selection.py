"""Queries that select entities: what is refused, and the limits of the process that runs them."""

from __future__ import annotations

import gzip
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import IO

import pytest

from largeea.constraints import selection
from largeea.constraints.selection import query_text, select
from largeea.errors import InputError, LargeEAWarning, ResourceError, UsageError
from largeea.execution import Execution, executing
from largeea.formats import read_graph, streams
from largeea.formats.programs import Child, Ending
from largeea.graph import KnowledgeGraph

LINES = "".join(
    f'<http://a/{n}> <http://a/p> <http://a/{n + 1}> .\n<http://a/{n}> <http://a/q> "{n}" .\n'
    for n in range(300)
)


@pytest.fixture
def graph(tmp_path: Path) -> tuple[KnowledgeGraph, Path]:
    place = tmp_path / "a.nt.gz"
    place.write_bytes(gzip.compress((LINES + "not a statement\n" + LINES).encode()))
    with pytest.warns(LargeEAWarning, match="1 "):
        return read_graph(place), place


def test_a_compressed_file_with_a_malformed_line(graph: tuple[KnowledgeGraph, Path]) -> None:
    mask = select(graph[0], "source", 'SELECT ?s { ?s <http://a/q> "7" }', [graph[1]], None)
    assert graph[0].entities.filter(mask).to_pylist() == ["http://a/7"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT ?x ?y WHERE { ?x ?p ?y }",
            "the selection of the source graph has 2 variables; give a SELECT",
        ),
        ("ASK { ?x ?p ?y }", "is not a SELECT query"),
        ("SELECT ?x\nWHERE { ?x a }", r"is not valid SPARQL: error at 2:\d+: expected"),
        ("SELECT ?x { ?x a nope:Person }", "known prefixes: dbc, dbo"),
        ("SELECT ?x { service <http://x/> { ?x ?p ?y } }", "uses SERVICE; nothing is fetched"),
    ],
)
def test_what_is_no_selection(graph: tuple[KnowledgeGraph, Path], query: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select(graph[0], "source", query, [graph[1]], None)


def test_the_word_service_is_allowed_elsewhere(graph: tuple[KnowledgeGraph, Path]) -> None:
    query = 'SELECT ?service { ?service ?p """SERVICE " """, <http://a/service>, \'SERVICE\' } # no SERVICE'
    with pytest.raises(UsageError, match="selects none of its entities"):
        select(graph[0], "source", query, [graph[1]], None)


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_error(500)

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


HIDDEN = {
    "behind a comment that a carriage return ends": "SELECT ?x {{ # no\rSERVICE <{url}/> {{ ?x ?p ?y }} }}",
    "between strings of three quotes": 'SELECT ?x {{ FILTER("""a"b""" != "c") SERVICE <{url}/> '
    '{{ ?x ?p ?y }} FILTER("a" = "a") }}',
}


@pytest.mark.parametrize("recognised", [True, False])
@pytest.mark.parametrize("query", HIDDEN.values(), ids=HIDDEN)
def test_a_hidden_service_reached_the_network(
    graph: tuple[KnowledgeGraph, Path],
    server: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    recognised: bool,
) -> None:
    """The process that runs queries can open no connection, even if SERVICE is not recognised."""
    if not recognised:
        monkeypatch.setattr(selection, "_SERVICE", re.compile("(?!)"))
    message = "uses SERVICE" if recognised else "fails: Too many open files"
    with pytest.raises(UsageError, match=message):
        select(graph[0], "source", query.format(url=server[0]), [graph[1]], None)
    assert server[1] == []


def test_a_deeply_nested_query_crashed_the_program(graph: tuple[KnowledgeGraph, Path]) -> None:
    query = "SELECT ?x " + "{" * 100_000 + "}" * 100_000
    with pytest.raises(UsageError, match="crashes the SPARQL engine; is it nested too deeply"):
        select(graph[0], "source", query, [graph[1]], None)


def test_a_query_that_needs_no_file_was_evaluated_without_a_limit(
    graph: tuple[KnowledgeGraph, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "QUERY_SECONDS", 1)
    values = " ".join(f"VALUES ?{name} {{ {' '.join(map(str, range(300)))} }}" for name in "abcd")
    with pytest.raises(ResourceError, match="takes longer than 1 s"):
        select(graph[0], "source", f"SELECT (COUNT(*) AS ?x) {{ {values} }}", [graph[1]], None)


def test_a_query_that_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is neither a file nor a SPARQL query"):
        query_text(str(tmp_path / "people.rq"))
    (tmp_path / "people.rq").write_bytes(b"\xff{")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        query_text(str(tmp_path / "people.rq"))


def test_a_literal_is_no_entity(graph: tuple[KnowledgeGraph, Path]) -> None:
    with pytest.raises(UsageError, match='selects the literal "0", but entities are IRIs'):
        select(graph[0], "source", "SELECT ?x { <http://a/0> <http://a/q> ?x }", [graph[1]], None)
    with pytest.raises(UsageError, match="selects none of its entities"):
        select(graph[0], "source", "SELECT ?x { ?x <http://a/nope> ?y }", [graph[1]], None)


def test_tables_cannot_be_queried(graph: tuple[KnowledgeGraph, Path], tmp_path: Path) -> None:
    for files in ([], [tmp_path / "a.csv"]):
        with pytest.raises(UsageError, match="does not come from RDF files"):
            select(graph[0], "source", "SELECT ?x { ?x ?p ?y }", files, None)


def test_time_is_bounded(graph: tuple[KnowledgeGraph, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "QUERY_SECONDS", 1)
    endless = "SELECT (SAMPLE(?a) AS ?x) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h }"
    with pytest.raises(ResourceError, match="takes longer than 1 s"):
        select(graph[0], "source", endless, [graph[1]], None)


def test_memory_is_bounded(graph: tuple[KnowledgeGraph, Path]) -> None:
    greedy = "SELECT DISTINCT ?a { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } ORDER BY ?a ?c ?e"
    with executing(Execution(memory="600MB")), pytest.raises(ResourceError, match=r"takes more than 0\.3 GB"):
        select(graph[0], "source", greedy, [graph[1]], None)


def test_a_wrong_query_was_a_broken_pipe_if_it_was_refused_between_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "a.nt", tmp_path / "b.nt"]
    for file in files:
        file.write_text(LINES)
    refused = threading.Event()

    def open_bytes(path: Path) -> IO[bytes]:
        if path == files[1]:
            assert refused.wait(60)
        return streams.open_bytes(path)

    def wait(child: Child) -> Ending:
        child._process.wait()
        refused.set()
        return wait_for_end(child)

    wait_for_end = Child.wait
    monkeypatch.setattr(selection, "open_bytes", open_bytes)
    monkeypatch.setattr(Child, "wait", wait)
    with pytest.raises(UsageError, match="is not valid SPARQL"):
        select(read_graph(files), "source", "SELECT ?x WHERE { nonsense", files, None)


def test_no_process_can_be_started(
    graph: tuple[KnowledgeGraph, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ResourceError, match="cannot start a process for the selection of the source graph"):
        select(graph[0], "source", "SELECT ?x { ?x ?p ?y }", [graph[1]], None)
