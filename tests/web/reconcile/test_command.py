"""The command: what it reads, and which options it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import largeea
from largeea.cli import run
from largeea.cli.reconcile import read_served
from largeea.datasets.openea_layout import write_pair
from largeea.formats import ReadOptions
from largeea.graph import Links, Pair
from largeea.web.reconcile.answers import Reconciler
from largeea.web.reconcile.queries import Query
from largeea.web.reconcile.run_links import RunLinks

TOWNS = ("Ulm", "Linz", "Graz", "Bonn", "Kiel", "Bern", "Genf", "Jena", "Gera", "Hof")
FRENCH = {"Genf": "Genève", "Bern": "Berne"}


def triples(folder: Path, side: str, names: dict[str, str]) -> Path:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines = [
        f'<http://{side}/{number}> {label} "{names.get(town, town)}" .' for number, town in enumerate(TOWNS)
    ]
    near = [
        f"<http://{side}/{number}> <http://{side}/near> <http://{side}/{number + 1}> ." for number in range(9)
    ]
    file = folder / f"{side}.nt"
    file.write_text("\n".join([*lines, *near, ""]), "utf-8")
    return file


def test_a_finished_run_serves_its_target_and_uses_its_links(tmp_path: Path) -> None:
    source, target = triples(tmp_path, "s", {}), triples(tmp_path, "t", FRENCH)
    largeea.align_files(source, target, tmp_path / "run")
    graph, alignment = read_served(tmp_path / "run", ReadOptions())
    assert alignment is not None
    assert graph.names.to_pylist()[6] == "Genève"
    reconciler = Reconciler(graph, RunLinks(alignment))
    confidence = dict(zip(alignment.pairs[:, 0].tolist(), alignment.confidence.tolist(), strict=True))
    best = reconciler.answer({"q": Query(query="http://s/0")}, 60)["q"]["result"][0]
    assert (best["id"], best["match"]) == ("http://t/0", True)
    assert best["score"] == pytest.approx(100 * confidence[0], abs=0.01)


def test_of_a_pair_folder_the_target_is_served(tmp_path: Path) -> None:
    graphs = [largeea.read(triples(tmp_path, side, names)) for side, names in (("s", {}), ("t", FRENCH))]
    write_pair(Pair(*graphs, Links(np.array([[0, 0]]))), tmp_path / "pair")
    graph, alignment = read_served(tmp_path / "pair", ReadOptions())
    assert alignment is None
    assert "Genève" in graph.names.to_pylist()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--public-url", "example.org"], "--public-url example.org: it must begin with"),
        (["--public-url", "http://["], "--public-url http://[: it must begin with"),
        (["--host", "0.0.0.0"], "--host 0.0.0.0 needs --public-url"),
    ],
)
def test_wrong_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(["reconcile", str(tmp_path / "graph.nt"), *arguments]) == 2
    assert said in capsys.readouterr().err
