"""Runs that are repeated: the same bytes, nothing computed twice, nothing old kept."""

from __future__ import annotations

import json
from pathlib import Path

from towns import found_links


def test_the_same_run_gives_the_same_bytes(cli):
    formats = ["--write", "sssom", "--write", "parquet", "--write", "alignment-api"]
    for name in ("one", "two"):
        cli("align", "a.nt", "b.ttl", "-o", name, *formats)
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
