"""Hostile input files of every format: read or refused with a clear error, within bounds on memory and time.

Nothing is fetched while they are read: a server on this machine counts who connects.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import socket
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.attack.parquet_files import PARQUET
from benchmarks.attack.process import Outcome, call, fall, run
from benchmarks.attack.shapes import LABEL
from benchmarks.attack.workshop import Attempt, Workshop, required, write_pair

MOST_MB = 1200.0
"""Memory of a process that reads a file of a few MB: 256 MB more than a run without input, several times."""
MOST_SECONDS = 60.0
ZEROS = bytes(1 << 20)
DOCUMENT = b'<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
LINE = f'<urn:a> {LABEL} "Paris" .\n'.encode()


def _zeros(opened: Callable[[io.BytesIO], io.IOBase], megabytes: int) -> bytes:
    sink = io.BytesIO()
    with opened(sink) as file:
        for _ in range(megabytes):
            file.write(ZEROS)
    return sink.getvalue()


COMPRESSION: dict[str, Callable[[int], bytes]] = {
    "zeros.nt.gz": lambda port: _zeros(lambda sink: gzip.GzipFile(fileobj=sink, mode="wb"), 512),
    "zeros.nt.bz2": lambda port: _zeros(partial(bz2.BZ2File, mode="wb"), 512),
    "zeros.nt.xz": lambda port: _zeros(partial(lzma.LZMAFile, mode="wb"), 512),
    "many_members.nt.gz": lambda port: gzip.compress(b"") * 100_000 + gzip.compress(LINE),
    "packed_twice.nt.gz": lambda port: gzip.compress(gzip.compress(LINE)),
    "cut_short.nt.gz": lambda port: gzip.compress(LINE * 1000)[:-9],
    "rubbish_behind.nt.gz": lambda port: gzip.compress(LINE) + b"rubbish" * 1000,
    "large_dictionary.nt.xz": lambda port: lzma.compress(
        LINE,
        filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}],
    ),
}
XML: dict[str, Callable[[int], bytes]] = {
    "laughs.rdf": lambda port: (
        b"<!DOCTYPE x ["
        + b"".join(b'<!ENTITY e%d "%s">' % (i, (b"&e%d;" % (i - 1)) * 10 if i else b"ha") for i in range(12))
        + b"]>"
        + DOCUMENT[22:]
        + b">&e11;</rdf:RDF>"
    ),
    "long_entity.rdf": lambda port: (
        b'<!DOCTYPE x [<!ENTITY e "%s">]>' % (b"x" * 50_000)
        + DOCUMENT[22:]
        + b">"
        + b"&e;" * 50_000
        + b"</rdf:RDF>"
    ),
    "external.rdf": lambda port: (
        b'<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1:%d/x">]>' % port
        + DOCUMENT[22:]
        + b">&e;</rdf:RDF>"
    ),
    "external_dtd.rdf": lambda port: (
        b'<!DOCTYPE x SYSTEM "http://127.0.0.1:%d/x.dtd">' % port + DOCUMENT[22:] + b"></rdf:RDF>"
    ),
    "secret_file.rdf": lambda port: (
        b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + DOCUMENT[22:] + b">&e;</rdf:RDF>"
    ),
    "deep.rdf": lambda port: DOCUMENT + b">" + b"<rdf:Description>" * 200_000,
    "attributes.rdf": lambda port: DOCUMENT + b"".join(b' a%d="x"' % i for i in range(200_000)) + b"/>",
    "namespaces.rdf": lambda port: (
        DOCUMENT + b"".join(b' xmlns:a%d="urn:x"' % i for i in range(100_000)) + b"/>"
    ),
    "comment.rdf": lambda port: DOCUMENT + b"><!--" + b"x" * (64 << 20),
    "other_encoding.rdf": lambda port: b'<?xml version="1.0" encoding="utf-7"?><a/>',
}
TURTLE: dict[str, Callable[[int], bytes]] = {
    "brackets.ttl": lambda port: b"<urn:a> <urn:p> " + b"[ <urn:p> " * 200_000,
    "lists.ttl": lambda port: b"<urn:a> <urn:p> " + b"( " * 200_000,
    "long_prefix.ttl": lambda port: (
        b"@prefix x: <urn:%s> .\n" % (b"y" * 30_000) + b"x:a x:b x:c .\n" * 100_000
    ),
    "no_end.ttl": lambda port: b'<urn:a> <urn:p> """' + b"x" * (64 << 20),
    "long_iri.ttl": lambda port: b"<urn:a> <urn:p> <urn:" + b"x" * (64 << 20) + b"> .",
    "prefixes.ttl": lambda port: (
        b"".join(b"@prefix p%d: <urn:%d> .\n" % (i, i) for i in range(200_000)) + LINE
    ),
    "long_line.nt": lambda port: b'<urn:a> <urn:p> "' + b"x" * (65 << 20) + b'" .\n',
    "nulls.nt": lambda port: bytes(10 << 20),
    "escapes.nt": lambda port: b'<urn:a> <urn:p> "' + b"\\u0041" * 2_000_000 + b'" .\n' + LINE,
}
JSON_LD: dict[str, Callable[[int], bytes]] = {
    "contexts.jsonld": lambda port: (
        "".join(
            f'{{"@context": {json.dumps({f"t{i}_{j}": f"http://e/{j}" for j in range(100)})}, "urn:p": '
            for i in range(300)
        ).encode()
        + b"1"
        + b"}" * 300
    ),
    "deep.jsonld": lambda port: b'{"urn:p":' * 100_000 + b"1" + b"}" * 100_000,
    "arrays.jsonld": lambda port: b"[" * 1_000_000,
    "remote.jsonld": lambda port: b'{"@context": "http://127.0.0.1:%d/c", "@id": "urn:a", "x": 1}' % port,
    "import.jsonld": lambda port: (
        b'{"@context": {"@import": "http://127.0.0.1:%d/c"}, "@id": "urn:a"}' % port
    ),
    "long_id.jsonld": lambda port: json.dumps(
        {"@id": "urn:" + "a" * 30_000, "urn:p": list(range(50_000))}
    ).encode(),
    "each_other.jsonld": lambda port: json.dumps(
        {"@context": {f"t{i}": f"t{(i + 1) % 5000}:x" for i in range(5000)}, "t0": 1}
    ).encode(),
    "long_number.jsonld": lambda port: b'{"@id": "urn:a", "urn:p": ' + b"9" * 5_000_000 + b"}",
}
TABLES: dict[str, Callable[[int], bytes]] = {
    "columns.csv": lambda port: b"," * 200_000 + b"\n" + b"x," * 200_000,
    "open_quote.csv": lambda port: b'id,name\n1,"' + b"x\n" * (16 << 20),
    "long_cell.csv": lambda port: b"id,name\n1," + b"x" * (65 << 20) + b"\n",
    "quotes.csv": lambda port: b"id,name\n" + b'1,"' + b'""' * 5_000_000 + b'"\n',
    "uneven.tsv": lambda port: b"".join(b"a" + b"\tb" * (i % 9) + b"\n" for i in range(100_000)),
    "carriage_returns.tsv": lambda port: b"a\tp\tb\r" * 1_000_000,
    "nulls.tsv": lambda port: b"a\tp\tb\0\n" * 100_000,
    "one_cell_each.csv": lambda port: b"x\n" * 1_000_000,
}


_SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def _workbook(sheet: bytes, repeat: int = 1, styles: bytes = b"") -> bytes:
    """A workbook with one sheet, and with styles if they are given."""
    main = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    place = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/workbook.xml",
            b'<workbook %s xmlns:r="%s"><sheets><sheet name="x" sheetId="1" r:id="r1"/></sheets></workbook>'
            % (main, place.encode()),
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{place}/worksheet" Target="worksheets/sheet1.xml"/>'
            "</Relationships>",
        )
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEETS}.sheet.main+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{_SHEETS}.styles+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_SHEETS}.worksheet+xml"/></Types>',
        )
        if styles:
            archive.writestr("xl/styles.xml", b"<styleSheet %s>%s</styleSheet>" % (main, styles))
        with archive.open("xl/worksheets/sheet1.xml", "w") as file:
            for _ in range(repeat):
                file.write(sheet)
    return sink.getvalue()


def _false_size(workbook: bytes) -> bytes:
    """Let the directory of an archive declare that every file in it has 100 bytes."""
    content, at = bytearray(workbook), 0
    while (at := content.find(b"PK\x01\x02", at)) >= 0:
        content[at + 24 : at + 28] = (100).to_bytes(4, "little")
        at += 4
    return bytes(content)


WORKBOOKS: dict[str, Callable[[int], bytes]] = {
    "zeros.xlsx": lambda port: _workbook(b" " * (1 << 20), repeat=300),
    "false_sizes.xlsx": lambda port: _false_size(_workbook(b" " * (1 << 20), repeat=300)),
    "laughs.xlsx": lambda port: _workbook(XML["laughs.rdf"](port)),
    "external.xlsx": lambda port: _workbook(XML["external.rdf"](port)),
    "styles.xlsx": lambda port: _workbook(b"", styles=b"<cellXfs>" + b"<xf/>" * 5_000_000 + b"</cellXfs>"),
    "no_workbook.xlsx": lambda port: b"PK\x03\x04" + b"x" * 1000,
    "cells.xlsx": lambda port: _workbook(
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        + b"<row><c><v>1</v></c></row>" * 100_000
    ),
    "archive.zip": lambda port: _workbook(b"x"),
    "renamed_archive.nt": lambda port: _workbook(b"x"),
}
QUERIES: dict[str, str] = {
    "plain": "SELECT ?x {{ SERVICE <{url}> {{ ?x ?p ?y }} }}",
    "behind a carriage return": "SELECT ?x {{ # no\rSERVICE SILENT <{url}> {{ ?x ?p ?y }} }}",
    "in quotes": 'SELECT ?x {{ FILTER("""a"b""" != "c") SERVICE <{url}> {{ ?x ?p ?y }} FILTER("a"="a") }}',
    "from a document": "SELECT ?x FROM <{url}> {{ ?x ?p ?y }}",
    "nested": "SELECT ?x " + "{{" * 60_000 + "}}" * 60_000,
    "negated": "SELECT ?x {{ ?x ?p ?y FILTER(" + "!" * 100_000 + "true) }}",
    "a large expression": "SELECT ?x {{ ?x ?p ?y FILTER(REGEX(STR(?x), '((a{{1,99}}){{1,99}}){{1,99}}')) }}",
}
"""`{url}` is the server that counts who connects."""
OTHER_FILES: dict[str, Callable[[], bytes]] = {
    "deep.txt": lambda: b"[" * 100_000,
    "dots.toml": lambda: b".".join([b"a"] * 20_000) + b" = 1\n",
    "settings.toml": lambda: b"".join(b"a%d = 1\n" % i for i in range(5000)),
    "nulls.tsv": lambda: bytes(20 << 20),
    "columns.tsv": lambda: b"\t" * 200_000,
    "no_text.tsv": lambda: b"\xff\xfe\x00x" * 1000,
    "escape.tsv": lambda: b"urn:a:Paris\turn:b:\x1b[2JParis\n",
    "zeros.tsv.gz": lambda: _zeros(lambda sink: gzip.GzipFile(fileobj=sink, mode="wb"), 200),
    "deep_header.sssom.tsv": lambda: b"#curie_map:\n#  a: " + b"[" * 50_000 + b"\nsubject_id\tobject_id\n",
    "code.sssom.tsv": lambda: b"#curie_map:\n#  a: !!python/object/apply:os.system [id]\nsubject_id\n",
    "open_quote.tsv": lambda: b'subject_id\tpredicate_id\tobject_id\n"' + b"x\n" * 100_000,
    "no_archive.xlsx": lambda: b"PK\x03\x04" + b"x" * 500,
    "empty.tsv": lambda: b"",
}
GIVEN_AS = {
    "links": ["evaluate", "run", "--links", "FILE"],
    **{
        option: ["align", "a.nt", "b.nt", "-o", "other", "-q", f"--{option}", "FILE"]
        for option in ("not-links", "lexicon", "leave-out", "compatible-types", "config", "source-select")
    },
    "reviews": ["resume", "run", "-q", "--with-reviews"],
    "manifest": ["status", "run"],
}
"""Commands that read a file other than a graph."""
MOST_SHOWN = 10_000
"""Characters of a message."""
KINDS: dict[str, dict[str, Callable[[int], bytes]]] = {
    "compression": COMPRESSION,
    "XML": XML,
    "Turtle and N-Triples": TURTLE,
    "JSON-LD": JSON_LD,
    "CSV and TSV": TABLES,
    "Parquet": PARQUET,
    "Excel and archives": WORKBOOKS,
}


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    yield from other_files(workshop, most)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        for kind, files in KINDS.items():
            for number, (name, make) in enumerate(files.items()):
                if most is not None and number >= most:
                    break
                workshop.clear()
                call(lambda name=name, make=make: write(Path(name), make(port)))  # the parent must stay small
                wrong = excessive(run(["inspect", name])) or _connected(server)
                yield f"hostile file: {kind}", wrong and f"{name}: {wrong}"
        workshop.clear()
        write_pair()
        for name, query in QUERIES.items():
            given = ["--source-select", query.format(url=f"http://127.0.0.1:{port}/")]
            outcome = run(["align", "a.nt", "b.nt", "-o", "run", "-q", *given])
            wrong = fall(outcome) or _connected(server)
            yield "hostile query of --source-select", wrong and f"{name}: {wrong}"


