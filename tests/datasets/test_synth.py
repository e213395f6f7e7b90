"""Synthetic twins: sizes, truth, determinism, and how hard they are."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import largeea
from largeea.cli import run
from largeea.config import load
from largeea.datasets.synth import TWINS, find_twin, synthetic_pair, write_twin
from largeea.datasets.synth import folder as synth_folder
from largeea.errors import UsageError
from largeea.evaluation import accepted_pairs
from largeea.experiments.bench import bench
from largeea.graph import KnowledgeGraph, Links, Pair

TABLE = {
    "ids15k-en-fr": ((15_000, 15_000), (267, 210), (47_334, 40_864)),
    "ids15k-en-de": ((15_000, 15_000), (215, 131), (47_676, 50_419)),
    "ids100k-en-fr": ((100_000, 100_000), (400, 300), (309_607, 258_285)),
    "ids100k-en-de": ((100_000, 100_000), (381, 196), (335_359, 336_240)),
    "dbp1m-en-fr": ((1_877_793, 1_365_118), (603, 380), (7_031_172, 2_997_457)),
    "dbp1m-en-de": ((1_625_999, 1_112_970), (597, 241), (6_213_639, 1_994_876)),
}
"""The paper's table of data sets: entities, relations and triples of both sides."""
SMALL = {like: 1500 / TABLE[like][0][0] for like in TABLE}


@pytest.fixture(scope="module")
def dense() -> Pair:
    return synthetic_pair(find_twin("ids15k-en-de").scaled(0.1))


@pytest.fixture(scope="module")
def sparse() -> Pair:
    return synthetic_pair(find_twin("dbp1m-en-fr").scaled(0.002))


def neighbours(graph: KnowledgeGraph) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(graph.size)]
    for head, _, tail in graph.triples.tolist():
        found[head].add(tail)
        found[tail].add(head)
    return found


def facts_between(graph: KnowledgeGraph, linked: np.ndarray) -> set[tuple[int, int]]:
    """Ends of the facts between linked entities, as positions among the links."""
    place = np.full(graph.size, -1)
    place[linked] = np.arange(len(linked))
    ends = place[graph.triples[:, [0, 2]]]
    return {tuple(pair) for pair in ends[(ends >= 0).all(axis=1)].tolist()}


def hits_by_name(pair: Pair) -> float:
    figures, _ = bench(pair, "twin", "default", load(without=("structure",)), train=0.0)
    return float(figures["protocols"]["open"]["hits@1"])


# Sizes


@pytest.mark.parametrize("like", TWINS)
def test_the_table_of_the_paper(like: str) -> None:
    spec = find_twin(like)
    assert (spec.entities, spec.relations, spec.triples) == TABLE[like]
    for side in (0, 1):
        own, unknown = spec.own_facts[side], spec.unknown_facts[side]
        assert spec.shared_facts + own + unknown == spec.triples[side]
        assert unknown == 5 * spec.unknown[side], "the paper's rule for entities without counterpart"


@pytest.mark.parametrize("like", TWINS)
def test_counts_are_those_asked_for(like: str) -> None:
    spec = find_twin(like).scaled(SMALL[like])
    pair = synthetic_pair(spec, seed=3)
    for side, graph in enumerate((pair.source, pair.target)):
        entities, _, triples = (counts[side] for counts in TABLE[like])
        assert graph.size == pytest.approx(entities * SMALL[like], rel=0.01)
        assert len(graph.triples) == pytest.approx(triples * SMALL[like], rel=0.01)
        assert len(graph.relations) == spec.relations[side]
    assert len(pair.links) == spec.linked


def test_relations_grow_more_slowly_than_entities() -> None:
    assert find_twin("dbp1m-en-fr").scaled(0.1).relations == (380, 240)


# Facts


def test_no_fact_is_stated_twice_and_none_is_a_loop(dense: Pair, sparse: Pair) -> None:
    for graph in (dense.source, dense.target, sparse.source, sparse.target):
        assert len(np.unique(graph.triples, axis=0)) == len(graph.triples)
        assert (graph.triples[:, 0] != graph.triples[:, 2]).all()
        assert graph.degrees().min() >= 0
        assert (graph.degrees() == 0).mean() < 0.01


