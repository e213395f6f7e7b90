"""`largeea build-dbp1m` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import largeea
from largeea.cli import run
from largeea.cli.build_dbp1m import SEVERAL_VALUES
from largeea.cli.several_values import repeated

SAME_AS = "<http://www.w3.org/2002/07/owl#sameAs>"
TEAM = "<http://dbpedia.org/ontology/team>"


def english(title: str) -> str:
    return f"<http://dbpedia.org/resource/{title}>"


def french(title: str) -> str:
    return f"<http://fr.dbpedia.org/resource/{title}>"


@pytest.fixture(autouse=True)
def dumps(tmp_path, monkeypatch):
    """Seven linked towns, and on each side a hub without a link that all of them know."""
    monkeypatch.chdir(tmp_path)
    towns = ["Paris", "Rome", "Oslo", "Lima", "Riga", "Bern", "Baku"]
    for folder, at in (("en", english), ("fr", french)):
        Path(folder).mkdir()
        facts = [f"{at(town)} {TEAM} {at(f'Hub_{folder}')} ." for town in towns]
        Path(folder, "objects.nt").write_text("\n".join(["# started", *facts, "# completed", ""]))
    links = [f"{english(town)} {SAME_AS} {french(town)} ." for town in towns]
    Path("en", "links.ttl").write_text("\n".join([*links, "no statement", ""]))


COMMAND = [
    *("build-dbp1m", "--source-dumps", "en/objects.nt", "en/links.ttl"),
    *("--target-dumps", "fr", "--languages", "en", "fr", "-o", "out"),
]


def test_it_builds_tells_and_can_be_read(capsys):
    assert run(COMMAND) == 0
    shown = capsys.readouterr()
    assert "in benchmark" in shown.out
    assert "out/dbp1m" in shown.out
    assert "1 malformed line(s) or statement(s) were left out" in shown.err
    assert "All are listed in out/rejects.tsv" in shown.err
    typed = (
        "largeea build-dbp1m --source-dumps en/objects.nt en/links.ttl --target-dumps fr --languages en fr"
    )
    assert f"    {typed} --output out\n" in Path("out/README.md").read_text()
    pair = largeea.read("out/dbp1m")
    assert (pair.source.size, pair.target.size, len(pair.links)) == (8, 8, 7)
    assert run(["align", "out/openea", "-o", "run"]) == 0


def test_the_card_holds_the_command_and_json_is_the_card(capsys):
    assert run([*COMMAND, "--links", "6", "--layout", "openea", "dbp1m", "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card == json.loads(Path("out/card.json").read_text())
    assert card["command"] == (
        "largeea build-dbp1m --source-dumps en/objects.nt en/links.ttl --target-dumps fr --languages en fr "
        "--output out --links 6 --layout openea dbp1m --json"
    )
    assert card["links"]["in_benchmark"] == 6
    assert card["source"]["unknown"] == 1
    words = card["command"].split()
    assert run([*words[1:], "-q"]) == 0, "the command can be run again as it stands"
    assert json.loads(capsys.readouterr().out) == card


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (["--languages", "en", "xx"], 3, "hold no triple between two resources of 'xx'"),
        (["--languages", "en", "en"], 2, "'en' twice"),
        (["--layout", "csv"], 2, "unknown layout 'csv'; known: dbp1m, openea"),
        (["--source-dumps", "absent.nt"], 3, "no such file"),
        (["--max-errors", "0"], 3, "en/links.ttl:8: "),
        (["--memory", "1"], 4, "--memory allows 1"),
    ],
)
def test_what_is_wrong_is_told(capsys, change, code, words):
    assert run([*COMMAND, *change]) == code
    assert words in capsys.readouterr().err
    assert not Path("out/card.json").exists()


def test_dumps_may_be_listed_or_repeated():
    given = ["--source-dumps", "a", "b", "--links", "5", "--source-dumps", "c", "--target-dumps", "d", "e"]
    assert list(repeated(given, SEVERAL_VALUES)) == [
        *("--source-dumps", "a", "--source-dumps", "b", "--links", "5", "--source-dumps", "c"),
        *("--target-dumps", "d", "--target-dumps", "e"),
    ]