def other_files(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    """Give every other file that commands read."""
    workshop.clear()
    write_pair()
    required(["align", "a.nt", "b.nt", "-o", "run", "-q"])
    workshop.save("run")
    for given_as, arguments in GIVEN_AS.items():
        for name, make in list(OTHER_FILES.items())[:most]:
            workshop.restore("run")
            place = Path({"reviews": "run/reviews.tsv", "manifest": "run/manifest.json"}.get(given_as, name))
            place.write_bytes(make())
            outcome = run([name if word == "FILE" else word for word in arguments])
            wrong = fall(outcome) or excessive(replace(outcome, code=0))
            shown = outcome.out + outcome.err
            if not wrong and (len(shown) > MOST_SHOWN or "\x1b" in shown):
                wrong = f"it prints {len(shown):,} characters" + (
                    ", one that controls" if "\x1b" in shown else ""
                )
            yield "hostile file: links, settings, lists", wrong and f"{given_as}, {name}: {wrong}"


def write(path: Path, content: bytes) -> int:
    """Write a file and return the exit code."""
    path.write_bytes(content)
    return 0


def excessive(outcome: Outcome) -> str | None:
    """Return what is wrong with the reading of a hostile file."""
    if wrong := fall(outcome, (0, 3)):
        return wrong
    if "root:" in outcome.out:
        return "it shows a file of this machine"
    if outcome.memory_mb > MOST_MB or outcome.cpu_seconds > MOST_SECONDS:
        return f"it takes {outcome.memory_mb:.0f} MB and {outcome.cpu_seconds:.0f} s of CPU time"
    return None


def _connected(server: socket.socket) -> str | None:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return None
    return "something was fetched from the network"
