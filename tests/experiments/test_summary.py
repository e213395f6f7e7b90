"""One page of all folders of results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from largeea.errors import InputError
from largeea.experiments.columns import SHARE
from largeea.experiments.summary import write_summary

DOCS = Path(__file__).resolve().parents[2] / "docs"
FORMS = {SHARE: "g", "Hits@1": ".3f", "total (s)": ",.1f", "paper Hits@1": ".3f"}


def leave(place: Path, name: str, row: dict[str, Any], *settings: str) -> Path:
    """What an experiment leaves in a folder, as far as pages need it."""
    report = {
        "command": f"largeea experiment {name}",
        "machine": "A machine.",
        "settings": list(settings),
        "rows": [row],
        "forms": {title: form for title, form in FORMS.items() if title in row},
        "failures": {},
    }
    path = place / name / "figures.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(report))
    return path


def tables(page: str) -> list[list[str]]:
    """The lines of every table, without the one below the header."""
    parts = [part.splitlines() for part in page.split("\n\n") if part.startswith("| ")]
    return [[header, *lines] for header, _, *lines in parts]


ROW = {"data set": "a", "method": "default", SHARE: 20.0, "Hits@1": 0.5, "total (s)": 1234.5}
OTHER = {"data set": "b", "method": "largeea-r", SHARE: 0.0, "Hits@1": 0.25, "paper Hits@1": 0.75}


def test_the_committed_pages_are_those_of_the_committed_figures(tmp_path: Path) -> None:
    """If this fails, write them anew: `make results`."""
    folders = tmp_path / "results"
    shutil.copytree(DOCS / "results", folders)
    page = write_summary(folders)
    assert page == tmp_path / "results.md"
    assert page.read_text() == (DOCS / "results.md").read_text()
    written = {path.relative_to(folders): path.read_text() for path in folders.rglob("README.md")}
    assert len(written) > 1
    for path, text in written.items():
        assert text == (DOCS / "results" / path).read_text(), path


def test_rows_of_several_folders_share_one_table(tmp_path: Path) -> None:
    leave(tmp_path / "results" / "one", "overall", OTHER)
    leave(tmp_path / "results" / "two", "overall", ROW)
    page = write_summary(tmp_path / "results").read_text()
    assert tables(page) == [
        [
            "| folder | data set | method | seeds (%) | Hits@1 | total (s) | paper Hits@1 |",
            "| one | b | largeea-r | 0 | 0.250 | – | 0.750 |",
            "| two | a | default | 20 | 0.500 | 1,234.5 | – |",
        ]
    ]
    for name in ("one", "two"):
        line = (
            f"- [{name}](results/{name}/README.md#overall-results): `largeea experiment overall`. A machine."
        )
        assert line in page.splitlines()
        assert "\n## Overall results\n" in (tmp_path / "results" / name / "README.md").read_text()


def test_settings_are_told_where_there_are_any(tmp_path: Path) -> None:
    leave(tmp_path / "results" / "one", "ablation", ROW)
    leave(tmp_path / "results" / "two", "ablation", ROW, "names.encoder=use-multilingual", "partition.k=5")
    (table,) = tables(write_summary(tmp_path / "results").read_text())
    assert table == [
        "| folder | data set | method | seeds (%) | settings | Hits@1 | total (s) |",
        "| one | a | default | 20 | – | 0.500 | 1,234.5 |",
        "| two | a | default | 20 | names.encoder=use-multilingual, partition.k=5 | 0.500 | 1,234.5 |",
    ]


def test_a_folder_alone_needs_no_name_and_empty_columns_no_place(tmp_path: Path) -> None:
    leave(tmp_path / "results" / "one", "overall", {**ROW, "total (s)": None})
    (tmp_path / "results" / "under way" / "cells").mkdir(parents=True)
    (table,) = tables(write_summary(tmp_path / "results").read_text())
    assert table == ["| data set | method | seeds (%) | Hits@1 |", "| a | default | 20 | 0.500 |"]


def test_sections_go_as_the_catalogue_does(tmp_path: Path) -> None:
    for name in ("memory", "overall", "batches"):
        leave(tmp_path / "results" / "one", name, ROW)
    page = write_summary(tmp_path / "results").read_text()
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    assert titles == ["## Overall results", "## Number of mini-batches", "## Memory"]


def test_quick_results_are_linked_but_not_mixed_in(tmp_path: Path) -> None:
    leave(tmp_path / "results" / "one", "overall", ROW)
    leave(tmp_path / "results" / "quick", "overall", OTHER)
    leave(tmp_path / "results" / "quick", "memory", OTHER)
    page = write_summary(tmp_path / "results").read_text()
    assert [len(table) for table in tables(page)] == [2]
    assert "largeea-r" not in page
    assert page.count("(results/quick/README.md)") == 1


def test_links_lead_somewhere() -> None:
    """Pages of folders as they are committed: without cells and without plots as PNG."""
    for page in [DOCS / "results.md", *(DOCS / "results").rglob("README.md")]:
        for link in page.read_text().split("](")[1:]:
            path, _, place = link.partition(")")[0].partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), f"{page}: {path}"
            headings = (line for line in target.read_text().splitlines() if line.startswith("## "))
            titles = {heading[3:].lower().replace(" ", "-") for heading in headings}
            assert not place or place in titles, f"{page}: #{place}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"rows": [', "is not JSON"),
        ("[]", "has no figures of an experiment"),
        ('{"rows": []}', "lacks command, failures, forms, machine, settings"),
        (None, "has no rows"),
    ],
)
def test_damaged_figures_are_named(tmp_path: Path, text: str | None, why: str) -> None:
    path = leave(tmp_path / "results" / "one", "overall", ROW)
    path.write_text(text or json.dumps({**json.loads(path.read_text()), "rows": []}))
    with pytest.raises(InputError, match=rf"one/overall/figures\.json: .*{why}.*largeea experiment overall"):
        write_summary(tmp_path / "results")


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"results: is not a folder; .*largeea experiment -o"):
        write_summary(tmp_path / "results")
