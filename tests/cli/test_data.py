"""`largeea data` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from largeea.cli import run
from largeea.datasets import registry
from largeea.errors import ResourceError


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty data folder, and no network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LARGEEA_DATA", raising=False)

    def offline(*_, help, **__):
        raise ResourceError(f"cannot reach the server; is this machine offline? {help}")

    monkeypatch.setattr(registry, "download", offline)
    return tmp_path


def put_pair(folder: str) -> None:
    Path(folder).mkdir(parents=True)
    for name, text in (
        ("rel_triples_1", "a\tr\tb\n"),
        ("rel_triples_2", "x\tr\ty\n"),
        ("ent_links", "a\tx\n"),
    ):
        Path(folder, name).write_text(text)


def test_the_list_tells_what_is_here(capsys):
    put_pair("data/srprs_en_fr")
    assert run(["data", "list"]) == 0
    shown = capsys.readouterr().out
    for name in ("openea-v1.1", "openea-v2.0", "dbp15k", "srprs", "dbp1m"):
        assert name in shown
    assert shown.count("1 pair(s)") == 1


def test_the_list_for_machines(capsys, monkeypatch):
    put_pair("elsewhere/dbp15k/fr_en")
    monkeypatch.setenv("LARGEEA_DATA", "elsewhere")
    assert run(["data", "list", "--json"]) == 0
    found = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert found["dbp15k"]["here"] == ["elsewhere/dbp15k/fr_en"]
    assert found["srprs"]["here"] == []
    assert found["srprs"]["checksum"] is None
    assert found["openea-v2.0"]["bytes"] == 248_800_649


def test_info_names_source_terms_and_citation(capsys):
    assert run(["data", "info", "srprs"]) == 0
    shown = capsys.readouterr().out
    assert "https://github.com/nju-websoft/RSN" in shown
    assert "CC BY-SA" in shown
    assert "ICML 2019" in shown
    assert "checksum:  unknown; that of the first download is recorded" in shown
    assert run(["data", "info", "openea-v2.0"]) == 0
    shown = capsys.readouterr().out
    assert "248,800,649" in shown
    assert "sha256:37adcaf4a7ed33530a39b637da7329e891456bfc89557d8b1ac307c67eb8f5bc" in shown


def test_get_uses_what_is_here(capsys):
    put_pair("data/dbp1m/fr")
    assert run(["data", "get", "dbp1m"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "data/dbp1m/fr\n"
    assert "largeea bench data/dbp1m/fr" in shown.err
    assert run(["data", "get", "dbp1m", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "dbp1m", "pairs": ["data/dbp1m/fr"]}


def test_another_folder(capsys):
    put_pair("mine/dbp1m/fr")
    assert run(["data", "get", "dbp1m", "--folder", "mine"]) == 0
    assert capsys.readouterr().out == "mine/dbp1m/fr\n"


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("dbp15k", 4, "offline? By hand: fetch dbp15k.tar.gz from https://github.com/nju-websoft/JAPE"),
        (
            "dbp1m",
            4,
            "cannot be fetched by a program. By hand: fetch mkdata.zip from https://drive.google.com",
        ),
        ("wordnet", 2, "unknown data set 'wordnet'; known: openea-v1.1"),
    ],
)
def test_what_cannot_be_got_is_told(capsys, name, code, words):
    assert run(["data", "get", name]) == code
    assert words in capsys.readouterr().err.replace("\n", " ")
