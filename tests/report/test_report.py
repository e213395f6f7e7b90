"""The whole report: what it says, in which order, and that odd runs have one too."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea import align
from largeea.cli import run as largeea
from largeea.config import load
from largeea.datasets.demo import demo_pair
from largeea.errors import InputError
from largeea.graph import Links
from largeea.matching.alignment import Alignment
from largeea.report import render, write_report
from largeea.runs.manifest import stage_file
from largeea.similarity import Similarity

from .conftest import graph

EVIL = "<script>alert(1)</script>"


def headings(html: str) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", html)


def words(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def answer(
    source: list[str | None], target: list[str | None], pairs: Any = (), accepted: bool = True
) -> Alignment:
    chosen = np.array(pairs, np.int32).reshape(-1, 2)
    scores = np.full(len(chosen), 0.9, np.float32)
    columns = {"name": scores} if len(chosen) else {}
    return Alignment(
        graph("s", source), graph("t", target), chosen, scores, np.full(len(chosen), accepted), columns
    )


def test_the_report_of_a_run(demo_run: Path) -> None:
    html = render(demo_run)
    assert headings(html) == [
        *("Confidence", "Evidence", "Rounds", "Graphs", "Time and memory", "Examples"),
        *("Without counterpart", "Settings"),
    ]
    summary = json.loads((demo_run / "manifest.json").read_text())["summary"]
    assert f"{summary['accepted']:,} have a counterpart in the target graph" in words(html)
    assert f"{summary['doubtful']} pairs are doubtful" in words(html)
    assert html.count('<article class="pair">') == 20 + 20 + 20
    assert "Shared neighbours" in html
    assert "No reference links were given" in words(html)


def test_the_report_is_the_same_each_time(demo_run: Path) -> None:
    assert render(demo_run) == render(demo_run, trusted=True)


def test_a_report_is_one_file_without_scripts(demo_run: Path) -> None:
    html = render(demo_run)
    for word in ("script", "link", "img", "iframe", "object", "base"):
        assert not re.search(rf"<{word}\b", html)
    for attribute in ("src", "href", "on[a-z]+"):
        assert not re.search(rf"<[^>]*\s{attribute}=", html)
    assert "url(" not in html
    assert "@import" not in html


def test_calibration_is_shown_where_links_are_known(demo_run: Path) -> None:
    bins = [{"confidence": 0.95, "right": 0.9, "count": 200}, {"confidence": 0.45, "right": 0.5, "count": 10}]
    html = render(demo_run, bins)
    assert html.count("<circle") == 2
    assert "confidence 0.95: 90% of 200 right" in html
    assert "none can be judged" in words(render(demo_run, []))


def test_labels_cannot_be_markup(store: Any) -> None:
    folder = store(answer([EVIL, EVIL], [EVIL, "\u202eright"], [[0, 0], [1, 1]]))
    html = render(folder)
    assert EVIL not in html
    assert "&lt;script&gt;" in html
    assert "\u202e" not in html
    assert "\u2039U+202E\u203aright" in html


@pytest.mark.parametrize(
    "odd",
    [
        answer([], []),
        answer(["a"], ["a"]),
        answer(["a"], ["a"], [[0, 0]]),
        answer(["a"], ["a"], [[0, 0]], accepted=False),
        answer([None, None], [None], [[1, 0]]),
        answer([None, None], [None]),
    ],
    ids=["no entities", "no pairs", "one pair", "doubtful only", "no names", "no names, no pairs"],
)
def test_odd_answers_have_a_report(odd: Alignment, store: Any) -> None:
    html = render(store(odd))
    assert html.endswith("</html>\n")
    assert f"Of {odd.source.size:,} entit" in words(html)
    assert "nan" not in html.lower().replace("nant", "")


def test_an_unmatched_entity_with_a_candidate(store: Any) -> None:
    fused = Similarity.from_entries([1], [0], [0.4], (2, 1))
    html = render(store(answer(["Anna", "Annette"], ["Anna"], [[0, 0]]), fused=fused))
    assert "1 rejected pairs" in html
    assert "Annette" in html
    assert "The candidate is in a pair with <bdi>Anna</bdi>" in html


def test_given_pairs_are_told_apart(store: Any) -> None:
    html = render(store(answer(["a", "b"], ["a", "b"], [[0, 0], [1, 1]]), seeds=Links(np.array([[0, 0]]))))
    assert "1 accepted pair was given, not found." in words(html)


def test_a_run_without_evidence(tmp_path: Path) -> None:
    pair = demo_pair(("en", "fr"), 0)
    align(pair.source, pair.target, config={"without": ["evidence"]}, folder=tmp_path / "run")
    html = render(tmp_path / "run")
    assert "it is not a probability" in html
    assert "Rounds" not in headings(html)
    assert "without" in words(html).split("Settings that differ")[1]


def test_a_run_with_mini_batches(tmp_path: Path) -> None:
    pair = demo_pair(("en", "fr"), 0)
    config = {"structure": {"model": "propagation"}, "partition": {"k": 3}, "evidence": {"rounds": 0}}
    seeds = pair.links.take(np.arange(0, len(pair.links), 2))
    align(pair.source, pair.target, seeds=seeds, config=config, folder=tmp_path / "run")
    html = render(tmp_path / "run")
    assert "Mini-batches" in headings(html)
    assert "3 mini-batches in all." in html
    assert f"{len(seeds):,} accepted pairs were given, not found." in words(html)


def test_a_run_with_seeds_shows_all_evidence(tmp_path: Path) -> None:
    """Channels without the entities of seeds are stages of their own."""
    pair = demo_pair(("en", "fr"), 0)
    seeds = pair.links.take(np.arange(0, len(pair.links), 5))
    align(pair.source, pair.target, seeds=seeds, config={"evidence": {"rounds": 1}}, folder=tmp_path / "run")
    table = render(tmp_path / "run").split("Weights of the evidence")[1].split("</table>")[0]
    for kind in ("name", "neighbours", "surroundings", "literals"):
        assert f">{kind}<" in table
    assert "\u2013" not in table, "all figures are known"


def test_a_large_run_has_a_small_report(store: Any) -> None:
    size = 300_000
    long = EVIL * 40 + "\u202e" * 400
    names: list[str | None] = [f"{place} {long}" if place < 1000 else f"{place}" for place in range(size)]
    source, target = graph("s", names), graph("t", names)
    pairs = np.column_stack([np.arange(size // 2)] * 2)
    confidence = np.linspace(1, 0.1, len(pairs))
    large = Alignment(source, target, pairs, confidence, confidence > 0.5, {"name": confidence})
    path = write_report(store(large), trusted=True)
    assert path.stat().st_size < 1_000_000


def test_settings_that_are_not_the_default(store: Any) -> None:
    config = load(settings=("names.top_k=7", "evidence.literals=false"))
    text = words(render(store(answer(["a"], ["a"]), config=config)))
    assert re.search(r"names\.top_k\s*50\s*7", text)
    assert "evidence.literals" in text


def test_damage_is_noticed_unless_trusted(store: Any) -> None:
    folder = store(answer(["a"], ["a"], [[0, 0]]))
    path = stage_file(folder, "alignment")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        render(folder)
    path.write_bytes(content[:-1])
    with pytest.raises(InputError, match="missing or damaged"):
        render(folder, trusted=True)


# The command


def test_the_command(demo_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links, place = demo_run / "pair" / "ent_links", tmp_path / "report.html"
    assert largeea(["report", str(demo_run), "--links", str(links), "-o", str(place), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"report": str(place)}
    assert "<circle" in place.read_text("utf-8")
    assert largeea(["report", str(demo_run)]) == 0
    assert capsys.readouterr().out == f"{demo_run / 'report.html'}\n"
    assert "<circle" not in (demo_run / "report.html").read_text("utf-8")
    assert largeea(["verify", str(demo_run)]) == 0


def test_not_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert largeea(["report", str(tmp_path)]) == 3
    assert "is not a run folder" in capsys.readouterr().err


def test_the_command_to_repeat_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ring = ["Berlin", "Paris", "Tokyo", "Lima"]
    for side in "ab":
        lines = (
            f"<http://{side}/{x}> <http://{side}/next> <http://{side}/{y}> .\n"
            for x, y in zip(ring, ring[1:] + ring[:1], strict=True)
        )
        Path(f"{side} graph.nt").write_text("".join(lines))
    words_given = ["a graph.nt", "b graph.nt", "--without", "evidence", "--set", "names.top_k=9"]
    words_given += ["--language", "en", "--match", "all"]
    assert largeea(["align", *words_given, "-o", "run"]) == 0
    html = render(Path("run"))
    assert "<h1><bdi>a graph.nt and b graph.nt</bdi></h1>" in html
    text = words(html).replace("&#x27;", "'").replace("&quot;", '"')
    expected = (
        "largeea align 'a graph.nt' 'b graph.nt' -o NEW_FOLDER --language en --match all "
        "--set 'without=[\"evidence\"]' --set names.top_k=9"
    )
    assert expected in text
    assert largeea(shlex.split(expected)[1:]) == 0
    one, other = (json.loads(Path(place, "manifest.json").read_text()) for place in ("run", "NEW_FOLDER"))
    assert one["config"] == other["config"]
    assert one["results"] == other["results"]
    capsys.readouterr()
