from __future__ import annotations

import inspect
import json
import re
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
    known, written = {"seeds", "forbidden"}, {"output", "overwrite", "write", "predicate", "license", "date"}
    scope = {"source_types", "target_types", "source_select", "target_select", "leave_out"}
    restricted = scope | {"compatible_types", "block_by", "cardinality"}
    assert set(of_align) - set(of_plan) == known | written | restricted | {"with_doubtful"}
    sizes = {"entities", "triples", "literals"}
    cluster = {"nodes", "memory_per_node", "cores_per_node", "gpus_per_node", "driver_memory", "network"}
    assert set(of_plan) - set(of_align) == sizes | cluster
    shared = set(of_plan) & set(of_align) - {"source"}
    assert all(of_plan[name].default == of_align[name].default for name in shared)


# Graphs that are not at hand


def test_a_plan_from_sizes_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--entities", "200000,100_000", "--memory", "20GB", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["matched"] == {"source": 200_000, "target": 100_000}
    assert run(["plan", "--entities", "200000,100000", "--triples", "9000000", "--json"]) == 0
    more = json.loads(capsys.readouterr().out)
    disk = [{need["stage"]: need["disk"] for need in one["needs"]} for one in (found, more)]
    assert disk[0]["edges"] == 12 * 2 * (round(3.1 * 300_000) + 300_000)
    assert disk[1]["edges"] == 12 * 2 * (18_000_000 + 300_000)


@pytest.mark.parametrize("given", ["many", "1,2,3", "0,5", "-3", "1e6"])
def test_sizes_that_are_none(capsys: pytest.CaptureFixture[str], given: str) -> None:
    assert run(["plan", f"--entities={given}"]) == 2
    assert f"--entities {given}: give two whole numbers from 1 on" in capsys.readouterr().err


def test_graphs_or_sizes(graphs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *graphs, "--entities", "5,5"]) == 2
    assert "takes the place of the graphs" in capsys.readouterr().err
    assert run(["plan"]) == 2
    assert "give two graphs, one folder that holds a pair, or --entities N,N" in capsys.readouterr().err


# Clusters

TEN_MILLION = ["plan", "--entities", "10000000,10000000"]


def test_the_plan_of_a_cluster_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = [
        "--nodes",
        "16",
        "--memory-per-node",
        "64GB",
        "--driver-memory",
        "128GB",
        "--network",
        "25Gbit",
    ]
    assert run([*TEN_MILLION, *cluster, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fits"]
    assert found["cluster"]["network"] == 25e9 / 8
    stages = {stage["stage"]: stage for stage in found["stages"]}
    assert found["node"] == max(stage["node"] for stage in stages.values()) < 64e9
    assert found["driver"] == max(stage["driver"] for stage in stages.values()) < 128e9
    assert found["moved"] == sum(stage["moved"] for stage in stages.values())
    assert stages["edges"]["node"] == stages["edges"]["moved"] == 0, "the driver's"
    assert found["limiting"] in stages
    assert found["slowest"] in stages


def test_the_plan_of_a_cluster_for_people(graphs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *graphs, "--nodes", "3", "--memory-per-node", "8GB"]) == 0
    out = capsys.readouterr().out
    assert "Plan for 3 nodes" in out
    assert "(it runs on one of them)" in out
    assert "it fits" in out


def test_a_cluster_that_is_too_small_is_an_error_with_advice(capsys: pytest.CaptureFixture[str]) -> None:
    small = [*TEN_MILLION, "--nodes", "2", "--memory-per-node", "16GB"]
    assert run(small) == 4
    error = capsys.readouterr().err
    assert "no number of nodes of this memory is enough; 2 nodes would need" in error
    needed = re.search(r"nodes would need ([0-9]+) GB each", error)
    assert needed is not None
    assert run([*small[:-1], f"{needed[1]}GB"]) == 0
    assert run([*small[:-1], f"{int(needed[1]) - 1}GB"]) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory-per-node", "8GB"], "are for a cluster: add --nodes N"),
        (["--nodes", "2", "--network", "fast"], "--network fast: give bits or bytes a second"),
        (["--nodes", "2", "--memory-per-node", "big"], "memory-per-node = 'big': give a size"),
    ],
)
def test_a_cluster_that_is_none(capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    assert run([*TEN_MILLION, *options]) == 2
    assert message in capsys.readouterr().err
