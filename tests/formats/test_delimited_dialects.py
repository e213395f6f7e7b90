"""Separators, quotes, byte-order marks and encodings of delimited text."""

from __future__ import annotations

import logging

import pytest

from largeea.errors import InputError
from largeea.formats import ReadOptions, read_graph
from largeea.formats.columns import Columns
from largeea.formats.dialect import MAX_COLUMNS, find_dialect

ROWS = [["id", "name", "founded"], ["C1", "Siemens", "1847"], ["C2", "Bayer", "1863"], ["C3", "BMW", "1916"]]
NAMES = ["Siemens", "Bayer", "BMW"]


def text(separator: str, quote: str = "") -> str:
    return "".join(separator.join(f"{quote}{cell}{quote}" for cell in row) + "\n" for row in ROWS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_every_separator_quote_and_encoding(tmp_path, separator, quote, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(text(separator, quote).encode(encoding))
    assert find_dialect(path, "csv").separator == separator
    assert read_graph(path).names.to_pylist() == NAMES


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_text_files_may_have_any_separator(tmp_path, separator):
    path = tmp_path / "a.txt"
    path.write_text(text(separator))
    assert read_graph(path).names.to_pylist() == NAMES


SPLIT = {
    "decimal commas": ("id;name;size\n1;Ann Lee;2,5\n2;Bob Ray;3,5\n", ";"),
    "commas in every row": ("1;Lee, Ann;2,5\n2;Ray, Bob;3,5\n", ";"),
    "semicolons in quotes": ('id,name\n1,"a;b;c"\n2,"d;e;f"\n', ","),
    "bars in titles": ("id,name,x\n1,a|b,3\n2,c|d,4\n", ","),
    "a list in one column": ("id,tags\n1,a;b\n2,c;d;e\n", ","),
}


@pytest.mark.parametrize("case", SPLIT)
def test_the_separator_is_the_one_that_divides_all_rows_alike(tmp_path, case):
    content, separator = SPLIT[case]
    path = tmp_path / "a.csv"
    path.write_text(content)
    assert find_dialect(path, "csv").separator == separator


def test_tabs_go_first_in_tsv(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("a,b,c,d\tp,q,r,s\nb,c,d,e\tp,q,r,s\n")
    assert find_dialect(path, "tsv").separator == "\t"


def test_a_quoted_header_may_have_line_breaks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('\n"id";"full\nname";"year"\n7;"Lee;\nAnn";1999\n8;Bob Ray;2000\n')
    dialect = find_dialect(path, "csv")
    assert (dialect.first, dialect.line, dialect.last_line) == (["id", "full\nname", "year"], 2, 3)
    assert read_graph(path).names.to_pylist() == ["Lee;\nAnn", "Bob Ray"]


def test_another_separator_and_the_guess_are_noted(tmp_path, caplog):
    path = tmp_path / "a.csv"
    path.write_text(text(";"))
    with caplog.at_level(logging.INFO, "largeea"):
        read_graph(path)
    assert [record.message for record in caplog.records] == [
        f"{path}: cells are separated by semicolons",
        f"{path}: columns are read as --columns subject=id,name=name,attributes=founded",
    ]


def test_rows_of_another_width_are_named_with_their_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n" + text(";") + "C4;Linde\n")
    with pytest.raises(InputError, match=r"a\.csv:6: 2 column\(s\) where 3 are needed"):
        read_graph(path, ReadOptions(max_errors=0))


def test_too_many_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",".join(f"c{i}" for i in range(MAX_COLUMNS + 1)))
    with pytest.raises(InputError, match="4097 columns in the first row; 4096 are allowed"):
        read_graph(path)


def test_a_header_with_signs_can_be_given_by_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,name,"size, m"\nx,Ann Lee,5\n')
    graph = read_graph(path, ReadOptions(columns=Columns.parse("subject=id,name=name,attributes=3")))
    assert "size, m" in graph.attributes.predicates.to_pylist()
