from __future__ import annotations

import json
from pathlib import Path

import pytest

from largeea.cli import run


@pytest.fixture
def graphs(tmp_path: Path) -> list[str]:
    for side in "ab":
        label = "<http://www.w3.org/2000/01/rdf-schema#label>"
        lines = [f'<http://{side}/{number}> {label} "town {number}" .\n' for number in range(20)]
        (tmp_path / f"{side}.nt").write_text("".join(lines))
    return [str(tmp_path / "a.nt"), str(tmp_path / "b.nt")]


def test_the_plan_for_machines(graphs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *graphs, "--memory", "3GB", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["memory"] == 3 * 10**9
    assert plan["peak"] == max(need["host"] for need in plan["needs"])
    assert {"source", "semantic", "surroundings", "alignment"} <= {need["stage"] for need in plan["needs"]}


def test_the_plan_for_people(graphs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *graphs]) == 0
    out = capsys.readouterr().out
    assert "memory MB" in out
    assert "GB of memory (in " in out


def test_what_cannot_fit_is_an_error(graphs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *graphs, "--memory", "20MB"]) == 4
    assert "are allowed; allow more" in capsys.readouterr().err


def test_one_graph_is_not_enough(graphs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", graphs[0]]) == 2
    assert "give two graphs, or one folder that holds a pair" in capsys.readouterr().err


def test_a_size_that_is_none(graphs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["align", *graphs, "-o", "run", "--memory", "much"]) == 2
    assert "memory = 'much': give a size such as 12GB" in capsys.readouterr().err
