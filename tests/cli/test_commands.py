"""The commands as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import largeea
from largeea import __version__
from largeea.cli import COMMANDS, run
from largeea.cli.screen import printable
from largeea.formats.links import FORMATS, read_links

WORDS = [
    *("Berlin", "Paris", "Tokyo", "Lima", "Cairo", "Oslo", "Quito", "Hanoi"),
    *("Dakar", "Sofia", "Riga", "Bern", "Rome", "Baku", "Doha", "Minsk"),
]
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
BENCH_KEYS = [
    *("dataset", "preset", "train", "seeds", "protocols", "alignment"),
    *("seconds", "peak_rss_mb", "peak_gpu_mb"),
]
RANKING = {"hits@1", "hits@5", "hits@10", "mrr"}
SHARES = {"precision", "recall", "f1"}


def statements(side: str) -> list[tuple[str, str, str]]:
    """A ring of towns, and one more town, elsewhere, that the other side does not have."""
    lonely = ("Atlantis", "sunk_near", WORDS[0]) if side == "a" else ("Zzyzx", "road_to", WORDS[5])
    ring = [(one, "next", two) for one, two in zip(WORDS, WORDS[1:] + WORDS[:1], strict=True)]
    return [tuple(f"http://{side}/{part}" for part in fact) for fact in (*ring, lonely)]


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """In the working directory: `a.nt`, `b.ttl`, the benchmark folder `pair`, and `links.tsv`."""
    monkeypatch.chdir(tmp_path)
    Path("pair").mkdir()
    for number, side, name in ((1, "a", "a.nt"), (2, "b", "b.ttl")):
        Path(name).write_text("".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in statements(side)))
        Path(f"pair/rel_triples_{number}").write_text(
            "".join("\t".join(row) + "\n" for row in statements(side))
        )
    links = [f"http://a/{word}\thttp://b/{word}\n" for word in WORDS]
    Path("links.tsv").write_text("".join(links))
    Path("pair/ent_links").write_text("".join(links))
    for fold in "12":
        Path(f"pair/721_5fold/{fold}").mkdir(parents=True)
        Path(f"pair/721_5fold/{fold}/train_links").write_text("".join(links[:4]))
        Path(f"pair/721_5fold/{fold}/test_links").write_text("".join(links[4:]))


@pytest.fixture
def cli(capsys):
    """Run the command, which must succeed; what it says on standard output, and on standard error."""

    def call(*arguments: str) -> tuple[str, str]:
        capsys.readouterr()
        code = run(list(arguments))
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return shown.out, shown.err

    return call


def found_links(path: str) -> set[tuple[str, str]]:
    table = read_links(Path(path))
    return set(zip(table.source.to_pylist(), table.target.to_pylist(), strict=True))


EXPECTED = {(f"http://a/{word}", f"http://b/{word}") for word in WORDS}


# align


@pytest.mark.parametrize("inputs", [["a.nt", "b.ttl"], ["pair"], ["*.nt", "b.*"]])
def test_align(cli, inputs):
    out, err = cli("align", *inputs, "-o", "run")
    assert found_links("run/alignment.sssom.tsv") == EXPECTED
    assert "Some of the links" in out
    assert "Written to run/alignment.sssom.tsv, run/doubtful.tsv, run/unmatched.tsv" in out
    steps = [line.split()[0] for line in err.splitlines()]
    assert steps[:4] == ["source:", "target:", "source", "target"]
    assert steps[-2:] == ["write", "report"]
    order = [steps.index(stage) for stage in ("name-rows", "names", "anchors-1", "likelihood", "alignment")]
    assert order == sorted(order)
    assert sorted(path.name for path in Path("run").iterdir()) == [
        "alignment.sssom.tsv", "config.toml", "doubtful.tsv", "manifest.json", "report.html", "stages",
        "unmatched.tsv",
    ]  # fmt: skip
    unmatched = [line.split("\t") for line in Path("run/unmatched.tsv").read_text().splitlines()[1:]]
    assert [row[:2] for row in unmatched] == [["source", "http://a/Atlantis"], ["target", "http://b/Zzyzx"]]


def test_align_writes_every_format(cli):
    wanted = [argument for name in FORMATS for argument in ("--write", name)]
    out, _ = cli("align", "a.nt", "b.ttl", "-o", "run", "--json", *wanted)
    answer = json.loads(out)
    assert answer == {
        "run": "run", "accepted": 16, "doubtful": 0, "unmatched_source": 1, "unmatched_target": 1,
        "same_iri": 0,
        "files": [
            *(format.file_name for format in FORMATS.values()),
            "doubtful.tsv", "unmatched.tsv", "report.html",
        ],
    }  # fmt: skip
    for format in FORMATS.values():
        assert found_links(f"run/{format.file_name}") == EXPECTED
    assert pq.read_table("run/alignment.parquet").num_rows == 16
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert [*manifest["results"], "report.html"] == answer["files"]
    assert manifest["summary"]["accepted"] == 16


def test_the_predicate_of_links_can_be_chosen_and_is_kept(cli):
    def predicates() -> set[str]:
        rows = [line for line in Path("run/alignment.sssom.tsv").read_text().splitlines() if line[0] != "#"]
        return {row.split("\t")[2] for row in rows[1:]}

    cli("align", "a.nt", "b.ttl", "-o", "run")
    assert predicates() == {"owl:sameAs"}
    cli("align", "a.nt", "b.ttl", "-o", "run", "--write", "same-as", "--predicate", "skos:closeMatch")
    assert predicates() == {"skos:closeMatch"}
    cli("resume", "run")
    assert predicates() == {"skos:closeMatch"}
    cli("resume", "run", "--predicate", "http://www.w3.org/2004/02/skos/core#exactMatch")
    assert predicates() == {"skos:exactMatch"}
    statements = Path("run/alignment.nt").read_text().splitlines()
    assert {line.split()[1] for line in statements} == {"<http://www.w3.org/2004/02/skos/core#exactMatch>"}


def test_an_unknown_prefix_of_a_predicate(cli, capsys):
    assert run(["align", "a.nt", "b.ttl", "-o", "run", "--predicate", "no:such"]) == 2
    assert "the predicate 'no:such' is neither an IRI" in capsys.readouterr().err


def test_align_with_seeds(cli):
    """Seeds are believed, even where names say otherwise, and their ends are taken."""
    Path("seeds.tsv").write_text("http://a/Berlin\thttp://b/Paris\n")
    cli("align", "a.nt", "b.ttl", "-o", "run", "--seeds", "seeds.tsv")
    found = found_links("run/alignment.sssom.tsv")
    assert ("http://a/Berlin", "http://b/Paris") in found
    assert not {("http://a/Berlin", "http://b/Berlin"), ("http://a/Paris", "http://b/Paris")} & found


def test_align_tables_with_their_columns(cli):
    for side in "ab":
        rows = "".join(f"{side}{number},,{word}\n" for number, word in enumerate(WORDS))
        Path(f"{side}.csv").write_text("code,up,title\n" + rows)
    cli("align", "a.csv", "b.csv", "-o", "run", "--columns", "subject=code,object=up,name=title")
    assert found_links("run/alignment.sssom.tsv") == {(f"a{n}", f"b{n}") for n in range(len(WORDS))}


def test_align_by_other_labels_and_languages(cli):
    for side, language in (("a", "de"), ("b", "fr")):
        titles = [(f'"{word}"@{language}', f'"{word[::-1]}{side}"@en') for word in WORDS]
        lines = [
            f"<http://{side}/Q{n}> <http://x/title> {one}, {two} .\n" for n, (one, two) in enumerate(titles)
        ]
        Path(f"{side}.ttl").write_text("".join(lines))
    wanted = ["--label", "http://x/title", "--language", "de", "--language", "fr"]
    cli("align", "a.ttl", "b.ttl", "-o", "run", *wanted)
    expected = {(f"http://a/Q{n}", f"http://b/Q{n}") for n in range(len(WORDS))}
    assert found_links("run/alignment.sssom.tsv") == expected


def test_the_same_run_gives_the_same_bytes(cli):
    for name in ("one", "two"):
        cli(
            "align",
            "a.nt",
            "b.ttl",
            "-o",
            name,
            "--write",
            "sssom",
            "--write",
            "parquet",
            "--write",
            "alignment-api",
        )
    for path in Path("one").iterdir():
        if path.suffix in (".tsv", ".parquet", ".rdf", ".toml"):
            assert path.read_bytes() == (Path("two") / path.name).read_bytes()


def test_a_second_run_reuses_what_still_holds(cli, computed):
    arguments = ["align", "a.nt", "b.ttl", "-o", "run"]
    cli(*arguments)
    first = Path("run/alignment.sssom.tsv").read_bytes()
    assert computed[:2] == ["source", "target"]
    assert computed.count("alignment") == 1
    computed.clear()
    _, err = cli(*arguments)
    assert computed == []
    assert [line.split()[0] for line in err.splitlines() if line.endswith(" s")] == ["write", "report"]
    assert Path("run/alignment.sssom.tsv").read_bytes() == first
    cli(*arguments, "--without", "evidence", "--set", "fusion.csls=0")
    assert computed == ["fused", "alignment"]
    computed.clear()
    cli(*arguments, "--set", "names.top_k=3")
    assert computed[:3] == ["semantic", "strings", "names"]
    computed.clear()
    with Path("a.nt").open("a") as file:
        file.write("<http://a/New> <http://a/next> <http://a/Berlin> .\n")
    cli(*arguments)
    assert computed[:2] == ["source", "target"], "what is matched depends on both graphs"
    assert computed.count("alignment") == 1


def test_execution_options_change_nothing_and_repeat_nothing(cli, computed):
    cli("align", "a.nt", "b.ttl", "-o", "run")
    first = Path("run/alignment.sssom.tsv").read_bytes()
    computed.clear()
    limits = ["--threads", "1", "--memory", "9GB", "--gpu-memory", "1GB", "--device", "cpu"]
    cli("align", "a.nt", "b.ttl", "-o", "run", *limits)
    assert computed == []
    cli("align", "a.nt", "b.ttl", "-o", "other", *limits)
    assert Path("other/alignment.sssom.tsv").read_bytes() == first


def test_formats_written_before_are_rewritten_with_a_new_answer(cli):
    """None is left with the old answer, none is removed."""
    cli("align", "a.nt", "b.ttl", "-o", "run", "--write", "tsv", "--write", "same-as")
    before = {name: Path("run", name).read_bytes() for name in ("alignment.tsv", "alignment.nt")}
    with Path("a.nt").open("a") as file:
        file.write("<http://a/Zzyzx> <http://a/road_to> <http://a/Oslo> .\n")
    out, _ = cli("align", "a.nt", "b.ttl", "-o", "run", "--write", "sssom", "--json")
    files = ["alignment.sssom.tsv", "alignment.nt", "alignment.tsv", "doubtful.tsv", "unmatched.tsv"]
    assert sorted(json.loads(out)["files"]) == sorted([*files, "report.html"])
    for name, old in before.items():
        assert Path("run", name).read_bytes() != old
        assert found_links(f"run/{name}") == found_links("run/alignment.sssom.tsv")
    assert ("http://a/Zzyzx", "http://b/Zzyzx") in found_links("run/alignment.tsv")
    assert sorted(json.loads(Path("run/manifest.json").read_text())["results"]) == sorted(files)
    cli("verify", "run")


def test_a_pattern_is_known_by_the_files_it_finds(cli, computed):
    cli("align", "a*.nt", "b.ttl", "-o", "run")
    assert computed[:2] == ["source", "target"]
    computed.clear()
    cli("align", "a.nt", "b.ttl", "-o", "run", "--overwrite")
    assert computed == []
    Path("a2.nt").write_text("<http://a/New> <http://a/next> <http://a/Berlin> .\n")
    cli("align", "a*.nt", "b.ttl", "-o", "run", "--overwrite")
    assert computed[0] == "source"


def test_the_config_of_a_run_makes_the_same_run(cli, computed):
    cli("align", "a.nt", "b.ttl", "-o", "run", "--set", "names.top_k=7", "--seed", "3")
    computed.clear()
    cli("align", "a.nt", "b.ttl", "-o", "run", "--config", "run/config.toml")
    assert computed == []


# plan


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


# evaluate


def test_evaluate(cli):
    cli("align", "a.nt", "b.ttl", "-o", "run")
    out, _ = cli("evaluate", "run", "--links", "links.tsv", "--json")
    figures = json.loads(out)
    assert (figures["links"], figures["seeds"]) == (16, 0)
    assert set(figures["protocols"]) == {"open", "paper"}
    for protocol in figures["protocols"].values():
        assert protocol == {"hits@1": 1.0, "hits@5": 1.0, "hits@10": 1.0, "mrr": 1.0}
    for judged in ("alignment", "linked_ends", "no_counterpart"):
        assert figures[judged].pop("ece") < 0.1
        assert figures[judged] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
        assert figures["reliability"][judged][-1].keys() == {"from", "to", "count", "confidence", "right"}
    out, _ = cli("evaluate", "run", "--links", "links.tsv")
    assert "all pairs: a pair that is not among the links is wrong" in out
    assert "Reliability" not in out
    assert "Reliability" in cli("evaluate", "run", "--links", "links.tsv", "--reliability")[0]
    assert "against 16 links" in out
    assert "open" in out
    assert "paper" in out


def test_evaluate_does_not_count_seeds(cli):
    Path("seeds.tsv").write_text("http://a/Berlin\thttp://b/Berlin\n")
    cli("align", "a.nt", "b.ttl", "-o", "run", "--seeds", "seeds.tsv")
    figures = json.loads(cli("evaluate", "run", "--links", "links.tsv", "--json")[0])
    assert (figures["links"], figures["seeds"]) == (16, 1)
    wrong = {word: WORDS[place - 1] for place, word in enumerate(WORDS)}
    Path("wrong.tsv").write_text("".join(f"http://a/{s}\thttp://b/{t}\n" for s, t in wrong.items()))
    figures = json.loads(cli("evaluate", "run", "--links", "wrong.tsv", "--json")[0])
    assert figures["protocols"]["open"]["hits@1"] == 0
    assert figures["alignment"].pop("ece") > 0.9
    assert figures["alignment"] == {"precision": 0, "recall": 0, "f1": 0}


# bench and demo


def assert_bench_figures(figures: dict) -> None:
    """The keys as they were promised; programs read them."""
    assert [key for key in figures if key in BENCH_KEYS] == BENCH_KEYS
    assert set(figures["protocols"]) == {"open", "paper"}
    assert all(set(protocol) == RANKING for protocol in figures["protocols"].values())
    assert set(figures["alignment"]) == SHARES | {"ece"}
    assert set(figures["seconds"]) >= {"total", "source", "target", "names", "fused"}
    assert all(seconds >= 0 for seconds in figures["seconds"].values())
    assert figures["peak_rss_mb"] > 1
    assert figures["peak_gpu_mb"] == 0


def bench(cli, *arguments: str) -> dict:
    return json.loads(cli("bench", "pair", "--json", *arguments)[0])


def test_bench(cli):
    figures = bench(cli, "--train", "0.25")
    assert_bench_figures(figures)
    assert (figures["dataset"], figures["preset"], figures["train"], figures["seeds"]) == (
        "pair",
        "default",
        0.25,
        4,
    )
    assert figures["protocols"]["open"]["hits@1"] == 1
    out, err = cli("bench", "pair", "--train", "0")
    assert "pair, preset default, 0 seeds" in out
    assert [line.split()[0] for line in err.splitlines()][:3] == ["read", "source", "target"]


def test_bench_with_an_official_fold(cli):
    figures = bench(cli, "--fold", "2")
    assert_bench_figures(figures)
    assert figures["seeds"] == 4


def test_bench_in_the_other_direction(cli):
    """`Zzyzx` on the source side finds nothing alike; turned round, the same holds of `Atlantis`."""
    with Path("pair/rel_triples_1").open("a") as file:
        file.write("".join(f"http://a/{word}_City\thttp://a/next\thttp://a/Berlin\n" for word in WORDS))
    forth, back = bench(cli, "--train", "0"), bench(cli, "--train", "0", "--reverse")
    assert forth["protocols"]["open"] == {"hits@1": 1, "hits@5": 1, "hits@10": 1, "mrr": 1}
    assert back["no_counterpart"] == forth["no_counterpart"]
    assert back["protocols"]["open"]["hits@5"] == 1


def test_bench_depends_on_its_seed_alone(cli):
    timeless = [
        {
            key: value
            for key, value in bench(cli, "--seed", seed).items()
            if key not in ("seconds", "memory_mb", "peak_rss_mb")
        }
        for seed in "334"
    ]
    assert timeless[0] == timeless[1]
    assert timeless[0]["seeds"] == timeless[2]["seeds"] == 3


def test_bench_without_a_part(cli):
    assert bench(cli, "--train", "0", "--without", "structure")["protocols"]["open"]["hits@1"] == 1


def test_demo(cli):
    out, _ = cli("demo", "-o", "demo", "--json", "--languages", "en", "fr")
    figures = json.loads(out)
    assert_bench_figures(figures)
    assert figures["dataset"] == "demo-en-fr"
    assert figures["protocols"]["open"]["hits@1"] >= 0.68
    assert {path.name for path in Path("demo/pair").iterdir()} >= {
        "rel_triples_1",
        "rel_triples_2",
        "ent_links",
    }
    out, _ = cli("demo", "-o", "demo")
    assert "Some of the links" in out
    assert "The two graphs and their true links: demo/pair" in out
    again = json.loads(cli("bench", "demo/pair", "--train", "0", "--json")[0])
    assert np.isclose(again["protocols"]["open"]["hits@1"], figures["protocols"]["open"]["hits@1"], atol=0.02)


# inspect


ONTOLOGY = """
@prefix : <http://a/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix obo: <http://www.geneontology.org/formats/oboInOwl#> .
:lip a owl:Class ; rdfs:label "lip" ; obo:hasExactSynonym [ rdfs:label "labium" ] ;
  rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :part_of ; owl:someValuesFrom :face ] .
