"""`benchmarks/scale.py`: growth exponents and floors of stages with known answers."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
floors, rates, scale = (importlib.import_module(name) for name in ("floors", "rates", "scale"))
sys.path.pop(0)

EVIDENCE = {
    "sinkhorn_iterations": 10,
    "scoring_sketches": 8,
    "retrieval_sketches": 2,
    "candidates_per_round": 20,
    "label_width": 64,
}
STORED = {
    **{"source": 3_000, "target": 2_000, "name-rows": 500, "semantic": 800, "strings": 200, "names": 800},
    **{"equal-names": 800, "edges": 900, "neighbours": 400, "surroundings": 16_000, "candidates": 160},
    **{"fused": 800, "anchors-1": 240, "anchors-2": 360, "trial-anchors": 1_200_000},
}


@pytest.fixture
def facts() -> Any:
    return floors.Facts((100, 80), 50, 7_000, STORED, EVIDENCE)


@pytest.mark.parametrize("power", [0.5, 1.0, 1.3, 2.0])
def test_the_exponent_of_a_power_is_the_power(power: float) -> None:
    sizes = [1_000, 3_000, 20_000]
    assert scale.exponent(sizes, [5 * size**power for size in sizes]) == pytest.approx(power)


def test_one_size_and_no_time_have_no_exponent() -> None:
    assert scale.exponent([1_000], [3.0]) is None
    assert scale.exponent([1_000, 2_000], [0.0, 3.0]) is None


def test_rounds_are_calls_of_one_stage() -> None:
    def call(seconds: float, host: float) -> dict[str, Any]:
        return {"seconds": seconds, "memory_mb": {"host": host, "gpu": 1.0}}

    timings = {
        "fused": {"a": call(1.0, 10), "b": call(3.0, 30)},
        "anchors-1": {"c": call(1.0, 5)},
        "anchors-12": {"d": call(2.0, 4)},
        "name-rows": {"e": call(7.0, 2)},
    }
    assert scale.by_stage(timings) == {
        "fused": {"calls": 2, "seconds": 2.0, "host": 30, "gpu": 1.0},
        "anchors": {"calls": 2, "seconds": 1.5, "host": 5, "gpu": 1.0},
        "name-rows": {"calls": 1, "seconds": 7.0, "host": 2, "gpu": 1.0},
    }


@pytest.mark.parametrize(
    ("stage", "seconds"),
    [
        ("source", 7_000 + 3_000 + 2_000),
        ("names", 800 + 200 + 800),
        ("edges", 50 * 12 + 900),
        ("fused", 800 + 400 + 16_000 + 800 + (2 * 10 * 800) / 2),
        ("surroundings", 900 + 16_000 + 2 * (7 * 64) * (2 + 6) * 2_000 / 4),
        ("trial-surroundings", 900 + 16_000 + 2 * (7 * 64) * (2 + 6) * 2_000 / 4),
        ("candidates", 900 + 160 + 2 * (7 * 64) * (100 - 30) * (4 * 20 * 2) / 4),
    ],
)
def test_the_floor_of_a_stage(facts: Any, stage: str, seconds: float) -> None:
    """A machine that moves a byte a second, 2 where stages compute, and does 4 operations meanwhile."""
    assert floors.floor_seconds(stage, facts, rates.Rates(1, 2, 4)) == pytest.approx(seconds)


def test_an_exact_search_compares_all_that_are_no_anchors(facts: Any) -> None:
    exact = floors.Facts(facts.entities, facts.triples, facts.files, STORED, EVIDENCE, exact_search=True)
    more = floors.compared(exact) - floors.compared(facts)
    assert more == pytest.approx(2 * (7 * 64) * (100 - 30) * (80 - 30))


def test_a_stage_whose_work_depends_on_the_data_has_no_floor(facts: Any) -> None:
    assert floors.floor_seconds("literals", facts, rates.Rates(1, 1, 1)) is None


def test_moving_comes_before_computing_and_the_slower_part_of_that_counts() -> None:
    machine = rates.Rates(host=10, device=100, operations=1_000)
    assert machine.seconds(moved=20, worked_on=300, operations=1_000) == pytest.approx(2 + 3)
    assert machine.seconds(moved=20, worked_on=100, operations=4_000) == pytest.approx(2 + 4)


def test_rates_are_positive() -> None:
    assert rates.copy_rate(threads=2, size=1 << 16) > 0
    assert rates.product_rate(size=32) > 0


def test_figures_and_table(facts: Any) -> None:
    machine = rates.Rates(1_000, 1_000, 1_000)
    found = [
        {
            **{
                "entities": entities,
                "seconds": 9.0,
                "outside": 1.0,
                "memory": 5,
                "gpu": 0,
                "hits@1": 1,
                "f1": 1,
            },
            "stages": {
                "names": {"calls": 1, "seconds": entities / 10, "host": 7.0, "gpu": 0.0},
                "literals": {"calls": 3, "seconds": 2.0, "host": 8.0, "gpu": 0.0},
                "kinds": {"calls": 1, "seconds": 0.01, "host": 1.0, "gpu": 0.0},
            },
            "facts": facts,
        }
        for entities in (90, 180)
    ]
    stages = {stage: scale.figures(stage, found, machine) for stage in found[-1]["stages"]}
    assert stages["names"]["exponent"] == pytest.approx(1)
    assert stages["names"]["share_of_floor"] == pytest.approx(1.8 / 18)
    lines = scale.table([0.5, 1.0], found, stages).splitlines()
    assert "| names | 9.0 | 18.0 | 1.00 | 1 | 7 | 0 | 1.80 | 10.0% |" in lines
    assert "| literals | 2.0 | 2.0 | 0.00 | 3 | 8 | 0 | - | - |" in lines
    assert not any(line.startswith("| kinds") for line in lines)
    assert "| names | M_se + M_st + M_n |" in scale.formulas(stages)
    pytest.importorskip("matplotlib")
    assert scale.plot(found, stages).startswith(b"<?xml")


def test_every_floor_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
    for stage, floor in floors.FLOORS.items():
        assert f"| {stage} | {floor.formula} | {floor.reason} |" in page
