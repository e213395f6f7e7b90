"""Tables in memory as graphs, and alignments as tables of other tools."""

from __future__ import annotations

import datetime
import subprocess
import sys

import pyarrow as pa
import pytest

import largeea
from largeea.errors import InputError, LargeEAWarning, UsageError
from largeea.formats.frames import graph_of_table, is_table

PEOPLE = {
    "id": ["p1", "p2", "p3"],
    "name": ["Ann Lee", "Bob Ray", "Cid Orr"],
    "age": [33, None, 41],
    "boss": [None, "p1", "p1"],
    "born": [datetime.datetime(1990, 1, 2), datetime.datetime(1980, 3, 4), None],
}


class Interchange:
    """A table that knows only the data frame interchange protocol."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __dataframe__(self, **how: object) -> object:
        return self.table.__dataframe__(**how)


def tables() -> dict[str, object]:
    arrow = pa.table(PEOPLE)
    return {"dict": PEOPLE, "arrow": arrow, "batch": arrow.to_batches()[0], "stream": arrow.to_reader()}


@pytest.mark.parametrize("kind", ["dict", "arrow", "batch", "stream", "pandas", "index", "polars", "duckdb"])
def test_any_table_is_a_graph(kind):
    if kind in ("pandas", "index"):
        frame = pytest.importorskip("pandas").DataFrame(PEOPLE)
        table = frame if kind == "pandas" else frame.set_index("id")
    elif kind == "polars":
        table = pytest.importorskip("polars").DataFrame(PEOPLE)
    elif kind == "duckdb":
        table = pytest.importorskip("duckdb").from_arrow(pa.table(PEOPLE))
    else:
        table = tables()[kind]
    assert is_table(table)
    graph = graph_of_table(table)
    assert graph.entities.to_pylist() == PEOPLE["id"]
    assert graph.names.to_pylist() == PEOPLE["name"]
    assert graph.relations.to_pylist() == ["boss"]
    assert graph.triples.tolist() == [[1, 0, 0], [2, 0, 0]]
    assert set(graph.attributes.values.to_pylist()) == {
        *PEOPLE["name"],
        "33",
        "41",
        "1990-01-02",
        "1980-03-04",
    }


def test_the_interchange_protocol():
    graph = graph_of_table(Interchange(pa.table({"id": ["p1", "p2"], "name": ["Ann Lee", "Bob Ray"]})))
    assert graph.names.to_pylist() == ["Ann Lee", "Bob Ray"]


def test_columns_can_be_given():
    graph = graph_of_table({"a": [1, 2], "b": ["x", "y"]}, "subject=a,attributes=b")
    assert graph.names.to_pylist() == [None, None]
    assert graph.attributes.predicates.to_pylist() == ["b"]


def test_bad_tables_are_named():
    with pytest.raises(
        TypeError, match="source must be a data frame, an Arrow table or a dict of columns, not int"
    ):
        graph_of_table(7, name="source")
    with pytest.raises(InputError, match=r"source: cannot be read as a table: .*length"):
        graph_of_table({"id": [1, 2], "x": [1]}, name="source")
    with pytest.raises(InputError, match="source: it is not clear what the columns are"):
        graph_of_table({"firm": ["a b", "a b"], "seat": ["c", "c"]}, name="source")
    with pytest.raises(InputError, match="source: holds a header but no rows"):
        graph_of_table({"id": [], "name": []}, name="source")
    with pytest.raises(UsageError, match="must say which column is the subject"):
        graph_of_table(PEOPLE, "name=name")
    with pytest.warns(LargeEAWarning, match="1 malformed"):
        graph = graph_of_table({"id": ["x", None], "name": ["Ann Lee", "Bob"]}, "subject=id,name=name")
    assert graph.counts.rejected == 1


def test_data_frame_packages_are_not_imported_for_nothing():
    program = (
        "import sys; from largeea.formats.frames import graph_of_table; graph_of_table({'id': ['x1'], "
        "'name': ['Ann Lee']}); print([p for p in ('polars', 'duckdb', 'openpyxl') if p in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("given", [7, None, {}, {"a": 1}, {"a": "text"}, "a.csv", [["id"]]])
def test_what_is_no_table(given):
    assert not is_table(given)


def test_tables_can_be_aligned():
    alignment = largeea.align(PEOPLE, pa.table(PEOPLE))
    assert alignment.pairs.tolist() == [[0, 0], [1, 1], [2, 2]]
    with pytest.raises(TypeError, match="source must be a KnowledgeGraph, a path or a table, not int"):
        largeea.align(7, PEOPLE)  # type: ignore[arg-type]


# Alignments in other tools


@pytest.fixture(scope="module")
def alignment() -> largeea.Alignment:
    people = graph_of_table(PEOPLE)
    return largeea.align(people, people)


def test_pandas(alignment):
    pytest.importorskip("pandas")
    frame = alignment.to_pandas()
    assert list(frame.columns) == alignment.to_table().column_names
    assert frame["source"].tolist() == alignment.to_table()["source"].to_pylist()


def test_polars(alignment):
    pytest.importorskip("polars")
    assert alignment.to_polars().to_arrow()["target_name"].to_pylist() == PEOPLE["name"]


def test_duckdb(alignment):
    duckdb = pytest.importorskip("duckdb")
    assert alignment.to_duckdb().filter("confidence > 0").fetchall()
    with duckdb.connect() as connection:
        assert alignment.to_duckdb(connection).count("*").fetchall() == [(3,)]


@pytest.mark.parametrize("package", ["pandas", "polars", "duckdb"])
def test_missing_packages_are_named(alignment, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=f"to_{package} needs .* not installed: pip install {package}"):
        getattr(alignment, f"to_{package}")()