:face a owl:Class ; rdfs:label "face" ; owl:disjointWith :nose .
:nose a owl:Class ; owl:deprecated true .
:part_of a owl:ObjectProperty .
"""


def test_inspect_an_ontology(cli):
    Path("o.ttl").write_text(ONTOLOGY)
    graph = json.loads(cli("inspect", "o.ttl", "--json")[0])["graph"]
    assert graph["roles"] == {
        "classes": 2, "properties": 1, "vocabulary terms": 2, "deprecated terms": 1
    }  # fmt: skip
    assert graph["matched"] == {"classes": 2}
    assert {name: left["count"] for name, left in graph["not_matched"].items()} == {
        "properties": 1,
        "vocabulary terms": 2,
        "deprecated terms": 1,
    }
    assert graph["folded"] == {"class expressions": 1, "nodes with a text": 1}
    assert (graph["folded_statements"], graph["derived_statements"]) == (6, 2)
    assert list(graph["label_predicates"].values()) == [2]
    assert list(graph["synonym_predicates"].values()) == [1]
    out, _ = cli("inspect", "o.ttl")
    assert "hasExactSynonym 1" in out
    properties = json.loads(cli("inspect", "o.ttl", "--json", "--match", "properties")[0])["graph"]
    assert properties["matched"] == {"properties": 1}


def test_what_is_matched_is_an_option_of_align_and_plan(cli):
    Path("o.ttl").write_text(ONTOLOGY)
    Path("p.ttl").write_text(ONTOLOGY.replace("http://a/", "http://c/"))
    out, _ = cli("align", "o.ttl", "p.ttl", "-o", "run", "--match", "properties", "--json")
    answer = json.loads(out)
    assert answer["accepted"] + answer["unmatched_source"] == 1
    cli("plan", "o.ttl", "p.ttl", "--match", "classes", "--json")
    cli("align", "o.ttl", "o.ttl", "-o", "same", "--json")
    assert Path("same/same_iri.tsv").read_text().splitlines() == [
        "entity\tname", "http://a/face\tface", "http://a/lip\tlip"
    ]  # fmt: skip
    out, _ = cli("align", "o.ttl", "o.ttl", "-o", "other", "--json", "--same-iri", "off")
    assert json.loads(out)["same_iri"] == 0


@pytest.mark.parametrize("option", [("--match", "everything"), ("--same-iri", "perhaps")])
def test_wrong_choices_of_what_is_matched(cli, capsys, option):
    assert run(["align", "a.nt", "b.ttl", "-o", "run", *option]) == 2
    assert f"{' '.join(option)}: allowed are" in capsys.readouterr().err


def test_inspect(cli):
    Path("c.ttl").write_text(
        f'<urn:x:a> <urn:p> <urn:x:b>, <urn:x:b>, [] ; <{LABEL}> "A"@en, "A"@de, "Ä"@de .\n'
        f'<urn:x:c> <{LABEL}> "A" .'
    )
    out, _ = cli("inspect", "c.ttl", "--json")
    assert json.loads(out) == {
        "graph": {
            "entities": 4,
            "roles": {"individuals": 3},
            "described": {"individuals": 2},
            "blank_nodes": 1,
            "matched": {"individuals": 3},
            "not_matched": {"blank nodes": {"count": 1, "reason": "they have no IRI"}},
            "relations": 1,
            "triples": 2,
            "literals": 4,
            "duplicate_statements": 1,
            "rejected_lines": 0,
            "folded": {},
            "folded_statements": 0,
            "derived_statements": 0,
            "without_triples": 1,
            "degree_mean": 1.0,
            "degree_median": 1,
            "degree_max": 2,
            "named": 0.75,
            "names_shared": 1,
            "label_predicates": {LABEL: 4},
            "synonym_predicates": {},
            "languages": {"de": 2, "en": 1},
        }
    }
    out, _ = cli("inspect", "c.ttl")
    assert "de 2, en 1" in out


def test_inspect_a_pair(cli):
    facts = json.loads(cli("inspect", "pair", "--json")[0])
    assert (facts["source"]["entities"], facts["target"]["entities"], facts["links"]) == (17, 17, 16)
    assert facts["folds"] == ["1", "2"]
    assert "16 links; official folds: 1, 2" in cli("inspect", "pair")[0]


def test_inspect_counts_what_it_left_out(cli):
    with Path("a.nt").open("a") as file:
        file.write("rubbish\n")
    assert (
        json.loads(cli("inspect", "a.nt", "--json", "--max-errors", "1")[0])["graph"]["rejected_lines"] == 1
    )


# What all commands share


def test_quiet_leaves_the_result(cli):
    for place in (0, 5):
        arguments = ["align", "a.nt", "b.ttl", "-o", "run"]
        arguments.insert(place, "--quiet")
        out, err = cli(*arguments)
        assert err == ""
        assert "Written to" in out


def test_version(cli):
    assert cli("--version") == (f"largeea {__version__}\n", "")


def test_python_can_run_the_package():
    environment = {**os.environ, "PYTHONPATH": str(Path(largeea.__file__).parents[1])}
    for arguments, expected in (
        (["--version"], f"largeea {__version__}\n"),
        (["align", "--help"], "Usage: "),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "largeea", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "largeea", "nonsense"], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 2


@pytest.mark.parametrize("command", ["align", "plan", "evaluate", "bench", "demo", "inspect"])
def test_help_has_examples(cli, command):
    for flag in ("--help", "-h"):
        out, _ = cli(command, flag)
        assert f"Usage: largeea {command}" in out
        assert "Examples" in out
        assert f"largeea {command} " in out[out.index("Examples") :]
    assert command in cli("--help")[0]


def test_only_what_is_asked_for_is_imported():
    program = """
