"""`largeea partition` on the built-in demo pair."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from largeea.cli import run
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pair") / "demo"
    write_pair(demo_pair(), place)
    return place


def test_figures_for_machines(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["partition", str(folder), "-k", "4", "-o", str(tmp_path / "out"), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == ["method", "k", "r_ec", "same_batch", "sizes", "seconds"]
    assert (figures["method"], figures["k"]) == ("metis-cps", 4)
    assert set(figures["r_ec"]) == {"source", "target"}
    assert figures["same_batch"]["train"] > 0.9
    assert figures["same_batch"]["test"] > 0.25
    pair = demo_pair()
    assert sum(figures["sizes"]["source"]) == pair.source.size
    assert sum(figures["sizes"]["target"]) == pair.target.size
    assert json.loads((tmp_path / "out" / "partition.json").read_text()) == figures
    assert (tmp_path / "out" / "partition.svg").read_text().startswith("<svg")


def test_figures_for_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["partition", str(folder), "--method", "vps", "-k", "3", "--overlap", "2", "--reverse"]) == 0
    shown = capsys.readouterr().out
    assert "demo, vps, K = 3" in shown
    assert "pairs in the same batch" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "magic"], "unknown partition method 'magic'; there are: merged, metis-cps, none, vps"),
        (["--train", "0"], "data augmentation (DA)"),
        (["-k", "3", "--overlap", "4"], "overlap = 4 of only 3 batches"),
        (["-k", "100000"], "give at most"),
        (["-k", "-1"], "partition.k = -1"),
        (["--balance", "-0.1"], "partition.balance = -0.1"),
        (["--fold", "7"], "no official fold '7'"),
    ],
)
def test_what_cannot_be_done(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["partition", str(folder), *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_single_graph_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["partition", str(folder / "rel_triples_1"), "--train", "0.2"]) == 2
    assert "give a folder with two graphs" in " ".join(capsys.readouterr().err.split())
