"""What `largeea export` writes is what the run holds, in one block or in many."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import largeea
from largeea.cli import run as command
from largeea.errors import UsageError
from largeea.exporting import KINDS, export
from largeea.finished import FinishedRun
from largeea.formats.frames import graph_of_table

TOWNS = [
    f"{first}{second}" for first in ("Alt", "Neu", "Ober", "Unter") for second in ("burg", "dorf", "stadt")
]


def towns(side: str) -> largeea.KnowledgeGraph:
    """A ring of towns with names, aliases and populations."""
    count = len(TOWNS)
    return graph_of_table(
        {
            "id": [f"http://{side}/{i:02}" for i in range(count)],
            "name": [f"{name}<b>" if side == "a" else name for name in TOWNS],
            "alias": [f"{name} am See" if i % 3 == 0 else None for i, name in enumerate(TOWNS)],
            "next": [f"http://{side}/{(i + 1) % count:02}" for i in range(count)],
            "population": [1000 + 7 * i for i in range(count)],
        },
        "subject=id,name=name,aliases=alias,links=next,attributes=population",
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("exports") / "run"
    largeea.align(towns("a"), towns("b"), folder=place)
    return place


@pytest.fixture
def small_blocks(monkeypatch):
    for module in ("kinds", "files"):
        monkeypatch.setattr(f"largeea.exporting.{module}.ROW_GROUP", 10)


def test_the_alignment_is_its_table(folder, tmp_path):
    run = FinishedRun(folder)
    assert export(run, "alignment", tmp_path / "a.parquet") == len(run.alignment.pairs)
    assert pq.read_table(tmp_path / "a.parquet").equals(run.alignment.to_table())


def test_candidates_have_the_scores_of_every_channel(folder, tmp_path):
    run = FinishedRun(folder)
    rows = export(run, "candidates", tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    matrices = {"score": run.fused} | {f"score_{kind}": one for kind, one in run.evidence.items()}
    held = {
        (s, t)
        for one in matrices.values()
        for s, t in zip(one.rows.tolist(), one.indices.tolist(), strict=True)
    }
    found = list(
        zip(
            run.source.find(table["source"].combine_chunks()).tolist(),
            run.target.find(table["target"].combine_chunks()).tolist(),
            strict=True,
        )
    )
    assert found == sorted(held)
    assert rows == len(held)
    for name, matrix in matrices.items():
        kept = matrix.to_scipy().todok()
        expected = [float(kept[pair]) if pair in kept.keys() else None for pair in found]  # noqa: SIM118
        assert table[name].to_pylist() == expected, name
    alignment = run.alignment
    status = {
        tuple(pair): ok
        for pair, ok in zip(alignment.pairs.tolist(), alignment.accepted.tolist(), strict=True)
    }
    words = {True: "accepted", False: "doubtful", None: None}
    assert table["status"].to_pylist() == [words[status.get(pair)] for pair in found]
    assert set(status) <= held
    assert set(status.values()) >= {True}


@pytest.mark.parametrize("what", ["candidates", "similarity", "names"])
def test_blocks_change_nothing(folder, tmp_path, what, small_blocks, monkeypatch):
    export(folder, what, tmp_path / "small.parquet")
    monkeypatch.undo()
    export(folder, what, tmp_path / "whole.parquet")
    small, whole = pq.ParquetFile(tmp_path / "small.parquet"), pq.ParquetFile(tmp_path / "whole.parquet")
    assert small.num_row_groups > whole.num_row_groups
    assert small.read().equals(whole.read())


def test_the_matrix_can_be_loaded_by_scipy_and_as_triples(folder, tmp_path):
    run = FinishedRun(folder)
    export(folder, "similarity", tmp_path / "a.npz")
    export(folder, "similarity", tmp_path / "a.parquet")
    matrix = sp.load_npz(tmp_path / "a.npz")
    assert np.array_equal(matrix.toarray(), run.fused.to_scipy().toarray())
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert arrays["source"].tolist() == run.source.entities.to_pylist()
        assert arrays["target"].tolist() == run.target.entities.to_pylist()
        assert arrays["floor"] == run.fused.floor
    table = pq.read_table(tmp_path / "a.parquet")
    triples = sp.coo_array(
        (table["score"].to_numpy(), (table["source_id"].to_numpy(), table["target_id"].to_numpy())),
        matrix.shape,
    )
    assert np.array_equal(triples.toarray(), matrix.toarray())
    assert table["source"][0].as_py() == run.source.entities[table["source_id"][0].as_py()].as_py()


def test_names_and_aliases(folder, tmp_path):
    export(folder, "names", tmp_path / "a.parquet")
    rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert {(row["iri"], row["name"]) for row in rows if row["side"] == "target" and not row["alias"]} == {
        (f"http://b/{i:02}", name) for i, name in enumerate(TOWNS)
    }
    assert sum(row["alias"] for row in rows) == 2 * 4
    assert {row["weight"] for row in rows if not row["alias"]} == {1.0}


class Letters:
    """An encoder that counts letters."""

    dimension = 26

    def encode(self, names: list[str]) -> np.ndarray:
        counts = np.zeros((len(names), 26), np.float32)
        for row, name in enumerate(names):
            for letter in name.lower():
                if "a" <= letter <= "z":
                    counts[row, ord(letter) - 97] += 1
        return counts


@pytest.mark.filterwarnings("ignore:no pair reaches:largeea.errors.LargeEAWarning")
def test_embeddings_of_names(tmp_path, monkeypatch):
    monkeypatch.setattr("largeea.names.semantic.load_encoder", lambda *_, **__: Letters())
    monkeypatch.setattr("largeea.pipeline.encoder_fingerprint", lambda *_: "letters")
    config = {"names": {"encoder": "bert:letters", "search": "exact"}}
    largeea.align(towns("a"), towns("b"), config=config, folder=tmp_path / "run", execution={"device": "cpu"})
    run = FinishedRun(tmp_path / "run")
    count = export(run, "embeddings", tmp_path / "a.parquet")
    rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert count == len(rows) == 2 * (len(TOWNS) + 4)
    for row in rows:
        assert row["vector"] == Letters().encode([row["name"]])[0].tolist()
    export(run, "embeddings", tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["target_vectors"], Letters().encode(arrays["target_name"].tolist()))
        assert arrays["source"][0] == "http://a/00"


def test_what_cannot_be_exported(folder, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"has no embeddings: .* --preset largeea-r or largeea-g"):
        export(folder, "embeddings", tmp_path / "a.npz")
    with pytest.raises(UsageError, match=r"candidates can be written to \.parquet files, not to 'a\.npz'"):
        export(folder, "candidates", tmp_path / "a.npz")
    with pytest.raises(UsageError, match="cannot export 'wisdom'; there are: alignment, candidates"):
        export(folder, "wisdom", tmp_path / "a.parquet")
    monkeypatch.setattr("largeea.exporting.files._MOST_TEXT", 100)
    with pytest.raises(UsageError, match=r"too long for an \.npz file; write a \.parquet file"):
        export(folder, "similarity", tmp_path / "a.npz")
    largeea.align(
        towns("a"),
        towns("b"),
        seeds=[(f"http://a/{i:02}", f"http://b/{i:02}") for i in range(6)],
        config={"without": ["names"]},
        folder=tmp_path / "run",
    )
    with pytest.raises(UsageError, match="was made without the stage 'name-rows'"):
        export(tmp_path / "run", "names", tmp_path / "a.parquet")
    assert not list(tmp_path.glob("*.parquet")) + list(tmp_path.glob("*.npz"))


def test_the_command(folder, tmp_path, capsys):
    file = tmp_path / "a.parquet"
    assert command(["export", str(folder), "--what", "candidates", "-o", str(file), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == {"file": str(file), "rows": len(pq.read_table(file))}
    assert command(["export", str(folder), "-o", str(tmp_path / "a.txt")]) == 2
    assert "alignment can be written to .parquet files" in capsys.readouterr().err
    assert command(["export", str(tmp_path), "-o", str(file)]) == 3
    assert set(KINDS) == {"alignment", "candidates", "similarity", "embeddings", "names"}


# In notebooks


def test_html_is_small_and_escaped(folder):
    run = FinishedRun(folder)
    for shown in (run, run.alignment, run.source):
        text = shown._repr_html_()
        assert "<b>" not in text
        assert "&lt;b&gt;" in text
        assert text.count("<tr>") <= 12
        assert len(text) < 10_000
    assert "and 2 more" in run.source._repr_html_()
    assert str(folder) in run._repr_html_()
    assert "12 accepted" in run.alignment._repr_html_()


def test_a_duplicate_had_a_status_in_one_direction_only(tmp_path):
    people = {
        "id": ["1", "2", "3"],
        "name": ["Ada Lovelace", "Ada Lovelace", "Charles Babbage"],
        "born": ["1815-12-10", "1815-12-10", "1791-12-26"],
    }
    largeea.dedupe(people, folder=tmp_path / "run")
    export(tmp_path / "run", "candidates", tmp_path / "c.parquet")
    rows = pq.read_table(tmp_path / "c.parquet").to_pylist()
    status = {(row["source"], row["target"]): row["status"] for row in rows}
    assert status["1", "2"] == status["2", "1"] == "accepted"
    assert {status[pair] for pair in status if "3" in pair} <= {None}
