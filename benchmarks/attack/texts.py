"""Hostile labels through every output: nothing raw where it harms, and everything read back as it was."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pyoxigraph as ox
from benchmarks.attack.process import Outcome, call, fall, run
from benchmarks.attack.servers import serving
from benchmarks.attack.shapes import LABEL
from benchmarks.attack.workshop import Attempt, Workshop

from largeea.formats.links import FORMATS

HOSTILE = {
    "escape sequence": "\x1b[31mred\x1b]0;title\x07",
    "C1 controls": "\x9b2J\x85next\x90",
    "null": "nul\x00l",
    "delete and backspace": "abc\x08\x08\x7f",
    "bidi override": "invoice\u202egpj.exe",
    "bidi isolate": "\u2066left\u2069\u200f",
    "line separators": "one\u2028two\u2029three",
    "formula": '=HYPERLINK("http://x","y")',
    "formula of other kinds": "@SUM(1+1)|cmd",
    "tab": "tab\tinside",
    "line break": "first\nsecond",
    "carriage return": "over\rwritten",
    "both": "first\r\nsecond",
    "quotes": '"double" and \'single\' "',
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "entities": "&amp;&lt;&#0;]]>",
    "terminal markup": "[bold red]loud[/] [link=http://x]y[/link]",
    "comment": "# no comment",
    "backslashes": "\\x1b \\u0000 \\n",
    "not characters": "\ufffe\uffff\U0001ffff",
    "format": "zero\u200bwidth\ufeff",
    "combining": "a" + "\u0301" * 50,
    "braces": "{0} %s ${x} {{y}}",
    "surrounding space": "  space  ",
    "template": "</td></tr></table><!--",
}
TEXT = (".tsv", ".nt", ".ttl", ".rdf", ".json", ".html", ".toml")
RAW_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
SCRIPT = re.compile(r"<(script>alert|img src=x)", re.IGNORECASE)


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    workshop.clear()
    write_hostile_pair()
    formats = [part for name in FORMATS for part in ("--write", name)]
    commands = {
        "align": ["align", "a.nt", "b.nt", "-o", "run", *formats],
        "inspect": ["inspect", "a.nt"],
        "inspect --json": ["inspect", "a.nt", "--json"],
        "merge": ["merge", "run", "-o", "merged.nt", "--keep-both"],
        "merge, Turtle": ["merge", "run", "-o", "merged.ttl"],
        "report": ["report", "run"],
        "schema": ["schema", "run", "-o", "schema.sssom.tsv"],
        "status": ["status", "run"],
        "evaluate": ["evaluate", "run", "--links", "links.tsv"],
    }
    for i, name in enumerate(HOSTILE):
        commands[f"explain {name}"] = ["explain", "run", f"urn:a:{i}"]
        commands[f"explain {name} --json"] = ["explain", "run", f"urn:a:{i}", "--json"]
    for name, arguments in commands.items():
        yield "labels on the terminal", shown(run(arguments), name)
    for path in sorted(Path().rglob("*")):
        if path.suffix in TEXT:
            yield "labels in files", written(path)
    outcome = call(read_back)
    yield "labels read back", fall(outcome, (0,))
    for line in outcome.out.splitlines():
        yield "labels read back", line or None
    yield from answers()
    for name in FORMATS.values():
        links = f"run/{name.file_name}"
        again = run(["evaluate", "run", "--links", links])
        yield "links read back", (wrong := fall(again, (0,))) and f"{links}: {wrong}"


def answers() -> Iterator[Attempt]:
    """Ask the web applications for the hostile labels."""
    with serving("review") as server:
        paths = ["/api/pairs?count=100&status=", "/api/overview"]
        for i in range(len(HOSTILE)):
            paths += [f"/api/pairs/{i}?scores=1", f"/api/pairs/{i}/neighbours.svg"]
        for path in paths:
            yield "labels in the review app", answered(path, *server.get(path))
    with serving("reconcile") as server:
        for i, name in enumerate(HOSTILE.values()):
            asked = quote(json.dumps({"q": {"query": name}}))
            for path in (
                f"/?queries={asked}",
                f"/preview?id={quote(f'urn:a:{i}')}",
                "/suggest/entity?prefix=a",
            ):
                yield "labels in the reconciliation service", answered(path, *server.get(path))


def answered(path: str, head: bytes, body: bytes) -> str | None:
    """Return what is wrong with an answer of a web application."""
    text = body.decode("utf-8")
    if not head.startswith(b"HTTP/1.1 200"):
        return f"{path}: {head[:40]!r}"
    if b"application/json" in head:
        json.loads(text)
    elif found := SCRIPT.search(text) or BIDI.search(text) or RAW_CONTROL.search(text):
        return f"{path}: contains {found[0]!r}"
    return None if b"nosniff" in head.lower() else f"{path}: a browser may guess its type"


def write_hostile_pair() -> None:
    """Write two graphs whose entities have hostile names, and a chain of edges."""
    for side in "ab":
        with Path(f"{side}.nt").open("w") as file:
            for i, text in enumerate(HOSTILE.values()):
                escaped = "".join(f"\\U{ord(c):08X}" if not c.isalnum() else c for c in text)
                file.write(f'<urn:{side}:{i}> {LABEL} "{escaped}" .\n')
                file.write(f"<urn:{side}:{i}> <urn:p> <urn:{side}:{(i + 1) % len(HOSTILE)}> .\n")
    Path("links.tsv").write_text("".join(f"urn:a:{i}\turn:b:{i}\n" for i in range(len(HOSTILE))))


def shown(outcome: Outcome, name: str) -> str | None:
    """Return what is wrong with what a command prints."""
    text = outcome.out + outcome.err
    if found := RAW_CONTROL.search(text) or BIDI.search(text):
        return f"{name}: prints {found[0]!r}"
    if name.endswith("--json") and outcome.code == 0:
        json.loads(outcome.out)
    return (wrong := fall(outcome, (0,))) and f"{name}: {wrong}"


def written(path: Path) -> str | None:
    """Return what is wrong with a file."""
    text = path.read_bytes().decode("utf-8")
    if found := RAW_CONTROL.search(text):
        return f"{path}: contains {found[0]!r}"
    if path.suffix in (".html", ".rdf") and (found := SCRIPT.search(text)):
        return f"{path}: contains {found[0]!r}"
    if path.suffix == ".html" and (found := BIDI.search(text)):
        return f"{path}: contains {found[0]!r}, which reorders the text around it"
    return None


def read_back() -> int:
    """Print a line for each file that other programs read: what they find in it that was not written."""
    names = set(HOSTILE.values())
    table = pq.read_table("run/alignment.parquet").to_pydict()
    for column in ("source_name", "target_name"):
        print(_lost("alignment.parquet", names, set(table[column])))
    for path, kind in (("merged.nt", ox.RdfFormat.N_TRIPLES), ("merged.ttl", ox.RdfFormat.TURTLE)):
        quads = ox.parse(path=path, format=kind)
        labels = {quad.object.value for quad in quads if f"<{quad.predicate.value}>" == LABEL}
        print(_lost(path, names, labels))
    with Path("run/alignment.tsv").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    is_whole = {len(row) for row in rows} == {len(rows[0])} and len(rows) == len(table["source"]) + 1
    print("" if is_whole else f"alignment.tsv: {len(rows)} rows for {len(table['source'])} pairs")
    return 0


def _lost(file: str, names: set[str], found: set[str]) -> str:
    lost = names - found
    return f"{file}: lacks {len(lost)} names, such as {min(lost)!r}" if lost else ""
