from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from largeea.cli import align, plan, run

RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"


@pytest.fixture
def graphs(tmp_path: Path) -> list[str]:
    for side in "ab":
        label = "<http://www.w3.org/2000/01/rdf-schema#label>"
        lines = [f'<http://{side}/{number}> {label} "town {number}" .\n' for number in range(20)]
        (tmp_path / f"{side}.nt").write_text("".join(lines))
    return [str(tmp_path / "a.nt"), str(tmp_path / "b.nt")]


@pytest.fixture
def with_classes(tmp_path: Path) -> list[str]:
    """Two graphs of 30 individuals and 6 classes each."""
    for side in "ab":
        lines = []
        for number in range(30):
            place, kind = f"<http://{side}/{number}>", f"<http://{side}/class{number % 6}>"
            lines += [f"{place} <{RDF}type> {kind} .", f'{place} <{RDFS}label> "town {number}" .']
            lines += [f'{kind} <{RDFS}label> "kind {number % 6}" .']
        (tmp_path / f"{side}.nt").write_text("\n".join(lines) + "\n")
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


@pytest.mark.parametrize(("match", "entities"), [("individuals", 30), ("classes", 6), ("all", 36)])
def test_the_plan_is_for_the_entities_that_are_matched(
    with_classes: list[str], capsys: pytest.CaptureFixture[str], match: str, entities: int
) -> None:
    assert run(["plan", *with_classes, "--match", match, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matched"] == {"source": entities, "target": entities}
    assert run(["plan", *with_classes, "--match", match]) == 0
    assert f"Entities that are matched: {entities} and {entities}" in capsys.readouterr().out


def test_fewer_entities_that_are_matched_need_less(
    with_classes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    disk: dict[str, dict[str, int]] = {}
    for match in ("classes", "individuals", "all"):
        assert run(["plan", *with_classes, "--match", match, "--json"]) == 0
        needs = json.loads(capsys.readouterr().out)["needs"]
        disk[match] = {need["stage"]: need["disk"] for need in needs}
    for stage in ("semantic", "names", "surroundings", "likelihood"):
        assert disk["individuals"][stage] == 5 * disk["classes"][stage], stage
        assert disk["all"][stage] == 6 * disk["classes"][stage], stage
    assert disk["classes"]["edges"] == disk["all"]["edges"]


def test_a_role_that_is_not_there_cannot_be_planned(
    graphs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", *graphs, "--match", "classes"]) == 2
    assert "match is 'classes', but the source graph has none of them" in capsys.readouterr().err


def test_plan_takes_the_options_of_align_that_decide_what_is_computed() -> None:
    of_align, of_plan = (inspect.signature(module.command).parameters for module in (align, plan))
    assert set(of_align) - set(of_plan) == {"output", "seeds", "write", "predicate", "overwrite"}
    assert set(of_plan) <= set(of_align)
    assert all(parameter.default == of_align[name].default for name, parameter in of_plan.items())
