"""Nothing that is read can run code, reach the network or steer a terminal."""

from __future__ import annotations

import ast
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import largeea
from largeea.cli import run
from largeea.errors import LargeEAError
from largeea.formats import read
from largeea.formats.links import read_links

ROOT = Path(largeea.__file__).parent

BANNED_MODULES = {
    *("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"),
    *("socket", "ssl", "http", "ftplib", "smtplib", "poplib", "imaplib", "telnetlib", "xmlrpc", "webbrowser"),
    *("urllib", "urllib3", "requests", "httpx", "aiohttp", "websockets", "huggingface_hub"),
}
"""What turns bytes into code, and what talks to other machines."""
HARMLESS_MODULES = {"urllib.parse"}
ALLOWED_IMPORTS = {
    "largeea.datasets.download": {"http.client", "urllib.request", "urllib.error"},
    "largeea.names.encoders.checkpoint": {"huggingface_hub"},
    "largeea.runs.lock": {"socket"},
    "largeea.cli.review": {"webbrowser"},
    "largeea.web.review.access": {"http.cookies"},
    "largeea.web.serving": {"socket"},
}
"""Who may, because a user asked for a download by name; the lock only asks for the name of this machine.

The web applications listen on this machine, open a browser there, and read cookies.
"""
ALLOWED_CALLS = {"largeea.web.serving": {"socket.socket"}}
BANNED_CALLS = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen"),
    *("socket.socket", "socket.create_connection", "socket.create_server", "socket.getaddrinfo"),
    *("torch.load", "torch.hub.load", "pandas.read_pickle", "yaml.load", "yaml.unsafe_load"),
}
HASHES_WITHOUT_A_KEY = {"index_in", "is_in", "dictionary_encode", "value_counts", "group_by", "unique"}
"""Functions and methods of Arrow whose tables take quadratic time for texts that were chosen to collide."""
SORTS_INSTEAD = {"numpy.unique", "torch.unique"}
LOADS_ARRAYS = {"numpy.load", "numpy.lib.format.read_array"}


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """A name as it was imported: `np.load` is `numpy.load`."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value, names)}.{node.attr}"
    return names.get(node.id, node.id) if isinstance(node, ast.Name) else "?"


def imports(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Line, what is imported, and under which name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, alias.asname or alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}", alias.asname or alias.name


def is_banned(imported: str, allowed: set[str]) -> bool:
    harmless = any(f"{imported}.".startswith(f"{name}.") for name in HARMLESS_MODULES | allowed)
    return imported.split(".")[0] in BANNED_MODULES and not harmless


def dangers(source: str, module: str = "") -> list[str]:
    """What a module does that no module may, by line."""
    tree = ast.parse(source)
    allowed = ALLOWED_IMPORTS.get(module, set())
    found = [f"{line}: imports {name}" for line, name, _ in imports(tree) if is_banned(name, allowed)]
    names = {}
    for _, name, known_as in imports(tree):
        names[known_as] = name if "." not in name or known_as != name.split(".")[0] else known_as
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = dotted(node.func, names)
            if called in BANNED_CALLS - ALLOWED_CALLS.get(module, set()):
                found.append(f"{node.lineno}: calls {called}")
            if called.rpartition(".")[2] in HASHES_WITHOUT_A_KEY and called not in SORTS_INSTEAD:
                found.append(f"{node.lineno}: calls {called}, which hashes without a key")
            if called in LOADS_ARRAYS and "allow_pickle=False" not in map(ast.unparse, node.keywords):
                found.append(f"{node.lineno}: calls {called} without allow_pickle=False")
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_can_run_code_or_reach_the_network(path):
    module = ".".join(("largeea", *path.relative_to(ROOT).with_suffix("").parts))
    assert dangers(path.read_text("utf-8"), module.removesuffix(".__init__")) == []


@pytest.mark.parametrize(
    ("source", "danger"),
    [
        ("import pickle", "imports pickle"),
        ("from pickle import loads as fine", "imports pickle.loads"),
        ("def f():\n    import socket", "imports socket"),
        ("import http.client", "imports http.client"),
        ("import pyarrow.compute as pc\npc.is_in(x)", "calls pyarrow.compute.is_in, which hashes without"),
        ("names.unique()", "calls names.unique, which hashes without a key"),
        ("from urllib import request", "imports urllib.request"),
        ("import urllib", "imports urllib"),
        ("from huggingface_hub import snapshot_download", "imports huggingface_hub.snapshot_download"),
        ("import torch\ntorch.load('x')", "calls torch.load"),
        ("import torch as t\nt.load('x')", "calls torch.load"),
        ("from torch import load\nload('x')", "calls torch.load"),
        ("import numpy as np\nnp.load('x')", "calls numpy.load without"),
        ("import numpy as np\nnp.load('x', allow_pickle=True)", "calls numpy.load without"),
        ("eval('1')", "calls eval"),
        ("import os\nos.system('x')", "calls os.system"),
    ],
)
def test_the_scan_sees_it(source, danger):
    assert [danger in found for found in dangers(source)] == [True]


def test_the_scan_lets_honest_code_pass():
    honest = (
        "import torch, numpy as np\nfrom urllib.parse import unquote\nimport urllib.parse\n"
        "np.load('x', allow_pickle=False)\ntorch.nn.Linear(1, 1).eval()\nre.compile('x')\n"
    )
    assert dangers(honest) == []
    download = "import urllib.request"
    assert dangers(download, "largeea.datasets.download") == []
    connect = "import socket\nsocket.gethostname()\nsocket.create_connection(('x', 1))"
    assert dangers(connect, "largeea.runs.lock") == ["3: calls socket.create_connection"]
    assert dangers(download, "largeea.formats.rdf") == ["1: imports urllib.request"]


# The network


@pytest.fixture
def nobody(monkeypatch):
    """An address on this machine that must not be visited, while Python opens no sockets at all."""
    visitors = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        stop = threading.Event()

        def watch():
            while not stop.is_set():
                try:
                    visitors.append(server.accept())
                except TimeoutError:
                    continue

        watcher = threading.Thread(target=watch)
        watcher.start()

        def refuse(*_, **__):
            raise AssertionError("a socket was opened")

        monkeypatch.setattr(socket, "socket", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        yield address
        stop.set()
        watcher.join()
    assert visitors == []


def test_no_reader_follows_an_address(nobody, tmp_path):
    rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    files = {
        "context.jsonld": f'{{"@context": "{nobody}/c", "@id": "urn:a", "p": 1}}',
        "contexts.jsonld": f'{{"@context": [{{}}, "{nobody}/c"], "@id": "urn:a", "p": 1}}',
        "import.jsonld": f'{{"@context": {{"@import": "{nobody}/c"}}, "@id": "urn:a", "p": 1}}',
        "scoped.jsonld": f'{{"@context": {{"p": {{"@id": "urn:p", "@context": "{nobody}"}}}}, "p": 1}}',
        "entity.rdf": f'<!DOCTYPE r [<!ENTITY e SYSTEM "{nobody}/e">]><rdf:RDF {rdf}>&e;</rdf:RDF>',
        "dtd.rdf": f'<!DOCTYPE r SYSTEM "{nobody}/dtd"><rdf:RDF {rdf}/>',
        "include.ttl": f"@prefix owl: <{nobody}/owl#> . <{nobody}/a> owl:imports <{nobody}/b> .",
        "schema.rdf": f'<rdf:RDF {rdf} xmlns:a="{nobody}/#"><a:X rdf:about="{nobody}/x"/></rdf:RDF>',
        "links.dtd.rdf": f'<?xml version="1.0"?><!DOCTYPE r SYSTEM "{nobody}/dtd"><rdf:RDF {rdf}/>',
        "links.sssom.tsv": f"#curie_map:\n#  a: {nobody}/\nsubject_id\tpredicate_id\tobject_id\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
        try:
            (read_links if name.startswith("links") else read)(tmp_path / name)
        except LargeEAError as error:
            assert name in str(error)  # noqa: PT017


# What others see of it


CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
HOSTILE_NAME = "\x1b[31mred\x07\x9b2J \x00 =HYPERLINK(1) <script>alert(1)</script>"


@pytest.fixture
def hostile_run(tmp_path, monkeypatch, capsys):
    """A run over two graphs whose names are full of escape sequences; what was shown, and its folder."""
    monkeypatch.chdir(tmp_path)
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    written = "".join(c if c not in '"\\' and c.isprintable() else f"\\u{ord(c):04X}" for c in HOSTILE_NAME)
    for side in "ab":
        for i in range(9):
            entity = f"<http://{side}/{i}>"
            with Path(f"{side}.nt").open("a") as file:
                file.write(
                    f'{entity} {label} "{written} {i} [bold]" .\n{entity} <urn:p> <http://{side}/0> .\n'
                )
    formats = [part for name in ("tsv", "same-as", "alignment-api", "sssom") for part in ("--write", name)]
    assert run(["align", "a.nt", "b.nt", "-o", "run", *formats]) == 0
    shown = capsys.readouterr()
    return shown.out + shown.err, tmp_path / "run"


def test_names_do_not_steer_the_terminal(hostile_run):
    shown, _ = hostile_run
    assert not CONTROL.search(shown)
    assert r"\x1b[31mred\x07\x9b2J \x00" in shown
    assert "[bold]" in shown  # markup of our own library is text as well


def test_names_do_not_steer_whoever_looks_at_a_file(hostile_run):
    _, folder = hostile_run
    texts = [
        path
        for path in folder.rglob("*")
        if path.suffix in (".tsv", ".nt", ".rdf", ".json", ".html", ".md", ".toml", ".txt", ".svg")
    ]
    assert {"alignment.tsv", "alignment.nt", "alignment.rdf", "alignment.sssom.tsv"} <= {
        p.name for p in texts
    }
    for path in texts:
        text = path.read_text("utf-8")
        assert not CONTROL.search(text), path
        if path.suffix in (".html", ".svg", ".rdf", ".md"):
            assert "<script>alert" not in text, path
    assert r"\x1b[31mred" in (folder / "alignment.tsv").read_text("utf-8")


def test_json_for_machines_is_plain(hostile_run, capsys):
    assert run(["inspect", "a.nt", "--json"]) == 0
    shown = capsys.readouterr().out
    assert not CONTROL.search(shown)
    json.loads(shown)
