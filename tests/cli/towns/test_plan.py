"""The plan of a run, against the run itself."""

from __future__ import annotations

import json
from pathlib import Path

from largeea.cli import run


def test_plan_names_the_stages_that_a_run_has(cli, computed):
    plan = json.loads(cli("plan", "a.nt", "b.ttl", "--json")[0])
    assert computed == [], "nothing is computed"
    assert plan["peak"] == max(need["host"] for need in plan["needs"]) <= plan["memory"]
    assert plan["adjustments"] == []
    cli("align", "a.nt", "b.ttl", "-o", "run")
    assert {need["stage"] for need in plan["needs"]} <= set(computed)
    kept = json.loads(Path("run/manifest.json").read_text())["plan"]
    assert [need["stage"] for need in kept["needs"]] == [need["stage"] for need in plan["needs"]]
    out, _ = cli("plan", "pair", "--preset", "largeea-r")
    assert "structure" in out
    assert "the limit is" in out


def test_a_plan_that_does_not_fit(capsys):
    assert run(["plan", "a.nt", "b.ttl", "--memory", "1MB"]) == 4
    assert "0.0 GB are allowed; allow more (--memory)" in capsys.readouterr().err
