"""JSON-LD is parsed in a child process: genuine files are read, and the child alone suffers from others."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyoxigraph as ox
import pytest

from largeea.errors import InputError, ResourceError
from largeea.execution import Execution, executing
from largeea.formats import oxigraph, read_graph, sandbox

TERMS = {f"t{i}": f"http://e/{i}" for i in range(20_000)}
SOUND = Path(__file__).parent / "sound_files" / "graph.jsonld"


def json_ld(context: object, **members: object) -> str:
    return json.dumps({"@context": context, "@id": "urn:a", **members})


def some(terms: int) -> dict[str, object]:
    return dict(list(TERMS.items())[:terms])


def in_each_other(contexts: int, terms: int) -> str:
    """Objects in each other, each with terms of its own: the innermost context holds all of them."""
    parts = []
    for level in range(contexts):
        own = {f"t{level}_{term}": f"http://e/{term}" for term in range(terms)}
        parts.append(f'{{"@context": {json.dumps(own)}, "urn:p": ')
    return "".join(parts) + "1" + "}" * contexts


@pytest.fixture
def file(tmp_path):
    def make(content: str):
        (tmp_path / "a.jsonld").write_text(content)
        return tmp_path / "a.jsonld"

    return make


# Genuine files


def test_the_child_yields_what_pyoxigraph_yields():
    base = "file:///graph.jsonld"
    with SOUND.open("rb") as stream:
        blocks = list(sandbox.parse_json_ld(stream, SOUND, base, block_bytes=1))
    expected = list(ox.parse(path=SOUND, format=ox.RdfFormat.JSON_LD, base_iri=base))
    lines = b"".join(block for block, _, _ in blocks)
    assert sum(statements for _, statements, _ in blocks) == len(expected) == lines.count(b"\n")
    found = ox.parse(lines, format=ox.RdfFormat.N_TRIPLES)
    assert {str(triple.predicate) for triple in found} == {str(quad.predicate) for quad in expected}
    assert {seen for _, _, seen in blocks} == {SOUND.stat().st_size}


def test_keys_that_no_context_defines_state_nothing(file):
    graph = read_graph(file('{"@id": "urn:a", "name": "x", "@type": "Thing", "urn:p": "y"}'))
    assert (graph.counts.scanned, graph.counts.statements, graph.counts.rejected) == (2, 2, 0)


def test_each_object_may_have_a_context(file):
    context = {f"term{i}": f"http://example.org/{i}" for i in range(50)}
    nodes = [{"@context": context, "@id": f"urn:{i}", "term1": "x"} for i in range(2000)]
    for document in (nodes, {"@context": {"x": "urn:x"}, "@graph": nodes}):
        assert read_graph(file(json.dumps(document))).counts.literals == 2000


def test_large_contexts_are_fine(file):
    terms = {f"property{i}": {"@id": f"schema:property{i}", "@type": "@id"} for i in range(2500)}
    context = {"schema": "http://schema.org/", "id": "@id", "type": "@type", **terms}
    nodes = [{"id": f"schema:{i}", "type": "schema:Thing", "property1": "schema:x"} for i in range(500)]
    assert read_graph(file(json.dumps({"@context": context, "@graph": nodes}))).counts.triples == 1000
    assert read_graph(file(json_ld(TERMS, t1="x"))).counts.literals == 1


def test_prefixes_of_prefixes_are_fine(file):
    context = {"a": "http://a/", "b": "a:b/", "c": "b:c/", "name": {"@id": "c:name"}, "c:x": {"@type": "@id"}}
    graph = read_graph(file(json.dumps({"@context": context, "@id": "c:d", "name": "n", "c:x": "b:y"})))
    assert graph.entities.to_pylist() == ["http://a/b/c/d", "http://a/b/y"]
    assert graph.relations.to_pylist() == ["http://a/b/c/x"]


# Hostile files


def too_large() -> dict[str, str]:
    return {
        "long_name": json.dumps({"@id": "urn:" + "a" * 30_000, "urn:p": list(range(20_000))}),
        "deep": '{"urn:p":' * 9999 + "1" + "}" * 9999,
        "contexts_in_each_other": in_each_other(200, 100),
    }


@pytest.mark.parametrize("attack", too_large())
def test_memory_is_limited(file, attack):
    path = file(too_large()[attack])
    with pytest.raises(
        InputError, match=r"takes more than 256 MB of memory, .* give it as N-Triples"
    ) as caught:
        read_graph(path)
    assert caught.value.path == path


def test_neither_process_takes_more_than_that(tmp_path):
    for name, content in too_large().items():
        (tmp_path / f"{name}.jsonld").write_text(content)
    program = f"""
    import resource
    from pathlib import Path
    from largeea.errors import InputError
    from largeea.formats import read_graph
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for path in Path({str(tmp_path)!r}).iterdir():
        try:
            read_graph(path)
            print(path.name, "was read")
        except InputError as error:
            assert path.name in str(error), error
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    if grown > 100 or peak > 350:
        print(grown, "MB more in this process,", peak, "MB in the child")
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize(
    "content",
    [
        json_ld(TERMS, p=[{"@context": {"x": "urn:x"}}] * 9000),
        json_ld(some(9000) | {"s": {"@id": "urn:s", "@context": {}}}, s=[{}] * 20_000),
    ],
    ids=["context_copied", "scoped_context_copied"],
)
def test_time_is_limited(file, monkeypatch, content):
    monkeypatch.setattr(sandbox, "HARMLESS_SECONDS", 1)
    path = file(content)
    started = time.process_time()
    with pytest.raises(InputError, match=r"takes far longer than its size explains, .* N-Triples") as caught:
        read_graph(path)
    assert caught.value.path == path
    assert time.process_time() - started < 1


