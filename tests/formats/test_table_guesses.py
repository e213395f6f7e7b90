"""Small tables and what their columns are: guessed right, or asked for. Nothing is silently wrong."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from largeea.errors import InputError
from largeea.formats import ReadOptions, read_graph
from largeea.formats.columns import Columns
from largeea.formats.header import is_header, words_of
from largeea.formats.tables import guess_table

COMPANIES = "id,name,city,founded\nC1,Siemens,Munich,1847\nC2,Bayer,Leverkusen,1863\nC3,BMW,Munich,1916\n"


@pytest.fixture
def guess(tmp_path):
    def make(text: str, suffix: str = "csv"):
        path = tmp_path / f"table.{suffix}"
        path.write_text(text)
        return guess_table(path, suffix)

    return make


RIGHT = {
    "companies": (COMPANIES, "subject=id,name=name,attributes=city+founded"),
    "semicolons, quoted headers, years": (
        '"Nr";"Bezeichnung";"Ort";"Jahr"\n17;"Siemens; AG";Berlin;1847\n23;Bayer AG;Köln;1863\n',
        "subject=Nr,name=Bezeichnung,attributes=Ort+Jahr",
    ),
    "vertical bars": (
        "id|name|year\n7|Ann Lee|1999\n8|Bob Ray|2000\n",
        "subject=id,name=name,attributes=year",
    ),
    "camel case": (
        "companyId,companyName,foundedYear\nA1,Siemens,1847\nA2,Bayer,1863\n",
        "subject=companyId,name=companyName,attributes=foundedYear",
    ),
    "no header": (
        "Q1,Siemens,Munich,1847\nQ2,Bayer,Leverkusen,1863\nQ3,BMW,Munich,1916\n",
        "subject=1,name=2,attributes=3+4",
    ),
    "a table of three columns without header is not triples": (
        "Q1,Siemens,1847\nQ2,Bayer,1863\nQ3,BMW,1916\n",
        "subject=1,name=2,attributes=3",
    ),
    "the id is the name": (
        "country,capital,continent\nFrance,Paris,Europe\nPeru,Lima,America\nSpain,Madrid,Europe\n",
        "subject=country,name=country,attributes=capital+continent",
    ),
    "a list of names": ("name\nSiemens\nBayer\n", "subject=name,name=name"),
    "the year comes first": (
        "year,event\n1969,Moon landing\n1989,Fall of the wall\n",
        "subject=event,name=event,attributes=year",
    ),
    "parents": (
        "id,label,parent\na1,Animals,\na2,Birds,a1\na3,Owls,a2\n",
        "subject=id,name=label,links=parent",
    ),
    "parents by integers": (
        "id,name,rating,parent_id\n1,Animals,2,\n2,Birds,1,1\n3,Owls,3,2\n",
        "subject=id,name=name,links=parent_id,attributes=rating",
    ),
    "integers that are ids of rows, whatever the header": (
        "id,name,above\n1007,Ann Lee,\n2311,Bob Ray,1007\n4999,Cid Orr,2311\n5001,Dan Poe,4999\n",
        "subject=id,name=name,links=above",
    ),
    "the index of a data frame": (
        ",id,name,age\n0,a,Ann Lee,33\n1,b,Bob Ray,41\n",
        "subject=id,name=name,attributes=age",
    ),
    "years as headers": (
        "id,name,2019,2020\nx1,Ann Lee,5,6\nx2,Bob Ray,7,8\n",
        "subject=id,name=name,attributes=2019+2020",
    ),
    "IRIs": (
        "uri,label,type,homepage\n"
        "http://a/1,Ann Lee,http://t/P,http://ann.org\n"
        "http://a/2,Bob Ray,http://t/P,http://bob.org\n",
        "subject=uri,name=label,links=type,attributes=homepage",
    ),
    "homepages are values": (
        "id,name,homepage\nx1,Ann Lee,http://ann.org\nx2,Bob Ray,http://bob.org\n",
        "subject=id,name=name,attributes=homepage",
    ),
    "languages and aliases": (
        "id,name_en,name_de,alias\nx1,Munich,München,Monaco\nx2,Cologne,Köln,\n",
        "subject=id,name=name_en,aliases=name_de+alias",
    ),
    "titles of persons are not names": (
        "id,title,name\n" + "".join(f"p{i},{'Dr.' if i % 2 else 'Prof.'},Person {i} X\n" for i in range(12)),
        "subject=id,name=name,attributes=title",
    ),
    "an empty column": (
        "id,name,note\nx1,Ann Lee,\nx2,Bob Ray,\n",
        "subject=id,name=name",
    ),
    "headers with signs are named by number": (
        '"id","name","size, m","a+b"\nx1,Ann Lee,3,4\nx2,Bob Ray,5,6\n',
        "subject=id,name=name,attributes=3+4",
    ),
}


@pytest.mark.parametrize("case", RIGHT)
def test_right_guesses(guess, tmp_path, case):
    text, columns = RIGHT[case]
    found = guess(text)
    assert (found.columns.to_text(), found.doubts) == (columns, ())
    read = read_graph(tmp_path / "table.csv")
    given = read_graph(tmp_path / "table.csv", ReadOptions(columns=Columns.parse(columns)))
    assert read.names.equals(given.names)
    assert read.triples.tolist() == given.triples.tolist()
    assert read.attributes.values.equals(given.attributes.values)


TRIPLES = {
    "plain": "a,p,b\nb,p,c\n",
    "integers": "0\t1\t2\n2\t1\t3\n5\t0\t0\n",
    "IRIs": "http://a/x\thttp://p/q\thttp://a/y\nhttp://a/z\thttp://p/r\thttp://a/w\n",
    "a chain": "a,p,b\nb,q,c\nc,r,d\n",
    "the words of a header inside": "Paris,type,city\nParis,country,France\nRome,type,city\n",
}


@pytest.mark.parametrize("case", TRIPLES)
def test_triples_stay_triples(guess, tmp_path, case):
    found = guess(TRIPLES[case])
    assert (found.columns, found.doubts) == (Columns(), ())
    assert len(read_graph(tmp_path / "table.csv").triples) == TRIPLES[case].count("\n")


ASKED = {
    "header or data": ("firm,seat\nSiemens,Munich\nBayer,Leverkusen\n", "--columns subject=firm,name=firm"),
    "one column": ("Siemens\nBayer\nBMW\n", "the first row may be data, or a header"),
    "three columns of text": (
        "Siemens,Berlin,Germany\nNestle,Vevey,Switzerland\nPhilips,Eindhoven,Netherlands\n",
        "the first row may be data, or a header",
    ),
    "only ids": ("id\nC1\nC2\n", "there are only ids"),
    "repeated ids": ("id,name\nC1,Siemens\nC1,Bayer\n", "'id' has 1 values in 2 rows"),
    "nothing is different": ("city,year\nRome,1\nRome,2\nRome,2\n", "no id is in every row"),
    "two ids": (
        "city,tax_id,trade_id\nRome,t1,q1\nRome,t2,q2\n",
        "'tax_id', 'trade_id' could each be the id",
    ),
    "two names": (
        "id,owner,tenant\nx1,Ann Lee,Cid Orr\nx2,Bob Ray,Dan Poe\n",
        "'owner', 'tenant' could each be the name",
    ),
    "parts of names": (
        "id,first_name,last_name\nx1,Ann,Lee\nx2,Bob,Ray\n",
        "'first_name', 'last_name' hold parts of names",
    ),
    "duplicate headers": (
        "id,name,name\nx1,Ann Lee,A\nx2,Bob Ray,B\n",
        "several columns have the header 'name'",
    ),
    "a number that may be a link": (
        "nr,name,house_nr\n1,Ann Lee,2\n2,Bob Ray,1\n",
        "'house_nr' may hold ids",
    ),
    "parents that are not there": ("id;parent\n1;7\n2;8\n", "'parent' should hold ids of other rows"),
    "edges": ("source,target\nx1,x2\nx2,x3\n", "may be links between rows, but have no relation"),
}


@pytest.mark.parametrize("case", ASKED)
def test_unclear_columns_are_asked_for(guess, tmp_path, case):
    text, message = ASKED[case]
    found = guess(text)
    with pytest.raises(InputError, match="it is not clear what the columns are") as caught:
        read_graph(tmp_path / "table.csv")
    assert message in str(caught.value)
    option = found.columns.to_text()
    assert f"--columns {option}, otherwise" in str(caught.value)
    given = read_graph(tmp_path / "table.csv", ReadOptions(columns=Columns.parse(option)))
    assert given.size > 0  # the option can be given as it is


def test_a_header_is_not_data_if_columns_are_given_by_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(COMPANIES)
    graph = read_graph(path, ReadOptions(columns=Columns.parse("subject=1,name=2,attributes=4")))
    assert graph.names.to_pylist() == ["Siemens", "Bayer", "BMW"]
    assert graph.attributes.predicates.to_pylist()[-1] == "http://www.w3.org/2000/01/rdf-schema#label"
    assert "founded" in graph.attributes.predicates.to_pylist()


def test_every_role_makes_its_statements(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,name,alias,parent,owner,year\n1,Ann,A,,x,1999\n2,Bob,B,1,y,\n")
    columns = Columns.parse("subject=id,name=name,aliases=alias,links=parent+owner,attributes=year")
    assert Columns.parse(columns.to_text()) == columns
    graph = read_graph(path, ReadOptions(columns=columns))
    words = graph.entities.to_pylist(), graph.relations.to_pylist()
    assert [(words[0][h], words[1][r], words[0][t]) for h, r, t in graph.triples.tolist()] == [
        ("1", "owner", "x"),
        ("2", "owner", "y"),
        ("2", "parent", "1"),
    ]
    predicates = graph.attributes.predicates.to_pylist()
    assert "http://www.w3.org/2004/02/skos/core#altLabel" in predicates
    assert len(graph.attributes) == 5
    assert graph.counts.scanned == 10
    assert graph.counts.skipped == 2


def test_white_space_around_cells_does_not_count(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id, name, parent\nC1, Siemens, \nC2 , Bayer, C1\nC3, BMW, C1\n")
    graph = read_graph(path)
    assert graph.entities.to_pylist() == ["C1", "C2", "C3"]
    assert graph.names.to_pylist() == ["Siemens", "Bayer", "BMW"]
    assert graph.triples.tolist() == [[1, 0, 0], [2, 0, 0]]


def test_each_side_has_its_own_columns():
    ours, theirs, both = (Columns.parse(f"subject={name}") for name in ("a", "b", "c"))
    options = ReadOptions(columns=both, source_columns=ours)
    assert options.for_side("source").columns == ours
    assert options.for_side("target").columns == both
    assert ReadOptions(target_columns=theirs).for_side("target").columns == theirs


def test_parquet_lists_are_left_out(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["x1", "x2"], "name": ["Ann Lee", "Bob"], "tags": [["a"], []]}), path)
    found = guess_table(path, "parquet")
    assert found.columns.to_text() == "subject=id,name=name"
    assert found.roles[2] == ("tags", "ignored", "no values, or lists")
    assert read_graph(path).names.to_pylist() == ["Ann Lee", "Bob"]


@pytest.mark.parametrize(
    ("first", "rows", "header"),
    [
        (["id", "name"], [["1", "x"]], True),
        (["1", "x"], [["2", "y"]], False),
        (["alpha", "beta"], [["3", "4"]], True),
        (["alpha", "beta"], [["gamma", "delta"]], None),
        (["alpha", "beta"], [["alpha", "delta"]], False),
        (["1999", "beta"], [["2000", "delta"]], False),
        (["", "id", "name"], [["0", "x1", "y"]], True),
        (["7", "", "", "beta"], [["8", "", "", "delta"]], False),
        (["id", "", "", "name"], [["x", "", "", "delta"]], None),
    ],
)
def test_headers(first, rows, header):
    assert is_header(first, rows) is header


def test_words_of_a_header():
    assert words_of("companyId") == words_of("company_id") == words_of(" Company  ID ") == ("company", "id")
