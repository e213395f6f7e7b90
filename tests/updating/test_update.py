"""Updates of a run whose right answer is known: by what was planted, and by a full run on the new graphs."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import largeea
from largeea import formats
from largeea.cli import run as command
from largeea.errors import InputError, UsageError
from largeea.finished import FinishedRun
from largeea.matching import decision
from largeea.report.stored import StoredRun
from largeea.runs.store import FolderStore


@pytest.fixture
def computed(monkeypatch) -> list[str]:
    """The functions of all stages that are computed."""
    found: list[str] = []
    save = FolderStore.save

    def saved(self, handle, *more):
        found.append(handle.call.function.rpartition(".")[2])
        save(self, handle, *more)

    monkeypatch.setattr(FolderStore, "save", saved)
    return found


def changes(folder: Path) -> dict[str, set[tuple[str, str]]]:
    """The links in `changes.tsv` by what became of them."""
    with (folder / "changes.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {
        kind: {(row["source"], row["target"]) for row in rows if row["change"] == kind}
        for kind in ("new", "changed", "gone", "held")
    }


def content(folder: Path) -> dict[str, str]:
    """A hash of each file of a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_nothing_changed(case, links, computed, tmp_path):
    shutil.copy(case.folder / "source.nt", tmp_path / "same.nt")
    before = FinishedRun(case.run).alignment
    answer = largeea.update(case.run, tmp_path / "run2", source=tmp_path / "same.nt")
    assert answer.alignment.pairs.tolist() == before.pairs.tolist()
    assert answer.alignment.confidence.tolist() == before.confidence.tolist()
    found = changes(tmp_path / "run2")
    assert found["held"] == set(links(answer))
    assert not (found["new"] | found["changed"] | found["gone"])
    compute = {
        "ngram_similarity",
        "ngrams_of_renamed",
        "surroundings_again",
        "neighbour_evidence",
        "likelihood",
    }
    assert not compute & set(computed)


def test_a_planted_new_entity(case, links, tmp_path):
    old = case.source.without(17).write(tmp_path / "old.nt")
    largeea.align_files(old, case.folder / "target.nt", tmp_path / "run")
    answer = largeea.update(tmp_path / "run", tmp_path / "run2", source=case.folder / "source.nt")
    assert case.pair(17) in links(answer)
    found = changes(tmp_path / "run2")
    assert case.pair(17) in found["new"]
    assert len(found["held"]) > 180


def test_an_entity_is_gone(case, links, tmp_path):
    new = case.source.without(17).write(tmp_path / "new.nt")
    answer = largeea.update(case.run, tmp_path / "run2", source=new)
    assert case.pair(17) not in links(answer)
    assert case.pair(17) in changes(tmp_path / "run2")["gone"]


def test_a_planted_rename(case, links, tmp_path):
    """Two entities swap all that they say: their links follow, with the earlier target told."""
    swap = {3: 8, 8: 3}
    names = {number: case.source.names[swap.get(number, number)] for number in case.source.names}
    triples = frozenset((swap.get(a, a), r, swap.get(b, b)) for a, r, b in case.source.triples)
    new = replace(case.source, names=names, triples=triples).write(tmp_path / "new.nt")
    answer = largeea.update(case.run, tmp_path / "run2", source=new)
    crossed = {(case.source.iri(a), case.target.iri(b)) for a, b in swap.items()}
    assert crossed <= set(links(answer))
    assert crossed <= changes(tmp_path / "run2")["changed"]


@pytest.mark.parametrize("side", ["source", "target"])
def test_changed_triples_end_as_in_a_full_run(case, links, tmp_path, side):
    graph = getattr(case, side)
    left_out = frozenset(sorted(graph.triples)[::12])
    changed = replace(graph, triples=graph.triples - left_out)
    new = changed.without(5).write(tmp_path / "new.nt")
    answer = largeea.update(case.run, tmp_path / "run2", **{side: new})
    places = [new if side == name else case.folder / f"{name}.nt" for name in ("source", "target")]
    full = largeea.align_files(*places, tmp_path / "full")
    stages = json.loads((tmp_path / "run2" / "manifest.json").read_text())["stages"]
    assert stages["surroundings"]["function"].endswith("surroundings_again")
    agreed = set(links(answer)) & set(links(full))
    assert len(agreed) >= 0.98 * max(len(links(answer)), len(links(full)))
    assert case.pair(5) not in links(answer)


