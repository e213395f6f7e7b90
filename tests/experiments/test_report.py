"""Experiments from end to end, on pairs that take no time."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from largeea.errors import UsageError
from largeea.experiments import cells
from largeea.experiments.catalogue import EXPERIMENTS
from largeea.experiments.datasets import twin
from largeea.experiments.report import carry_out
from largeea.experiments.scope import QUICK_SETTINGS, Scope, make_scope
from largeea.experiments.tables import printed

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.filterwarnings("ignore::largeea.errors.LargeEAWarning")
"""A model trained for one epoch on so small a pair finds little, and says so."""
SMALL = twin(150)
SCOPE = Scope(
    datasets=(SMALL,),
    batched=(SMALL,),
    settings=("structure.epochs=1", "structure.dimension=8", "names.encoder=ngram", "evidence.rounds=1"),
    directions=(False,),
    sizes=(100, 200),
    shares=(0.2, 0.4),
    batches=(2, 3),
    overlaps=(1, 2),
    splits=2,
    presets=("default", "largeea-g"),
    dissected=("largeea-g",),
)


def carried_out(name: str, folder: Path, *presets: str) -> dict[str, Any]:
    scope = replace(SCOPE, presets=presets) if presets else SCOPE
    return carry_out(EXPERIMENTS[name], scope, folder, f"largeea experiment {name}")


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many cells have been measured so far."""
    done = []
    real = cells.Store._measured

    def spy(self: cells.Store, cell: cells.Cell) -> Any:
        done.append(cell)
        return real(self, cell)

    monkeypatch.setattr(cells.Store, "_measured", spy)
    return lambda: len(done)


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "memory"])
def test_an_experiment_leaves_its_files(name: str, tmp_path: Path, count: Callable[[], int]) -> None:
    report = carried_out(name, tmp_path)
    expect_files(name, tmp_path, report)
    done = count()
    assert done == len(set(report["cells"])) > 1
    assert carried_out(name, tmp_path) == report
    assert count() == done + len(report["failures"]), "nothing that was measured is measured again"


def test_memory_is_measured_in_other_processes(tmp_path: Path) -> None:
    report = carried_out("memory", tmp_path, "default")
    expect_files("memory", tmp_path, report)
    (row,) = report["rows"]
    assert 50 < row["data (MB)"] <= row["name channel (MB)"] < 5000


def expect_files(name: str, folder: Path, report: dict[str, Any]) -> None:
    place = folder / name
    assert json.loads((place / "figures.json").read_text()) == report
    with (place / "table.csv").open() as file:
        read = list(csv.DictReader(file))
    assert read == [
        {title: "" if value is None else str(value) for title, value in row.items()} for row in report["rows"]
    ]
    shown = (place / "README.md").read_text()
    for row in report["rows"]:
        cells = (printed(value, report["forms"].get(title, "")) for title, value in row.items())
        line = f"| {' | '.join(cells)} |"
        assert line in shown
        assert line in (folder / "README.md").read_text()
    assert (place / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(place / "plot.svg").getroot().tag.endswith("svg")
    assert f"]({name}/plot.svg)" in (folder / "README.md").read_text()
    assert not (folder / "work").exists()
    for key in report["cells"]:
        assert (folder / "cells" / f"{key}.json").is_file() or report["failures"]


def test_figures_are_those_of_the_cells(tmp_path: Path) -> None:
    report = carried_out("batches", tmp_path)
    for key, row in zip(report["cells"], report["rows"], strict=True):
        figures = json.loads((tmp_path / "cells" / f"{key}.json").read_text())
        assert row["Hits@1"] == figures["protocols"]["paper"]["hits@1"]
        cut = figures["partition"]["r_ec"]
        assert row["edge cut R_ec"] == (cut["source"] + cut["target"]) / 2
        assert row["mini-batches K"] == figures["partition"]["k"]
        assert {"batches", "structure"} <= set(figures["seconds"])


def test_a_killed_experiment_goes_on(
    tmp_path: Path, count: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = cells.align

    def killed(*given: Any) -> Any:
        if count() == 3:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(cells, "align", killed)
    with pytest.raises(KeyboardInterrupt):
        carried_out("batches", tmp_path)
    assert not (tmp_path / "batches").exists()
    assert len(list((tmp_path / "cells").iterdir())) == 2
    monkeypatch.setattr(cells, "align", real)
    assert len(carried_out("batches", tmp_path)["rows"]) == 4
    assert count() == 3 + 2, "the two that were done are not done again"


def test_experiments_share_cells(tmp_path: Path, count: Callable[[], int]) -> None:
    carried_out("overall", tmp_path, "default")
    assert count() == 1
    carried_out("unsupervised", tmp_path, "default")
    assert count() == 2, "with seeds it is the same as before"
    page = (tmp_path / "README.md").read_text()
    assert page.index("## Overall results") < page.index("## Without any seed")
    assert "- [Overall results](#overall-results)" in page


def test_what_cannot_be_measured_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = cells.align

    def choosy(dataset: Any, preset: str, *rest: Any) -> Any:
        if preset == "default":
            raise UsageError("not today")
        return real(dataset, preset, *rest)

    monkeypatch.setattr(cells, "align", choosy)
    report = carried_out("overall", tmp_path)
    assert list(report["failures"].values()) == ["not today"]
    assert "| – | – |" in (tmp_path / "overall" / "README.md").read_text()
    with pytest.raises(UsageError, match="no cell of overall could be measured: not today"):
        carried_out("overall", tmp_path, "default")


def test_quick_is_less() -> None:
    quick, full = make_scope(quick=True), make_scope()
    assert quick.settings == QUICK_SETTINGS
    cells = [
        [len(list(experiment.cells(scope))) for experiment in EXPERIMENTS.values()] for scope in (quick, full)
    ]
    assert all(few <= many for few, many in zip(*cells, strict=True))
    assert sum(cells[0]) < sum(cells[1]) * 2 / 3


def test_settings_of_the_user_win() -> None:
    scope = make_scope(quick=True, settings=("structure.epochs=3",), seed=5)
    assert scope.config("largeea-r").structure.epochs == 3
    assert scope.config("largeea-r").seed == 5


def test_the_structural_preset() -> None:
    assert make_scope().structural == "largeea-r"
    assert make_scope(presets=("default", "largeea-g")).structural == "largeea-g"
    assert make_scope(presets=("default",)).structural == "largeea-r"
    with pytest.raises(UsageError, match="unknown preset 'magic'"):
        make_scope(presets=("magic",))
