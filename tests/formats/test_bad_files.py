"""A collection of bad files: each gets the message and exit code that `bad_messages.json` has for it.

Small files are in `bad_files/` (graphs, benchmark folders, and links in `links/`); large and binary ones are
made here. To add one, put it there or here. Then, and after every change of a message, write the list anew
and check the differences before committing it:

    LARGEEA_REFRESH=1 python -m pytest tests/formats/test_bad_files.py
    git diff tests/formats/bad_messages.json

Some messages quote a library, whose wording may differ in another version: then only the place in the file
and the exit code are compared.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import textwrap
import zipfile
from importlib.metadata import version
from pathlib import Path
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from largeea.cli import run

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HERE = Path(__file__).parent
MESSAGES = HERE / "bad_messages.json"
REFRESH = "LARGEEA_REFRESH" in os.environ
VERSIONS = {name: version(name) for name in ("pyarrow", "pyoxigraph")} | {"expat": expat.EXPAT_VERSION}
COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}
SAME_AS = "<http://www.w3.org/2002/07/owl#sameAs>"
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/"'


def parquet(table: pa.Table, compression: str = "snappy") -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, compression=compression)
    return file.getvalue()


def tar(name: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    return file.getvalue()


def workbook(sheet: str, *more: tuple[str, str]) -> bytes:
    """A workbook whose one sheet is this XML, and other files."""
    file, main = io.BytesIO(), "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{types}"><Override PartName="/xl/workbook.xml" '
        f'ContentType="{kind}.sheet.main+xml"/><Override PartName="/xl/s.xml" '
        f'ContentType="{kind}.worksheet+xml"/></Types>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="s.xml"/></Relationships>',
        "xl/s.xml": sheet.replace("<worksheet", f'<worksheet xmlns="{main}"', 1),
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (*parts.items(), *more):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def json_ld(context: object, **members: object) -> str:
    return json.dumps({"@context": context, "@id": "urn:a", **members})


def repeated(text: str) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(1 << 14, np.int32)), pa.array([text]))


def made() -> dict[str, bytes | str]:
    """Files that are too large or too binary to lie in a folder."""
    lines = b"".join(b"<urn:%d> <urn:p> <urn:%d> .\n" % (i, i * i) for i in range(3000))
    attributes = [f"a:b{i}='1'" for i in range(999)]
    namespaces = [[f"xmlns:n{i}_{j}='urn:x'" for j in range(200)] for i in range(9)]
    not_utf8 = pa.array([b"\xff\xfe"]).view(pa.string())
    return {
        **{f"cut_short.nt.{suffix}": compress(lines)[:-300] for suffix, compress in COMPRESS.items()},
        **{f"bomb.nt.{suffix}": compress(bytes(12 << 20)) * 20 for suffix, compress in COMPRESS.items()},
        "packed_twice.nt.gz": gzip.compress(gzip.compress(lines)),
        "packed_without_suffix.nt": gzip.compress(lines),
        "folder.tar": tar("../../etc/passwd"),
        "folder.nt.tar.gz": gzip.compress(tar("/etc/passwd")),
        "endless_line.csv.gz": gzip.compress(b"," * (1 << 20)) * 100,
        "columns_without_end.csv": "," * 100_000 + "\n",
        "nested_triple_terms.nt": "<urn:a> <urn:p> "
        + "<<( <urn:s> <urn:p> " * 9999
        + "1"
        + ")>>" * 9999
        + " .",
        "nested_triple_terms.ttl": "<urn:a> <urn:p> " + "<<( <urn:s> <urn:p> " * 9999,
        "nested_brackets.ttl": "<urn:a> <urn:p> " + "[ <urn:p> " * 9999,
        "nested_lists.trig": "<urn:a> <urn:p> " + "(" * 9999,
        "long_namespace.ttl": f"@prefix a: <http://a/{'a' * 40_000}> .\na:x a:p a:y .",
        "much_from_little.ttl": f"@prefix a: <http://a/{'a' * 30_000}> .\na:x a:p {'a:y, ' * 9999} a:z .",
        "nested_elements.rdf": f"{RDF}>" + "<rdf:Description><a:p>" * 9999,
        "many_attributes.rdf": f"{RDF}><a:x {' '.join(attributes)}/></rdf:RDF>",
        "many_namespaces.rdf": f"{RDF}>" + "".join(f"<a:x {' '.join(part)}>" for part in namespaces),
        "attributes_of_the_doctype.rdf": f'<!DOCTYPE r [<!ATTLIST a:x y CDATA "{"x" * 99}">]>{RDF}/>',
        "long_base.rdf": f'{RDF} xml:base="http://a/{"a" * 40_000}"/>',
        "long_comment.rdf": f"{RDF}><!--{'x' * (17 << 20)}--></rdf:RDF>",
        "nested.jsonld": '{"urn:p":' * 9999 + "1" + "}" * 9999,
        "chained_terms.jsonld": json_ld({f"t{i}": f"t{i + 1}:x" for i in range(100_000)}, t1="x"),
        "circular_aliases.jsonld": json_ld({"a": "b", "b": "c", "c": "a"}, a="x"),
        "names_times_values.jsonld": json.dumps({"@id": "urn:" + "a" * 30_000, "urn:p": list(range(20_000))}),
        "no_workbook.xlsx": "a,b,c",
        "cut_short.xlsx": workbook("<worksheet/>")[:-30],
        "empty_sheet.xlsx": workbook("<worksheet><sheetData/></worksheet>"),
        "packed_zeros.xlsx": workbook("<worksheet/>", ("xl/media/zeros", "0" * (70 << 20))),
        "document_type.xlsx": workbook('<!DOCTYPE a [<!ENTITY b "c">]><worksheet>&b;</worksheet>'),
        "row_far_below.xlsx": workbook(
            '<worksheet><sheetData><row r="99999999999"/></sheetData></worksheet>'
        ),
        "unclosed_row.xlsx": workbook("<worksheet><sheetData><row></sheetData></worksheet>"),
        "cut_short.parquet": parquet(pa.table({"s": ["a"], "p": ["p"], "o": ["b"]}))[:-20],
        "numbers_only.parquet": parquet(pa.table({"s": [[1]], "p": [[2]], "o": [[3]]})),
        "two_columns.parquet": parquet(pa.table({"s": ["a"], "o": ["b"]})),
        "not_utf8.parquet": parquet(pa.table({"s": not_utf8, "p": ["p"], "o": ["o"]})),
        "one_text_in_every_row.parquet": parquet(pa.table({n: repeated("x" * 20_000) for n in "spo"})),
        "packed_zeros.parquet": parquet(pa.table({"s": ["0" * (70 << 20)], "p": ["p"], "o": ["o"]}), "zstd"),
        "escape_sequence.parquet": parquet(pa.table({"s": ["\x1b[2J"], "p": ["p"], "o": ["b"]})),
        "links/nested_triple_terms.nt": f"<urn:a> {SAME_AS} "
        + "<<( <urn:s> <urn:p> " * 9999
        + "1"
        + ")>>" * 9999,
        "links/long_iri.nt": f"<urn:a> {SAME_AS} <urn:{'a' * 40_000}> .",
        "links/endless_line.tsv.gz": gzip.compress(b"x" * (1 << 20)) * 40,
        "links/long_cell.tsv": "source\ttarget\n" + "x" * 200_000 + "\ty\n",
        "links/long_comment.rdf": f"<?xml version='1.0'?><!--{'x' * (20 << 20)}--><a/>",
        "links/attributes_of_the_doctype.rdf": f'<!DOCTYPE r [<!ATTLIST a:x y CDATA "x">]>{RDF}/>',
        "links/nested_elements.rdf": "<?xml version='1.0'?>" + "<a>" * 9999,
        "links/bomb.tsv.zst": zstd.compress((b"a" * 9999 + b"\tb\n") * 9999),
        "links/cut_short.parquet": parquet(pa.table({"source": ["a"], "target": ["b"]}))[:-20],
        "links/lacks_target.parquet": parquet(pa.table({"source": ["a"], "goal": ["b"]})),
        "links/repeated_column.parquet": parquet(
            pa.table([["a"], ["b"], ["c"]], names=["source", "target", "source"])
        ),
        "links/too_sure.parquet": parquet(pa.table({"source": ["a"], "target": ["b"], "confidence": [7.0]})),
        "links/no_number.parquet": parquet(pa.table({"source": ["a"], "target": ["b"], "confidence": ["x"]})),
        "links/empty_source.parquet": parquet(pa.table({"source": ["a", None], "target": ["b", "c"]})),
        "links/one_text_in_every_row.parquet": parquet(
            pa.table({name: repeated("x" * 3000) for name in ("source", "target")})
        ),
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """All bad files in one folder, and two good graphs for links to be between."""
    place = tmp_path_factory.mktemp("bad")
    shutil.copytree(HERE / "bad_files", place, dirs_exist_ok=True)
    for name, content in made().items():
        (place / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (place / "folder.nt").mkdir()
    (place / "links" / "folder.tsv").mkdir()
    for side in "ab":
        cities = (
            f"<http://{side}/{city}> <http://{side}/in> <http://{side}/x> .\n" for city in ("Berlin", "Paris")
        )
        (place / f"good_{side}.nt").write_text("".join(cities))
    return place


def bad_files(place: Path) -> list[str]:
    found = {path.relative_to(place).as_posix() for part in ("*", "links/*") for path in place.glob(part)}
    return sorted(found - {"links", "good_a.nt", "good_b.nt"})


def said_of(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """What the command says of a file, and its exit code."""
    about_links = ["align", "good_a.nt", "good_b.nt", "-o", "run", "--quiet", "--seeds"]
    capsys.readouterr()
    code = run([*(about_links if name.startswith("links/") else ["inspect", "--max-errors", "0"]), name])
    shown = capsys.readouterr()
    assert shown.out == ""
    return {"exit_code": code, "message": shown.err.strip()}


def test_every_bad_file_has_its_message(place, monkeypatch, capsys):
    pytest.importorskip("openpyxl", reason="needs largeea[xlsx]")
    monkeypatch.chdir(place)
    found = {name: said_of(name, capsys) for name in bad_files(place)}
    assert not list(place.glob("run/alignment*"))
    if REFRESH:
        listed = {"made_with": VERSIONS, "files": found}
        MESSAGES.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", "utf-8")
        pytest.skip(f"wrote {MESSAGES.name} anew")
    expected = json.loads(MESSAGES.read_text("utf-8"))
    assert found.keys() == expected["files"].keys()
    if expected["made_with"] == VERSIONS:
        assert found == expected["files"]
    for name, said in found.items():
        assert said["exit_code"] == expected["files"][name]["exit_code"], name
        assert where(said) == where(expected["files"][name]), name


def where(said: dict[str, object]) -> str:
    """The place in the file that a message begins with."""
    return str(said["message"]).split(": ")[1]


def test_every_message_is_fit_to_be_read():
    files = json.loads(MESSAGES.read_text("utf-8"))["files"]
    assert len(files) >= 100
    for name, said in files.items():
        message = said["message"]
        assert said["exit_code"] in (2, 3), name
        assert message.startswith("error: "), name
        assert Path(name).name in message, name
        assert "Traceback" not in message, name
        assert "internal error" not in message, name
        assert all(character.isprintable() or character == "\n" for character in message), name
        assert len(message) < 1500, name


def test_gigabytes_in_kilobytes_take_little_memory(tmp_path):
    """One line of a gigabyte, compressed, in every format: refused within 500 MB on top of the libraries."""
    starts = {
        **{
            "a.nt.gz": b"<urn:",
            "a.nt.xz": b"<urn:",
            "a.ttl.zst": b"<urn:",
            "a.csv.zst": b'"',
            "a.rdf.gz": b"<",
        },
        **{"a.jsonld.gz": b'{"', "l.tsv.zst": b"x", "l.nt.gz": b"<", "l.rdf.zst": b"<?xml version='1.0'?><"},
        "l.sssom.tsv.gz": b"# x\n",
    }
    for name, start in starts.items():
        compress = COMPRESS[name.rpartition(".")[2]]
        (tmp_path / name).write_bytes(compress(start) + compress(b"x" * (8 << 20)) * 128)
    program = f"""
    import resource
    from pathlib import Path
    from largeea.errors import InputError
    from largeea.formats import read
    from largeea.formats.links import read_links
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in {list(starts)}:
        try:
            (read_links if name[0] == "l" else read)(Path({str(tmp_path)!r}) / name)
            print(name, "was read")
        except InputError as error:
            assert name in str(error), error
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    if grown > 500:
        print("memory", grown, "MB")
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