import sys
from largeea.cli import COMMANDS, run
def loaded():
    return sorted(name for name in COMMANDS if f"largeea.cli.{name.replace('-', '_')}" in sys.modules)
run(["-q", "status", "nowhere"])
one = loaded()
run(["nonsense"])
extras = [name for name in ("torch", "faiss", "matplotlib") if name in sys.modules]
print(one, loaded() == one, extras)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(largeea.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "['status'] True []\n"


def test_a_slip_is_met_with_the_command_that_was_meant(capsys):
    assert run(["experimnet", "overall"]) == 2
    message = capsys.readouterr().err
    assert "Did you mean" in message
    assert "'experiment'" in message


def test_help_lists_every_command(cli):
    for arguments in (["--help"], ["-h", "align"]):
        out, _ = cli(*arguments)
        assert all(f" {name} " in out for name in COMMANDS)


def test_without_a_command_there_is_help(capsys):
    assert run([]) == 2
    shown = capsys.readouterr()
    assert "Usage: largeea" in shown.out + shown.err
    assert "error" not in shown.err


def test_nothing_in_a_name_reaches_the_terminal(cli, capsys):
    evil = r"\u001b[31mred\u001b]0;title\u0007 \u009b2J \u202e [bold]markup[/bold] :key: \u0000"
    for side in "ab":
        Path(f"{side}.nt").write_text(f'<urn:{side}:1> <{LABEL}> "{evil}"@en .\n')
    out, err = cli("align", "a.nt", "b.nt", "-o", "run")
    assert "[bold]markup[/bold] :key:" in out.replace("\n", "")
    assert r"\x1b[31mred" in out
    name = "x\x1b[31m\x9b [red].nt"
    Path(name).write_text(Path("a.nt").read_text())
    shown = [out, err, *cli("inspect", name), *cli("inspect", name, "--json")]
    assert "x\\x1b[31m\\x9b [red].nt" in shown[2]
    Path(name).write_text("\x1b[31m rubbish")
    assert run(["inspect", name]) == 3
    for text in (*shown, *capsys.readouterr()):
        assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_nothing_in_a_traceback_reaches_the_terminal(capsys):
    name = "x\x1b[31m\x9b.nt"
    Path(name).write_text("\x1b]0;title\x07 rubbish")
    assert run(["--debug", "inspect", name]) == 3
    err = capsys.readouterr().err
    assert "Traceback" in err
    trace, message = err.rsplit("error: ", 1)
    for text in (trace, message):
        assert r"x\x1b[31m\x9b.nt" in text
    assert not [c for c in err if not c.isprintable() and c != "\n"]


def test_printable():
    assert printable("a\tb\nü 中 \U0001f5fc") == "a\tb\nü 中 \U0001f5fc"
    assert printable("\x1b[0m\x7f\x85\u202e\udcff") == r"\x1b[0m\x7f\x85\x202e\xdcff"


def test_a_terminal_without_the_alphabet_is_no_reason_to_fail():
    for side in "ab":
        Path(f"{side}.nt").write_text(
            f"<http://{side}/Zürich> <http://{side}/p> <http://{side}/中> .\n", encoding="utf-8"
        )
    command = [
        sys.executable,
        "-c",
        "from largeea.cli import main; main()",
        "align",
        "a.nt",
        "b.nt",
        "-o",
        "run",
    ]
    place = str(Path(largeea.__file__).parents[1])
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": place}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert r"Z\xfcrich" in done.stdout
