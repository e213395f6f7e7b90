"""The report of a run that searched duplicates within one graph."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from largeea.cli import run as largeea
from largeea.report.settings import command
from largeea.runs.manifest import read_manifest

PEOPLE = """id,name,born,city,phone
K1,Katherine Holford,1961-04-12,Chester,555-201-3344
K2,Kate Holford,1961-04-12,Chester,555-201-3344
K3,"Holford, Katherine",1961-04-12,Chester,555-201-3344
K4,Brian Undermore,1984-11-30,Dover,555-777-1010
K5,Brian Undermore,1984-11-30,Dover,555-777-1010
K6,Donna Whitstone,1975-02-08,Salem,555-318-4646
"""
COLUMNS = "subject=id,name=name,links=city,attributes=born+phone"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("duplicates")
    (place / "people.csv").write_text(PEOPLE)
    columns = ["--columns", COLUMNS]
    assert largeea(["-q", "dedupe", str(place / "people.csv"), "-o", str(place / "run"), *columns]) == 0
    return place


def test_pairs_were_counted_as_entities_of_a_second_graph(folder: Path) -> None:
    html = (folder / "run" / "report.html").read_text("utf-8")
    text = " ".join(re.sub(r"<[^>]+>", "", html).split())
    matched, alone = (
        len((folder / "run" / name).read_text().splitlines()) - 1
        for name in ("clusters.tsv", "unmatched.tsv")
    )
    assert min(matched, alone) > 1
    assert f"Of 9 entities of people.csv, {matched} have a duplicate" in text, "six people, three cities"
    assert f"{alone} entities have none." in text
    assert "target graph" not in text
    assert "people.csv and people.csv" not in text


def test_the_command_was_that_of_an_alignment_and_lacked_columns(folder: Path) -> None:
    again = command(read_manifest(folder / "run"), "again")
    assert again is not None
    assert shlex.split(again)[:2] == ["largeea", "dedupe"]
    assert "--same-iri" not in again
    assert again.endswith(f"--columns {COLUMNS}")


def test_the_command_of_an_update() -> None:
    request = {"source": "new.nt", "target": "b.nt", "earlier": "run", "reading": {}, "formats": ["sssom"]}
    assert command({"request": request}, "again") == (
        "largeea update run --source=new.nt --target=b.nt -o again"
    )