def test_a_crash_of_the_parser_is_an_input_error(file):
    path = file(json_ld({f"t{i}": f"t{i + 1}:x" for i in range(100_000)}, t1="x"))
    with pytest.raises(InputError, match=r"crashes the JSON-LD parser \(SIG.*N-Triples") as caught:
        read_graph(path)
    assert caught.value.path == path


def test_a_run_with_little_memory_says_so(file):
    path = file(too_large()["long_name"])
    with executing(Execution(memory="128MB")), pytest.raises(ResourceError, match="that this run may use"):
        read_graph(path)


def test_limits_grow_with_what_is_read(monkeypatch):
    """Memory: 100 bytes, or 10 for each byte read, at most 250. Time: 7 s, and one more for each MB."""
    set_to = []
    monkeypatch.setattr(oxigraph.resource, "setrlimit", lambda kind, limit: set_to.append(limit[0]))
    stream = oxigraph._Limited(io.BytesIO(bytes(2 << 20)), 100, 10, 250, seconds=7)
    for size in (5, 15, 10, 2 << 20):
        stream.read(size)
    assert set_to[::2] == [100, 100, 200, 250, 250]
    assert set_to[1::2] == [7, 7, 7, 7, 9]


def test_a_system_without_limits_still_reads(monkeypatch):
    def refuse(kind: int, limit: tuple[int, int]) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(oxigraph.resource, "setrlimit", refuse)
    assert oxigraph._Limited(io.BytesIO(b"text"), 1, 1, 1, seconds=1).read() == b"text"


def test_no_process_can_be_started(file, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ResourceError, match=r"cannot start a process to parse .*a\.jsonld: No such"):
        read_graph(file("{}"))


# Nothing is left behind


@pytest.fixture
def child(monkeypatch):
    """The child processes that are started."""
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return started


def test_the_child_ends_with_its_reader(child):
    """A reader that stops early leaves no process and no open pipe behind."""
    text = json.dumps([{"@id": f"urn:{i}", "urn:p": "x" * 100} for i in range(50_000)]).encode()
    blocks = sandbox.parse_json_ld(io.BytesIO(text), SOUND, "urn:base", block_bytes=1)
    next(blocks)
    blocks.close()
    assert child[0].returncode is not None
    assert child[0].stdin.closed
    assert child[0].stdout.closed


def test_an_error_of_the_input_ends_the_child(child):
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(size) or self.fail()

        def fail(self) -> bytes:
            raise InputError("the disk is gone", "a.jsonld")

    with pytest.raises(InputError, match="the disk is gone"):
        list(sandbox.parse_json_ld(Failing(b"[{}"), SOUND, "urn:base", block_bytes=1))
    assert child[0].returncode is not None