def test_weights_and_calibration_are_kept_where_literals_tell_nothing(case, tmp_path):
    """The earlier run left such literals out after a round, and was taken for one with other settings."""
    for number, side in enumerate(("source", "target")):
        graph, random = getattr(case, side), np.random.default_rng(number)
        heights = random.integers(100, 10_000, len(graph.names))
        path = graph.write(tmp_path / f"{side}.nt")
        lines = (
            f'<{graph.iri(entity)}> <http://{side}/height> "{height}" .\n'
            for entity, height in zip(graph.names, heights, strict=True)
        )
        path.write_text(path.read_text() + "".join(lines))
    new = tmp_path / "new.nt"
    new.write_text(
        (tmp_path / "source.nt").read_text()
        + f'<{case.source.iri(9)}> <http://www.w3.org/2000/01/rdf-schema#label> "Else" .\n'
    )
    largeea.align_files(tmp_path / "source.nt", tmp_path / "target.nt", tmp_path / "run")
    largeea.update(tmp_path / "run", tmp_path / "run2", source=new)
    stages = json.loads((tmp_path / "run2" / "manifest.json").read_text())["stages"]
    assert "literals" in stages
    assert not StoredRun(tmp_path / "run").weights.get("literals")
    for kept in ("names-worth", "worth-1", "calibration"):
        assert stages[kept]["function"].endswith("as_it_was")


@pytest.mark.parametrize("changed_since", [False, True])
def test_a_graph_that_is_not_given_is_read_again_only_if_it_changed(
    case, tmp_path, monkeypatch, changed_since
):
    places = [
        shutil.copy(case.folder / f"{side}.nt", tmp_path / f"{side}.nt") for side in ("source", "target")
    ]
    largeea.align_files(*places, tmp_path / "run")
    if changed_since:
        case.target.without(17).write(tmp_path / "target.nt")
    read: list[Path] = []
    reader = formats.read_graph
    monkeypatch.setattr(formats, "read_graph", lambda place, *how: read.append(place) or reader(place, *how))
    new = case.source.without(18).write(tmp_path / "new.nt")
    answer = largeea.update(tmp_path / "run", tmp_path / "run2", source=new)
    assert read == [new, tmp_path / "target.nt"][: 1 + changed_since]
    assert answer.alignment.target.size == len(case.target.names) - changed_since


