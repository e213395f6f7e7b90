"""Conflicting values of functional properties, planted in small graphs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from largeea.merging import merge_run

Aligned = Callable[..., Path]
NAMES = ("anna", "bert", "cleo", "dora", "emil")
LINKS = [(f"http://s.org/{name}", f"http://t.org/{name}") for name in NAMES]


def facts(side: str, **values: list[str]) -> str:
    """N-Triples: a value of each property for the people in their order; several are separated by `|`."""
    lines = []
    for name, given in values.items():
        for person, texts in zip(NAMES, given, strict=False):
            for text in filter(None, texts.split("|")):
                value = text if text.startswith(("<", "_:")) else f'"{text.replace("@", chr(34) + "@")}'
                value += "" if "@" in text or value[0] != '"' else '"'
                lines.append(f"<http://{side}.org/{person}> <http://p/{name}> {value} .\n")
    return "".join(lines)


def conflicts(aligned: Aligned, tmp_path: Path, source: str, target: str) -> list[list[str]]:
    links = [
        pair
        for pair in LINKS
        if all(f"<{iri}>" in text for iri, text in zip(pair, (source, target), strict=True))
    ]
    run = aligned({"s.nt": source}, {"t.nt": target}, links)
    merged = merge_run(run, tmp_path / "m.nt.gz")
    place = tmp_path / "m.conflicts.tsv"
    assert place.exists() == bool(merged.conflicts)
    assert merged.conflicts_file == (place if merged.conflicts else None)
    rows = [line.split("\t") for line in place.read_text().splitlines()] if place.exists() else [[]]
    assert len(rows) == merged.conflicts + 1
    return rows[1:]


def test_different_values_of_a_functional_property(aligned: Aligned, tmp_path: Path) -> None:
    found = conflicts(
        aligned,
        tmp_path,
        facts("s", age=["31", "40", "52", "60", "7"]),
        facts("t", age=["31.0", "41", " 52", "60", "7"]),
    )
    assert found == [["http://s.org/bert", "http://p/age", "40", "41"]], "31 and 31.0 are the same number"


def test_a_property_with_several_values_has_no_conflicts(aligned: Aligned, tmp_path: Path) -> None:
    source = facts("s", tag=["red|blue", "green", "grey", "red", "blue"])
    assert conflicts(aligned, tmp_path, source, facts("t", tag=["red", "black", "grey", "red", "blue"])) == []


def test_values_in_different_languages_do_not_conflict(aligned: Aligned, tmp_path: Path) -> None:
    source = facts("s", label=["Anne@fr|Anna@en", "Bert@en"])
    target = facts("t", label=["Anna@de|Ann@en", "Bertold@de"])
    assert conflicts(aligned, tmp_path, source, target) == [
        ["http://s.org/anna", "http://p/label", "Anna", "Ann"]
    ]


def test_iris_conflict_if_a_link_tells_them_apart(aligned: Aligned, tmp_path: Path) -> None:
    boss = ["", "<http://s.org/anna>", "<http://s.org/anna>", "<http://s.org/x>", "_:b"]
    other = ["", "<http://t.org/anna>", "<http://t.org/bert>", "<http://t.org/y>", "<http://t.org/anna>"]
    found = conflicts(aligned, tmp_path, facts("s", boss=boss), facts("t", boss=other))
    wanted = ["http://s.org/cleo", "http://p/boss", "http://s.org/anna", "http://s.org/bert"]
    assert found == [wanted], "x and y may be the same, and a blank node may be anyone"


def test_nothing_is_dropped_and_an_old_list_is_removed(aligned: Aligned, tmp_path: Path) -> None:
    (tmp_path / "m.conflicts.tsv").write_text("of an earlier merge\n")
    assert conflicts(aligned, tmp_path, facts("s", age=["1"]), facts("t", age=["1"])) == []


def test_both_values_are_in_the_merged_graph(aligned: Aligned, tmp_path: Path) -> None:
    run = aligned({"s.nt": facts("s", age=["1"])}, {"t.nt": facts("t", age=["2"])}, LINKS[:1])
    merge_run(run, tmp_path / "m.nt")
    lines = (tmp_path / "m.nt").read_text().splitlines()
    assert lines == [f'<http://s.org/anna> <http://p/age> "{age}" .' for age in (1, 2)]