def test_degrees_and_relations_are_skewed(dense: Pair) -> None:
    degrees = np.sort(dense.source.degrees())[::-1]
    assert np.median(degrees) <= 5
    assert degrees[: len(degrees) // 50].sum() > 0.15 * degrees.sum()
    used = np.sort(np.bincount(dense.source.triples[:, 1]))[::-1]
    assert used[0] > 0.15 * used.sum()
    assert used[:10].sum() > 0.6 * used.sum()


@pytest.mark.parametrize("heterogeneity", [0.0, 0.3, 1.0])
def test_heterogeneity_is_the_share_of_facts_one_side_has_alone(heterogeneity: float) -> None:
    pair = synthetic_pair(find_twin("ids15k-en-fr").scaled(0.1).varied(heterogeneity=heterogeneity))
    source = facts_between(pair.source, pair.links.source)
    target = facts_between(pair.target, pair.links.target)
    alone = 1 - len(source & target) / len(target)
    by_chance = 0.15  # the same ends, but under another relation
    assert heterogeneity * (1 - by_chance) <= alone <= heterogeneity + 0.01


def test_whoever_has_no_counterpart_has_five_linked_neighbours(sparse: Pair) -> None:
    for graph, linked in ((sparse.source, sparse.links.source), (sparse.target, sparse.links.target)):
        known = set(linked.tolist())
        around = neighbours(graph)
        assert min(len(around[one] & known) for one in range(graph.size) if one not in known) >= 5


# Links and ids


def test_links_are_one_to_one_and_ids_do_not_betray_them(dense: Pair, sparse: Pair) -> None:
    for pair in (dense, sparse):
        assert len(np.unique(pair.links.source)) == len(np.unique(pair.links.target)) == len(pair.links)
        assert abs(np.corrcoef(pair.links.source, pair.links.target)[0, 1]) < 0.1


@pytest.mark.parametrize("overlap", [0.1, 0.5, 1.0])
def test_overlap_is_the_share_of_linked_entities_on_the_smaller_side(overlap: float) -> None:
    pair = synthetic_pair(find_twin("dbp1m-en-de").scaled(0.001).varied(overlap=overlap))
    assert len(pair.links) == pytest.approx(overlap * pair.target.size, abs=1)


# Names


def test_noise_makes_names_harder(dense: Pair) -> None:
    """The figure of IDS15K by names alone is .92 on real data."""
    spec = find_twin("ids15k-en-de").scaled(0.1)
    clean, noisy, hopeless = (
        hits_by_name(synthetic_pair(spec.varied(name_noise=noise))) for noise in (0.0, 0.44, 1.0)
    )
    assert clean > 0.93
    assert 0.87 < hits_by_name(dense) < 0.97
    assert 0.6 < noisy < 0.85
    assert hopeless < 0.5


def test_some_names_are_equal_and_hardly_any_is_used_twice(sparse: Pair) -> None:
    ours = sparse.source.names.take(sparse.links.source).to_pylist()
    theirs = sparse.target.names.take(sparse.links.target).to_pylist()
    same = np.mean([a == b for a, b in zip(ours, theirs, strict=True)])
    assert 0.1 < same < 0.5
    assert len(set(sparse.source.names.to_pylist())) > 0.99 * sparse.source.size


def test_the_whole_method_aligns_it(dense: Pair) -> None:
    answer = accepted_pairs(largeea.align(dense.source, dense.target), dense.links, Links.none())
    assert answer.precision > 0.9
    assert answer.recall > 0.7


# On disk


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    spec = find_twin("dbp1m-en-de").scaled(0.0005)
    for place, seed in (("one", 1), ("again", 1), ("other", 2)):
        write_twin(spec, seed, tmp_path / place, "largeea synth")
    assert digests(tmp_path / "one") == digests(tmp_path / "again")
    assert all(digests(tmp_path / "other")[name] != sha for name, sha in digests(tmp_path / "one").items())


def test_what_is_read_is_what_was_made(tmp_path: Path, sparse: Pair) -> None:
    write_twin(find_twin("dbp1m-en-fr").scaled(0.002), 0, tmp_path, "largeea synth")
    read = largeea.read(tmp_path)
    assert isinstance(read, Pair)
    for ours, theirs in ((read.source, sparse.source), (read.target, sparse.target)):
        assert ours.entities.equals(theirs.entities)
        assert ours.names.equals(theirs.names)
        assert ours.relations.equals(theirs.relations)
        assert np.array_equal(ours.triples, theirs.triples)
    assert np.array_equal(read.links.pairs, sparse.links.pairs)


def test_the_card_says_what_it_is_and_how_to_make_it_again(tmp_path: Path) -> None:
    command = "synth --like dbp1m-en-fr --scale 0.001 --overlap 0.6 --name-noise 0.1 --seed 5"
    assert run([*shlex.split(command), "-o", str(tmp_path / "one")]) == 0
    card = json.loads((tmp_path / "one" / "card.json").read_text())
    assert run([*shlex.split(card["command"])[1:], "-o", str(tmp_path / "again")]) == 0
    assert digests(tmp_path / "one") == digests(tmp_path / "again")
    files = digests(tmp_path / "one")
    del files["card.json"]
    assert card["sha256"] == files
    assert card["parameters"]["seed"] == 5
    assert card["parameters"]["overlap"] == 0.6
    assert card["counts"]["source"]["entities"] == 1878


def test_the_truth_about_who_has_no_counterpart(tmp_path: Path) -> None:
    card = write_twin(find_twin("dbp1m-en-fr").scaled(0.001), 0, tmp_path, "largeea synth")
    linked = [line.split("\t") for line in (tmp_path / "ent_links").read_text().splitlines()]
    read = largeea.read(tmp_path)
    assert isinstance(read, Pair)
    for side, graph, name in ((0, read.source, "source"), (1, read.target, "target")):
        unmatched = (tmp_path / f"unmatched_{side + 1}").read_text().splitlines()
        assert len(unmatched) == card["counts"][name]["without_counterpart"] > 0
        assert sorted(unmatched + [ends[side] for ends in linked]) == graph.entities.to_pylist()


def test_a_pair_in_which_every_entity_has_a_counterpart_could_not_be_aligned(tmp_path: Path) -> None:
    """The empty list of those without one was taken for an empty graph."""
    write_twin(find_twin("ids15k-en-de").scaled(0.01), 0, tmp_path / "pair", "largeea synth")
    assert not (tmp_path / "pair" / "unmatched_1").stat().st_size
    answer = largeea.align_files(tmp_path / "pair", output=tmp_path / "run")
    assert len(answer.alignment.links) > 100


# Bad parameters


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--like dbp2m-en-fr", "unknown data set 'dbp2m-en-fr'; known: ids15k-en-fr"),
        ("--like ids15k-en-fr --scale 0", "scale is 0; give a number above 0"),
        ("--like ids15k-en-fr --scale -1", "scale is -1"),
        ("--like ids15k-en-fr --scale nan", "scale is nan"),
        ("--like ids15k-en-fr --scale 0.001", "would link 15 entities"),
        ("--like ids15k-en-fr --scale 1e9", "50,000,000 is the most"),
        ("--like ids15k-en-fr --overlap 1.5", "overlap is 1.5; give a share between 0 and 1"),
        ("--like ids15k-en-fr --overlap 0", "would link 0 entities"),
        ("--like ids15k-en-fr --heterogeneity -0.1", "heterogeneity is -0.1"),
        ("--like ids15k-en-fr --name-noise nan", "name-noise is nan"),
    ],
)
def test_bad_parameters(options: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["synth", *options.split(), "-o", str(tmp_path / "new")]) == UsageError.exit_code
    assert words in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "new").exists()


def test_a_folder_in_use_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("precious")
    arguments = ["synth", "--like", "ids15k-en-fr", "--scale", "0.01", "-o", str(tmp_path)]
    assert run(arguments) == UsageError.exit_code
    assert "not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_interrupted_twin_is_no_folder_and_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(path: Path) -> str:
        raise KeyboardInterrupt

    spec, folder = find_twin("dbp1m-en-de").scaled(0.0005), tmp_path / "twin"
    with monkeypatch.context() as patch:
        patch.setattr(synth_folder, "file_hash", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_twin(spec, 1, folder, "largeea synth")
    assert not folder.exists()
    write_twin(spec, 1, folder, "largeea synth")
    assert [path.name for path in tmp_path.iterdir()] == ["twin"]


def test_too_few_linked_entities_for_their_facts() -> None:
    crowded = replace(find_twin("ids15k-en-fr"), entities=(60, 60), relations=(2, 2))
    with pytest.raises(UsageError, match="60 linked entities are too few"):
        synthetic_pair(crowded)