def test_an_updated_run_is_a_run_like_any_other(case, tmp_path, capsys):
    new = case.source.without(17).write(tmp_path / "new.nt")
    run2 = tmp_path / "run2"
    assert command(["update", str(case.run), "--source", str(new), "-o", str(run2), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert "changes.tsv" in said["files"]
    assert said["changes"] == {kind: len(rows) for kind, rows in changes(run2).items()}
    assert said["changes"]["gone"] == 1
    before = content(run2 / "stages")
    truth = tmp_path / "truth.tsv"
    truth.write_text("".join("\t".join(case.pair(number)) + "\n" for number in range(200) if number != 17))
    some = case.source.iri(3)
    merged = tmp_path / "merged.nt"
    for arguments in (
        ["report", run2], ["verify", run2], ["status", run2], ["evaluate", run2, "--links", truth],
        ["explain", run2, some], ["merge", run2, "-o", merged], ["resume", run2],
    ):  # fmt: skip
        assert command([*map(str, arguments)]) == 0, (arguments, capsys.readouterr().err)
    assert content(run2 / "stages") == before, "resume had nothing to do"


def test_the_history_of_confidence(case, tmp_path):
    """After two updates, a link that holds has two earlier confidences; the second starts from the first."""
    runs = [tmp_path / f"run{number}" for number in (2, 3)]
    for before, after, gone in zip((case.run, runs[0]), runs, (17, 18), strict=True):
        new = case.source.without(17).without(gone).write(tmp_path / f"without-{gone}.nt")
        largeea.update(before, after, source=new)
    with (runs[1] / "changes.tsv").open(encoding="utf-8") as file:
        rows = {row["source"]: row for row in csv.DictReader(file, delimiter="\t")}
    assert len(rows[case.source.iri(3)]["earlier_confidence"].split()) == 2
    record = json.loads((runs[1] / "manifest.json").read_text())["stages"]
    assert record["surroundings"]["function"].endswith("surroundings_again")


def test_the_earlier_run_may_be_removed_after_an_update(case, tmp_path):
    run, run2 = tmp_path / "run", tmp_path / "run2"
    shutil.copytree(case.run, run)
    largeea.update(run, run2, source=case.source.without(17).write(tmp_path / "new.nt"))
    shutil.rmtree(run)
    before = content(run2 / "stages")
    assert command(["resume", str(run2), "--quiet"]) == 0
    assert content(run2 / "stages") == before


def test_reviews_are_taken_along(case, tmp_path):
    run, run2 = tmp_path / "run", tmp_path / "run2"
    shutil.copytree(case.run, run)
    (run / "reviews.tsv").write_text("reviews\n")
    largeea.update(run, run2, source=case.source.without(17).write(tmp_path / "new.nt"))
    assert (run2 / "reviews.tsv").read_text() == "reviews\n"


def test_an_update_that_is_stopped_can_be_resumed(case, links, tmp_path, monkeypatch):
    new = case.source.without(17).write(tmp_path / "new.nt")
    whole = links(largeea.update(case.run, tmp_path / "whole", source=new))
    before = content(case.run)

    def stop(*_):
        raise MemoryError

    with monkeypatch.context() as stopped:
        stopped.setattr(decision, "decide", stop)
        with pytest.raises(MemoryError):
            largeea.update(case.run, tmp_path / "run2", source=new)
    assert content(case.run) == before, "nothing of the earlier run is touched"
    with pytest.raises(InputError, match="not finished"):
        largeea.update(tmp_path / "run2", tmp_path / "run3", source=new)
    assert command(["resume", str(tmp_path / "run2"), "--quiet"]) == 0
    assert set(whole) == changes(tmp_path / "run2")["held"] | changes(tmp_path / "run2")["new"]


def test_too_much_changed(case, tmp_path, caplog):
    caplog.set_level("INFO", "largeea")
    other = replace(case.source, triples=frozenset((b, "of", a) for a, _, b in case.source.triples))
    largeea.update(case.run, tmp_path / "run2", source=other.write(tmp_path / "new.nt"))
    assert "all is computed again" in caplog.text
    stages = json.loads((tmp_path / "run2" / "manifest.json").read_text())["stages"]
    assert stages["semantic"]["function"].endswith("ngram_similarity")


def test_what_cannot_be_updated(case, tmp_path):
    with pytest.raises(InputError, match="is not a run folder"):
        largeea.update(tmp_path, tmp_path / "run2", source=case.folder / "source.nt")
    with pytest.raises(UsageError, match="nothing to update"):
        largeea.update(case.run, tmp_path / "run2")
    with pytest.raises(UsageError, match="give another folder"):
        largeea.update(case.run, case.run, source=case.folder / "source.nt")
    with pytest.raises(InputError, match="no such file"):
        largeea.update(case.run, tmp_path / "run2", source=tmp_path / "missing.nt")
    largeea.dedupe_files(case.folder / "source.nt", tmp_path / "duplicates")
    with pytest.raises(UsageError, match=r"cannot be updated.*largeea dedupe .*source\.nt -o .*run2"):
        largeea.update(tmp_path / "duplicates", tmp_path / "run2", source=case.folder / "source.nt")


def test_changed_settings_are_refused_by_the_command(case, capsys):
    assert command(["update", str(case.run), "--set", "names.top_k=5", "-o", "run2"]) == 2
    assert "--set" in capsys.readouterr().err
