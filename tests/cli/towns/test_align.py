"""What `align` finds, with which inputs and options, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from towns import EXPECTED, WORDS, found_links

from largeea.cli import run
from largeea.formats.links import FORMATS


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
