"""`largeea experiment` on a small pair folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from largeea.cli import run
from largeea.datasets.openea_layout import write_pair
from largeea.experiments.datasets import twin

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    place = tmp_path_factory.mktemp("pairs")
    for name, size in (("ids15k_en_de_v1", 150), ("other", 200)):
        write_pair(twin(size).load(), place / name)
    return [str(place / "ids15k_en_de_v1"), str(place / "other")]


def test_an_experiment_on_folders(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["experiment", "partition-quality", "--data", *folders, "--quick", "--set", "partition.k=3"]
    assert run([*command, "-o", str(tmp_path / "out"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["partition-quality"]
    rows = {(row["data set"], row["partition"]): row for row in report["rows"]}
    assert set(rows) == {
        (name, method) for name in ("ids15k_en_de_v1", "other") for method in ("metis-cps", "merged", "vps")
    }
    assert rows["ids15k_en_de_v1", "metis-cps"]["paper: test pairs"] == 0.847
    assert rows["other", "metis-cps"]["paper: test pairs"] is None
    assert all(row["K"] == 3 for row in report["rows"])
    assert report["command"] == (
        "largeea experiment partition-quality --data ids15k_en_de_v1 other --quick --set partition.k=3"
    )


def test_a_table_for_people(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A narrow terminal has fewer columns, not shorter figures."""
    out = tmp_path / "out"
    command = ["experiment", "partition-quality", "--data", folders[0], "--quick", "-o", str(out)]
    for width, title, count in (
        ("300", "Partition quality", 14),
        ("60", "Partition quality (9 more columns in README.md)", 5),
    ):
        monkeypatch.setenv("COLUMNS", width)
        assert run(command) == 0
        shown = capsys.readouterr().out
        first, _, header, *_ = shown.splitlines()
        assert first.strip() == title
        titles = [name.strip() for name in header.strip("┃ ").split("┃")]
        (row, *_) = json.loads((out / "partition-quality" / "figures.json").read_text())["rows"]
        assert titles == list(row)[:count]
        assert "…" not in shown
        assert str(out / "README.md") in shown.replace("\n", "")
    assert (out / "README.md").is_file()


def test_an_unknown_experiment_lists_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiment", "magic"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "unknown experiment 'magic'; there are: overall, scalability, ablation, seeds, batches, " in said
    assert said.endswith("memory, all")


def test_a_missing_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiment", "overall", "--data", str(tmp_path / "none")]) == 3
    assert "is not a folder" in " ".join(capsys.readouterr().err.split())
