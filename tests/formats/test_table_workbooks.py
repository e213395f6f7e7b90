"""Excel workbooks: the same rows as in CSV, a sheet by name, and errors that say what to do."""

from __future__ import annotations

import datetime
import gzip
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from largeea.errors import InputError, UsageError
from largeea.formats import ReadOptions, dialect, read_graph
from largeea.formats.columns import Columns
from largeea.formats.rejects import Rejects
from largeea.formats.tables import guess_table

openpyxl = pytest.importorskip("openpyxl", reason="needs largeea[xlsx]")
xlsx_program = pytest.importorskip("largeea.formats.xlsx_program")
MOST_MB = 600
SOUND = Path(__file__).parent / "sound_files" / "records.xlsx"


@pytest.fixture
def workbook(tmp_path):
    def make(*rows: tuple[object, ...], **sheets: list[tuple[object, ...]]) -> Path:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        for title, content in sheets.items():
            sheet = book.create_sheet(title)
            for row in content:
                sheet.append(row)
        book.save(tmp_path / "a.xlsx")
        return tmp_path / "a.xlsx"

    return make


def test_a_workbook_is_a_table():
    guess = guess_table(SOUND, "xlsx")
    assert guess.columns.to_text() == "subject=id,name=name,links=parent,attributes=city+founded"
    graph = read_graph(SOUND)
    assert graph.names.to_pylist() == ["Siemens", "Bayer AG", "BASF", "BMW"]
    assert graph.triples.tolist() == [[2, 0, 0], [3, 0, 0]]
    assert {"1847", "1865-04-06", "1916"} <= set(graph.attributes.values.to_pylist())


def test_cells_of_every_kind(workbook):
    path = workbook(
        (None, None),
        ("id", "name", "value"),
        ("x1", "Ann", 2.5),
        ("x2", "Bob", 3.0),
        ("x3", "Cid", True),
        ("x4", "Dan", datetime.datetime(2001, 2, 3, 4, 5)),
        ("x5", "Eve", "#N/A"),
        ("x6", "Fay", "=1+1"),
        ("x7", "Gus", "#DIV/0!"),
        ("x8", "Hal", "#N/A, as they said"),
    )
    graph = read_graph(path, ReadOptions(columns=Columns.parse("subject=id,name=name,attributes=value")))
    assert set(graph.attributes.values.to_pylist()) >= {"2.5", "3", "true", "2001-02-03 04:05:00"}
    assert not {"#N/A", "#DIV/0!"} & set(graph.attributes.values.to_pylist())
    assert "#N/A, as they said" in graph.attributes.values.to_pylist()
    assert graph.counts.skipped == 3  # the errors and the formula that no program has computed


def test_a_sheet_by_name(workbook):
    path = workbook(
        ("id", "name"), ("x1", "Ann Lee"), Staff=[("id", "name"), ("y1", "Bob Ray"), ("y2", "Cid")]
    )
    assert read_graph(path).names.to_pylist() == ["Ann Lee"]
    assert read_graph(path, ReadOptions(sheet="Staff")).names.to_pylist() == ["Bob Ray", "Cid"]
    with pytest.raises(UsageError, match="has no sheet 'Stuff'; it has Sheet, Staff"):
        read_graph(path, ReadOptions(sheet="Stuff"))


def test_rows_that_are_too_wide_are_rejected_with_their_number(workbook):
    path = workbook(("id", "name"), ("x1", "Ann Lee"), (), ("x2", "Bob Ray", "more"), ("x3",))
    rejects = Rejects(1)
    graph = read_graph(path, ReadOptions(), rejects)
    assert [(one.line, one.reason) for one in rejects.lines] == [(4, "3 column(s) where 2 are needed")]
    assert graph.entities.to_pylist() == ["x1", "x3"]
    assert graph.names.to_pylist() == ["Ann Lee", None]
    assert graph.counts.rejected == 1


def test_more_rows_than_a_workbook_can_have_are_refused(monkeypatch):
    class Sheet:
        def iter_rows(self, values_only: bool):
            return iter([("a",), (None,), ("b",)])

    assert list(xlsx_program.rows_of(Sheet())) == [(1, ["a"]), (3, ["b"])]
    monkeypatch.setattr(xlsx_program, "MAX_ROWS", 2)
    with pytest.raises(xlsx_program.Refused):
        list(xlsx_program.rows_of(Sheet()))


def test_what_is_no_workbook(tmp_path, workbook):
    with pytest.raises(InputError, match="holds no rows"):
        read_graph(workbook())
    packed = tmp_path / "b.xlsx.gz"
    packed.write_bytes(gzip.compress(SOUND.read_bytes()))
    with pytest.raises(InputError, match="is a compressed workbook; decompress it"):
        read_graph(packed)
    damaged = bytearray(SOUND.read_bytes())
    damaged[len(damaged) // 3] ^= 255
    (tmp_path / "c.xlsx").write_bytes(damaged)
    with pytest.raises(InputError, match=r"c\.xlsx: is not a readable Excel workbook"):
        read_graph(tmp_path / "c.xlsx")


def edited(name: str, edit: Callable[[dict[str, bytes]], None], folder: Path) -> Path:
    """A sound workbook whose parts were edited."""
    with zipfile.ZipFile(SOUND) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    edit(parts)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return folder / name


def memory_of_reading(path: Path) -> int:
    """MB that the reader's child process takes for a file, read by a process without other children."""
    program = """
import resource, sys
from largeea.errors import InputError
from largeea.formats import read_graph
try:
    read_graph(sys.argv[1])
except InputError:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_styles_of_a_small_workbook_took_gigabytes(tmp_path):
    def many_styles(parts: dict[str, bytes]) -> None:
        start = parts["xl/styles.xml"].index(b">", parts["xl/styles.xml"].index(b"<cellXfs")) + 1
        whole = parts["xl/styles.xml"]
        parts["xl/styles.xml"] = whole[:start] + b"<xf/>" * 5_000_000 + whole[start:]

    path = edited("styles.xlsx", many_styles, tmp_path)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="like a decompression bomb"):
        read_graph(path)
    assert memory_of_reading(path) < MOST_MB


def test_a_document_type_hid_in_a_part_with_another_ending(tmp_path):
    def renamed(parts: dict[str, bytes]) -> None:
        content = parts.pop("xl/worksheets/sheet1.xml")
        parts["xl/worksheets/sheet1.XML"] = b"<!DOCTYPE x []>" + content.partition(b"?>")[2]
        for part in ("[Content_Types].xml", "xl/_rels/workbook.xml.rels"):
            parts[part] = parts[part].replace(b"sheet1.xml", b"sheet1.XML")

    with pytest.raises(InputError, match=r"sheet1\.XML in it has a document type"):
        read_graph(edited("doctype.xlsx", renamed, tmp_path))


def test_tables_of_all_formats_may_have_as_many_columns():
    assert xlsx_program.MAX_COLUMNS == dialect.MAX_COLUMNS


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UsageError, match=r"records\.xlsx, an Excel .* pip install 'largeea\[xlsx\]'"):
        read_graph(SOUND)
