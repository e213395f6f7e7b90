from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from largeea.config import load
from largeea.errors import InputError, ResourceError, UsageError
from largeea.experiments import cells as module
from largeea.experiments.cells import Cell, Store
from largeea.experiments.datasets import DemoSet, FolderSet, check, known_to_paper, twin
from largeea.runs import lock

CELL = Cell({"row": "one"}, twin(100), "default", load())


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was measured; measuring itself takes no time."""
    seen: list[Any] = []

    def align(*given: Any) -> dict[str, Any]:
        seen.append(given)
        return {"number": len(seen)}

    monkeypatch.setattr(module, "align", align)
    monkeypatch.setattr(module, "warm_up", lambda preset, config: None)
    return seen


def test_a_cell_is_measured_once(tmp_path: Path, measured: list[Any]) -> None:
    with Store(tmp_path) as store:
        assert store.figures(CELL) == store.figures(CELL) == {"number": 1}
    with Store(tmp_path) as store:
        assert store.figures(replace(CELL, labels={"row": "another name"})) == {"number": 1}
    assert len(measured) == 1
    stored = json.loads((tmp_path / "cells" / f"{CELL.key}.json").read_text())
    assert stored == {"number": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": twin(101)},
        {"dataset": twin(100, seed=1)},
        {"dataset": DemoSet()},
        {"config": load(settings=("names.top_k=7",))},
        {"config": load(seed=1)},
        {"train": 0.3},
        {"reverse": True},
        {"how": "partition"},
        {"splits": 2},
    ],
)
def test_whatever_matters_makes_another_cell(change: dict[str, Any]) -> None:
    assert replace(CELL, **change).key != CELL.key


def test_another_release_measures_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    before = CELL.key
    monkeypatch.setattr(module, "version", lambda: "99")
    assert CELL.key != before


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    sets = []
    for name, text in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(text)
        sets.append(FolderSet(tmp_path / name).identity)
    assert sets[0] == sets[1] != sets[2]


def test_what_a_method_cannot_do_is_said_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[Any]
) -> None:
    real = module.align

    def refuse(*given: Any) -> dict[str, Any]:
        raise UsageError("not like this")

    monkeypatch.setattr(module, "align", refuse)
    with Store(tmp_path) as store:
        assert store.figures(CELL) == {"error": "not like this"}
        monkeypatch.setattr(module, "align", real)
        assert store.figures(CELL) == {"number": 1}


def test_two_processes_do_not_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path):
        monkeypatch.setattr(lock, "_held", {})  # as another process sees it
        with pytest.raises(ResourceError, match="is working on"):
            Store(tmp_path).__enter__()
        monkeypatch.undo()


def test_names_the_paper_knows() -> None:
    assert known_to_paper("ids15k_en_de_v1") == "ids15k-en-de"
    assert known_to_paper("DBP1M_EN_FR") == "dbp1m-en-fr"
    assert known_to_paper("dbp15k_fr_en") is None
    assert known_to_paper(twin(1000).name) is None


def test_a_missing_folder_is_found_out_early(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder; --data needs pair folders"):
        check(tmp_path / "none")
