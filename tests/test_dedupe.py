"""Duplicates within one graph, on graphs whose duplicates are known."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from largeea import dedupe, dedupe_files
from largeea.cli import run
from largeea.errors import InputError, UsageError
from largeea.evaluation import cluster_figures, evaluate
from largeea.explain import explain, find_entity
from largeea.finished import FinishedRun
from largeea.formats.frames import graph_of_table
from largeea.formats.links import write_alignment
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.matching.cardinality import Cardinality

SYLLABLES = [a + b for a, b in zip("bcdfghklmnprstvwxyz", "aeiouaeiouaeiouaeio", strict=True)]
CITIES = ["Dover", "Salem", "Troy", "Oxford", "Milton", "Chester", "Hudson", "Auburn"]


def person(random: np.random.Generator) -> dict[str, str]:
    """What is known about a person, first names and cities shared with others."""
    first, last = str(random.choice(SYLLABLES)), "".join(random.choice(SYLLABLES, 3))
    return {
        "name": f"{first}na {last}".title(),
        "born": f"{random.integers(1930, 2000)}-{random.integers(1, 13):02}-{random.integers(1, 29):02}",
        "city": str(random.choice(CITIES)),
        "phone": f"555-{random.integers(100, 1000)}-{random.integers(1000, 10_000)}",
    }


def mistyped(text: str, random: np.random.Generator) -> str:
    at = int(random.integers(1, len(text)))
    return text[:at] + str(random.choice(list("aeioust"))) + text[at + 1 :]


def records(copies: list[int], seed: int = 0, faults: bool = True) -> tuple[dict[str, list[str]], np.ndarray]:
    """A table with so many records of each person in random order, and the person of each record."""
    random = np.random.default_rng(seed)
    rows, owner = [], []
    for number, count in enumerate(copies):
        true = person(random)
        for copy in range(count):
            row = dict(true)
            if copy and faults:
                row["name"] = mistyped(row["name"], random)
                row[str(random.choice(["born", "city", "phone"]))] = ""
            rows.append(row)
            owner.append(number)
    order = random.permutation(len(rows))
    table = {"id": [f"R{place:05}" for place in range(len(order))]}
    table |= {field: [rows[at][field] for at in order] for field in rows[0]}
    return table, np.array(owner)[order]


def links_of(owner: np.ndarray) -> Links:
    """Each record with the first of the same person."""
    _, first, group = np.unique(owner, return_index=True, return_inverse=True)
    pairs = np.column_stack([first[group], np.arange(len(owner))])
    return Links(pairs[pairs[:, 0] != pairs[:, 1]])


def copies(people: int, seed: int = 1) -> list[int]:
    return np.random.default_rng(seed).choice([1, 2, 3], people, p=[0.5, 0.35, 0.15]).tolist()


def test_planted_duplicates_are_found():
    table, owner = records(copies(600))
    answer = dedupe(table)
    figures = evaluate(answer, links_of(owner))
    assert figures["alignment"]["f1"] > 0.97
    surest = figures["reliability"]["alignment"][-1]
    assert surest["from"] == 0.9
    assert surest["right"] > 0.95
    assert figures["clusters"]["pairwise"]["f1"] > 0.97
    assert figures["clusters"]["b_cubed"]["f1"] > 0.97


def test_exact_copies_one_to_three_times():
    table, owner = records(copies(400, seed=2), faults=False)
    figures = cluster_figures(dedupe(table), links_of(owner))
    assert figures["pairwise"]["f1"] > 0.99


def test_where_there_are_no_duplicates_hardly_any_are_accepted():
    table, owner = records([1] * 800)
    answer = dedupe(table)
    assert len(answer) < 0.02 * len(owner)


def test_no_entity_is_paired_with_itself_and_every_pair_is_there_once():
    answer = dedupe(records(copies(200))[0])
    assert answer.cardinality is Cardinality.WITHIN
    assert (answer.pairs[:, 0] < answer.pairs[:, 1]).all()
    assert len(np.unique(answer.pairs, axis=0)) == len(answer.pairs)
    paired = np.unique(answer.pairs)
    assert len(answer.unmatched_source_ids) + len(paired) == answer.source.size
    assert not len(answer.unmatched_target_ids)


def test_shared_neighbours_tell_which_equal_names_are_duplicates():
    """Works of which ten have each title; those that are the same have the same three authors."""
    random = np.random.default_rng(0)
    works, authors = 300, 400
    by = random.integers(0, authors, (works, 3))
    title = np.arange(works) % 30
    copied = random.permutation(works)[:120]
    of = np.concatenate([np.arange(works), copied])
    titles = [f"{SYLLABLES[one % 19]}{SYLLABLES[one % 7]} concerto {one}" for one in title[of]]
    people = [" ".join("".join(random.choice(SYLLABLES, 3)) for _ in range(2)) for _ in range(authors)]
    entities = [f"http://e/{place:05}" for place in range(len(of) + authors)]
    edges = [(place, 0, len(of) + int(who)) for place, one in enumerate(of) for who in by[one]]
    graph = KnowledgeGraph(
        strings(entities), strings(titles + people), strings(["by"]), np.array(edges, np.int32)
    )
    answer = dedupe(graph)
    confidence = {
        tuple(pair): chance for pair, chance in zip(answer.pairs.tolist(), answer.confidence, strict=True)
    }
    true = [(int(one), works + place) for place, one in enumerate(copied)]
    assert np.mean([confidence.get(pair, 0) >= 0.9 for pair in true]) > 0.95
    rivals = {
        (one, other): max(
            chance
            for pair, chance in [((-1, -1), 0.0), *confidence.items()]
            if pair != (one, other) and {one, other} & set(pair)
        )
        for one, other in true
    }
    assert np.mean([confidence.get(pair, 0) > rivals[pair] for pair in true]) > 0.95


def test_the_answer_does_not_depend_on_the_form_of_the_input(tmp_path: Path):
    table, _ = records(copies(100))
    path = tmp_path / "people.csv"
    lines = [",".join(table), *(",".join(row) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    pandas = pytest.importorskip("pandas")
    answers = [dedupe(given) for given in (table, path, pandas.DataFrame(table), graph_of_table(table))]
    for answer in answers[1:]:
        assert answer.pairs.tolist() == answers[0].pairs.tolist()


def test_files_can_be_explained_resumed_and_evaluated(tmp_path: Path, capsys):
    table, owner = records(copies(150))
    path, folder = tmp_path / "people.csv", tmp_path / "run"
    path.write_text(
        "\n".join([",".join(table), *(",".join(row) for row in zip(*table.values(), strict=True))]) + "\n"
    )
    done = dedupe_files(path, folder, formats=["sssom", "tsv", "parquet"])
    assert {"clusters.tsv", "unmatched.tsv", "doubtful.tsv", "report.html"} <= set(done.files)
    finished = FinishedRun(folder)
    assert finished.alignment.cardinality is Cardinality.WITHIN
    assert finished.alignment.clusters.tolist() == done.alignment.clusters.tolist()
    one, other = done.alignment.pairs[0].tolist()
    told = explain(finished, one, "source")
    assert told.status == "accepted"
    assert told.counterpart.entity.iri == done.alignment.source.entities[other].as_py()
    assert all(candidate.entity.iri != told.entity.iri for candidate in told.candidates)
    assert told.counterpart.is_counterpart
    several = int(np.argmax(np.bincount(done.alignment.pairs.ravel())))
    of_several = explain(finished, several, "source", candidates=0)
    pairs = done.alignment.pairs[(done.alignment.pairs == several).any(axis=1)]
    named = [of_several.counterpart, *of_several.candidates]
    assert len(named) == len(pairs) > 1, "only the first duplicate was called one"
    assert all(one.is_counterpart and one.paired_with is None for one in named)
    assert find_entity(finished.alignment, told.entity.iri) == (one, "source")
    answer = (folder / "alignment.sssom.tsv").read_bytes()
    assert run(["resume", str(folder), "--quiet"]) == 0
    assert (folder / "alignment.sssom.tsv").read_bytes() == answer
    truth = tmp_path / "links.tsv"
    ids = np.array(table["id"])
    pairs = ids[links_of(owner).pairs[:, ::-1]]
    truth.write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    capsys.readouterr()
    assert run(["evaluate", str(folder), "--links", str(truth), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["alignment"]["f1"] > 0.95
    assert figures["protocols"]["open"]["hits@1"] > 0.95


def test_pairs_that_are_forbidden_are_not_found(tmp_path: Path):
    table, _ = records(copies(100))
    answer = dedupe(table)
    wrong = [tuple(answer.source.entities.take(pair).to_pylist()) for pair in answer.links.pairs[:5]]
    forbidden = {tuple(pair) for pair in answer.links.pairs[:5].tolist()}
    again = dedupe(table, forbidden=[(other, one) for one, other in wrong])
    assert not forbidden & {tuple(pair) for pair in again.pairs.tolist()}


def test_all_given_duplicates_are_in_the_answer():
    """Whatever the records say, and although one record is in three of the pairs."""
    table, _ = records([1] * 30)
    *others, first = table["id"][:4]
    answer = dedupe(table, seeds=[(one, first) for one in others])
    given = {frozenset(answer.source.entities.take(pair).to_pylist()) for pair in answer.pairs[answer.given]}
    assert given == {frozenset((first, one)) for one in others}
    clusters = answer.clusters[answer.source.find(strings([first, *others]))]
    assert len(set(clusters.tolist())) == 1
    file = io.BytesIO()
    write_alignment(answer, file, "sssom")
    rows = [line for line in file.getvalue().decode().splitlines() if "ManualMappingCuration" in line]
    assert [line.rpartition("\t")[2] for line in rows] == ["n:1"] * 3


def test_input_without_duplicates_to_search(tmp_path: Path):
    with pytest.raises(InputError, match="1 entities that can be matched"):
        dedupe({"id": ["1"], "name": ["Ada Lovelace"]})
    with pytest.raises(UsageError, match="without a structure model"):
        dedupe(records([2] * 5)[0], config="largeea-r")
    with pytest.raises(InputError, match="no such file"):
        dedupe_files(tmp_path / "nothing.csv", tmp_path / "run")
