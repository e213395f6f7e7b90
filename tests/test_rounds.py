"""Evidence and confidence end to end, on pairs of graphs whose answer is known."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import largeea
from largeea import Alignment, Config, KnowledgeGraph, LargeEAWarning, Links, rounds
from largeea.config import DecisionConfig, EvidenceConfig
from largeea.graph import Attributes, strings
from largeea.material import Material
from largeea.round_evidence import Evidence, keeping
from largeea.rounds import have_settled
from largeea.runs.folder import read_manifest
from largeea.similarity import Similarity

SYLLABLES = np.array([a + b for a in "bdfghklmnprstvz" for b in "aeiou"])


def words(random: np.random.Generator, count: int, syllables: int) -> list[str]:
    """Distinct made-up words."""
    found: dict[str, None] = {}
    while len(found) < count:
        found |= dict.fromkeys("".join(row) for row in random.choice(SYLLABLES, (count, syllables)))
    return list(found)[:count]


def with_typo(text: str, random: np.random.Generator) -> str:
    place, letter = int(random.integers(len(text))), str(random.choice(list("aeioubdfgk")))
    return text[:place] + letter + text[place + 1 :]


def similar_names(count: int, random: np.random.Generator, words_each: int = 2) -> list[str]:
    """Distinct names of words that many share, so that wrong names are similar, too."""
    pool, found = words(random, count // 6, 3), dict[str, None]()
    while len(found) < count:
        found |= dict.fromkeys(" ".join(row) for row in random.choice(pool, (count, words_each)))
    return list(found)[:count]


def spelt(names: list[str], random: np.random.Generator, typos: float) -> list[str]:
    """The same names; a share of them with a typo or two."""
    told = [with_typo(name, random) if random.random() < typos else name for name in names]
    return [with_typo(name, random) if random.random() < typos / 2 else name for name in told]


def graph_of(side: str, names: list[str | None], triples: np.ndarray) -> KnowledgeGraph:
    iris = strings(f"http://{side}/{number:05}" for number in range(len(names)))
    relations = strings(f"http://{side}/r{number}" for number in range(4))
    return KnowledgeGraph(iris, strings(names), relations, np.unique(triples, axis=0))


def random_triples(random: np.random.Generator, size: int, per_entity: int = 3) -> np.ndarray:
    count = per_entity * size
    return np.column_stack([random.integers(0, high, count) for high in (size, 4, size)])


def moved(triples: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The triples under other ids; -1 stands for an entity that is not there."""
    told = np.column_stack([place[triples[:, 0]], triples[:, 1], place[triples[:, 2]]])
    return told[(told >= 0).all(axis=1)]


def figures(answer: Alignment, truth: Links) -> dict[str, float]:
    """Hits@1 by best pair of each source, F1 of accepted pairs."""
    right = set(map(tuple, truth.pairs.tolist()))
    pairs, accepted = (list(map(tuple, some.tolist())) for some in (answer.pairs, answer.links.pairs))
    hits, found = (len(right & set(some)) for some in (pairs, accepted))
    return {"hits": hits / len(right), "f1": 2 * found / (len(accepted) + len(right))}


def is_right(answer: Alignment, truth: Links) -> np.ndarray:
    right = set(map(tuple, truth.pairs.tolist()))
    return np.array([pair in right for pair in map(tuple, answer.pairs.tolist())])


# Structure that does not help


def named_pair(seed: int, size: int = 300) -> tuple[KnowledgeGraph, KnowledgeGraph, Links, np.ndarray]:
    """Similar names with typos, no edges; the truth; the counterpart of each source."""
    random = np.random.default_rng(seed)
    names, place = similar_names(size, random), random.permutation(size)
    spellings = np.array(spelt(spelt(names, random, 0.9), random, 0.9))
    nothing = np.empty((0, 3), np.int32)
    source = graph_of("a", list(names), nothing)
    target = graph_of("b", spellings[np.argsort(place)].tolist(), nothing)
    return source, target, Links(np.column_stack([np.arange(size), place])), place


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("edges", ["random", "permuted"])
def test_structure_that_is_useless_or_misleading_does_no_harm(edges: str, seed: int) -> None:
    source, target, truth, place = named_pair(seed)
    random = np.random.default_rng(seed + 10)
    triples = random_triples(random, source.size)
    if edges == "permuted":  # the same structure, of other entities
        other = moved(triples, random.permutation(place))
    else:
        other = random_triples(random, target.size)
    source, target = (
        replace(source, triples=np.unique(triples, axis=0)),
        replace(target, triples=np.unique(other, axis=0)),
    )
    list_all = DecisionConfig(doubtful=0)
    names_alone = Config(without=("evidence",), decision=list_all)
    by_names = figures(largeea.align(source, target, config=names_alone), truth)
    with pytest.warns(LargeEAWarning, match="structure says nothing"):
        with_evidence = figures(largeea.align(source, target, config=Config(decision=list_all)), truth)
    assert by_names["hits"] > 0.8, "names are good"
    assert with_evidence["hits"] >= by_names["hits"]
    assert with_evidence["f1"] >= by_names["f1"]


@pytest.mark.parametrize("seed", [1, 2])
def test_structure_that_helps_is_used(seed: int) -> None:
    source, target, truth, place = named_pair(seed)
    triples = random_triples(np.random.default_rng(seed + 10), source.size)
    source = replace(source, triples=np.unique(triples, axis=0))
    target = replace(target, triples=np.unique(moved(triples, place), axis=0))
    by_names = figures(largeea.align(source, target, config=Config(without=("evidence",))), truth)
    with_evidence = figures(largeea.align(source, target), truth)
    assert with_evidence["hits"] > by_names["hits"]
    assert with_evidence["f1"] > 0.97


def test_seeds_tell_how_much_names_and_structure_tell() -> None:
    """Names are those of other entities: seeds show it, and structure finds the counterparts."""
    random = np.random.default_rng(3)
    size, seeds = 300, 150
    names, place = words(random, size, 4), random.permutation(size)
    triples = random_triples(random, size)
    source = graph_of("a", list(names), triples)
    target = graph_of("b", random.permutation(names).tolist(), moved(triples, place))
    truth = Links(np.column_stack([np.arange(size), place]))
    answer = largeea.align(source, target, seeds=truth.take(np.arange(seeds)))
    assert figures(answer, truth)["hits"] > 0.95


@pytest.mark.parametrize(
    ("new", "new_before", "growth", "settled"),
    [
        (0.004, 0.1, 0.1, True),  # hardly any is new
        (0.05, 0.06, 0.0, True),  # as many replace others as before
        (0.05, 0.06, -0.01, True),
        (0.05, 0.06, 0.02, False),  # there are more of them
        (0.05, 0.2, 0.0, False),  # fewer and fewer are new
    ],
)
def test_when_anchors_have_settled(new: float, new_before: float, growth: float, settled: bool) -> None:
    assert have_settled(new, new_before, growth, least=0.005) == settled


def test_candidates_are_searched_only_while_anchors_change(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source, target, _ = overlapping_pair(1)
    with caplog.at_level("INFO", logger="largeea"):
        largeea.align(source, target, folder=tmp_path / "run")
    new = [float(share) for share in re.findall(r"round \d+: .* anchors, ([\d.]+)% of them new", caplog.text)]
    assert len(new) > 2
    timings = read_manifest(tmp_path / "run")["timings"]
    all_rounds = sum(name.startswith("worth-") for name in timings)
    assert all_rounds > 2
    assert len(timings["candidates"]) == sum(share >= 10 for share in new) < all_rounds


def sketches_of_rounds(config: Config, monkeypatch: pytest.MonkeyPatch, *graphs: KnowledgeGraph) -> list[int]:
    """By how many sketches each round scores candidates."""
    used, real = [], rounds.evidence_of

    def evidence_of(material: Material, *rest: Any) -> Evidence:
        used.append(material.sketches)
        return real(material, *rest)

    monkeypatch.setattr(rounds, "evidence_of", evidence_of)
    largeea.align(*graphs, config=config)
    return used


@pytest.mark.parametrize("most", [1, 2, 8])
def test_only_rounds_that_others_follow_are_rough(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, _ = overlapping_pair(1)
    config = Config(evidence=EvidenceConfig(rounds=most))
    used = sketches_of_rounds(config, monkeypatch, source, target)
    all_sketches = config.evidence.sketches_for(source.size + target.size)
    assert used == sorted(used)
    assert used[-1] == all_sketches
    assert (used[0] == rounds.ROUGH_SKETCHES) == (most > 1)


def test_a_rough_round_is_never_the_last_even_if_it_settles_all(monkeypatch: pytest.MonkeyPatch) -> None:
    source, _, _, _ = named_pair(1)
    triples = random_triples(np.random.default_rng(4), source.size)
    source = replace(source, triples=np.unique(triples, axis=0))
    copy = replace(source, entities=strings(f"http://b/{number:05}" for number in range(source.size)))
    assert sketches_of_rounds(Config(), monkeypatch, source, copy) == [rounds.ROUGH_SKETCHES, 16]


def test_a_higher_maximum_of_rounds_changes_nothing_once_anchors_have_settled() -> None:
    source, target, _ = overlapping_pair(1)
    tables = [
        largeea.align(source, target, config={"evidence": {"rounds": most}}).to_table() for most in (8, 20)
    ]
    assert tables[0].equals(tables[1])


def test_nearby_names_are_the_same_however_many_are_compared_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, _ = overlapping_pair(1, 300)
    found = []
    for at_once in (10_000, 70):
        monkeypatch.setattr("largeea.round_evidence.sources_at_once", lambda nearby, memory, n=at_once: n)
        folder = tmp_path / f"run-{at_once}"
        largeea.align(source, target, folder=folder)
        found.append((folder / "stages" / "names-nearby.safetensors").read_bytes())
    assert found[0] == found[1]


# Confidence


def calibration_error(chance: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    place = np.minimum((chance * bins).astype(int), bins - 1)
    return sum(
        abs(float(chance[place == one].mean()) - float(right[place == one].mean()))
        * float((place == one).mean())
        for one in np.unique(place)
    )


def overlapping_pair(seed: int, size: int = 1200) -> tuple[KnowledgeGraph, KnowledgeGraph, Links]:
    """Half of the entities of each graph have a counterpart; each graph has 70 % of the edges."""
    random = np.random.default_rng(seed)
    half = size // 2
    names, triples = np.array(similar_names(size + half, random)), random_triples(random, size + half)
    places, graphs = [], []
    for side, known in (("a", slice(0, size)), ("b", slice(half, size + half))):
        place = np.full(size + half, -1)
        place[known] = random.permutation(size)
        here = names[known][np.argsort(place[known])].tolist()
        seen = triples[random.random(len(triples)) < 0.7]
        graphs.append(graph_of(side, spelt(here, random, 0.6 * (side == "b")), moved(seen, place)))
        places.append(place[half:size])
    return graphs[0], graphs[1], Links(np.column_stack(places))


def test_confidence_is_calibrated_where_half_of_the_entities_have_no_counterpart() -> None:
    """On the mean of some pairs: with 140 knock-outs each, a single one has a calibration error by chance."""
    errors = []
    for seed in (1, 2, 3, 4):
        source, target, truth = overlapping_pair(seed)
        answer = largeea.align(source, target, config={"decision": {"doubtful": 0}})
        right = is_right(answer, truth)
        assert 0.4 < right.mean() < 0.6, "half of the pairs are wrong"
        assert figures(answer, truth)["f1"] > 0.9
        errors.append(calibration_error(answer.confidence, right))
    assert np.mean(errors) < 0.06


def test_a_copy_is_accepted_with_high_confidence() -> None:
    """A tree of 300 entities with unique names and its copy under other IRIs."""
    random = np.random.default_rng(4)
    size = 300
    names, place = similar_names(size, random, 3), random.permutation(size)
    child = np.arange(1, size)
    tree = np.column_stack([child, np.zeros(size - 1, int), (child - 1) // 3])
    source = graph_of("a", list(names), tree)
    target = graph_of("b", np.array(names)[np.argsort(place)].tolist(), moved(tree, place))
    answer = largeea.align(source, target)
    assert is_right(answer, Links(np.column_stack([np.arange(size), place]))).all()
    assert len(answer) == size
    assert answer.confidence.min() >= 0.95


def test_names_that_are_shared_are_not_believed() -> None:
    """30 names are each a person and a place, with nothing else to tell them apart."""
    random = np.random.default_rng(5)
    shared, unique = words(random, 30, 4), words(random, 200, 3)
    names = shared + shared + unique
    place = random.permutation(len(names))
    nothing = np.empty((0, 3), np.int32)
    source = graph_of("a", list(names), nothing)
    target = graph_of("b", np.array(names)[np.argsort(place)].tolist(), nothing)
    answer = largeea.align(source, target)
    right = is_right(answer, Links(np.column_stack([np.arange(len(names)), place])))
    twins = answer.pairs[:, 0] < 60
    assert right[~twins].all()
    assert not right[twins].all(), "there is no way to know"
    assert answer.confidence[twins & ~right].mean() < 0.7
    assert answer.confidence[~twins].mean() > 0.9


# Records


def records(side: str, people: list[tuple[str, str, str]], predicates: list[str]) -> KnowledgeGraph:
    """Literals only, under opaque IRIs."""
    values = sorted({value for person in people for value in person})
    rows = [
        [number, field, values.index(value), 0]
        for number, person in enumerate(people)
        for field, value in enumerate(person)
    ]
    return KnowledgeGraph(
        strings(f"http://{side}/{number:05x}" for number in range(len(people))),
        strings([None] * len(people)),
        strings(),
        np.empty((0, 3), np.int32),
        Attributes(np.array(rows, np.int32), strings(predicates), strings(values), strings([""])),
    )


def test_records_without_labels_are_aligned() -> None:
    random = np.random.default_rng(6)
    size = 120
    given, surnames = (np.array(words(random, count, 3)) for count in (25, 60))
    phones = random.permutation(np.arange(10**6, 10**7))[:size].tolist()
    people = list(
        zip(
            random.choice(given, size).tolist(),
            random.choice(surnames, size).tolist(),
            map(str, phones),
            strict=True,
        )
    )
    place = random.permutation(size)
    others = [people[i] for i in np.argsort(place)]
    shown = [(a.title(), b.upper(), f"{c[:3]}-{c[3:]}") for a, b, c in others]
    answer = largeea.align(
        records("a", people, ["givenName", "surname", "phone"]),
        records("b", shown, ["vorname", "nachname", "ruf"]),
    )
    assert figures(answer, Links(np.column_stack([np.arange(size), place]))) == {"hits": 1, "f1": 1}
    assert set(answer.evidence) == {"literals", "neighbours", "surroundings"}


def test_sources_with_an_anchor_keep_the_nearby_names_found_before() -> None:
    names = Similarity.from_entries([0, 1], [0, 1], [0.9, 0.8], (2, 3))
    before = Similarity.from_entries([0, 0, 1, 1], [0, 2, 1, 2], [0.9, 0.4, 0.8, 0.3], (2, 3))
    kinds = {"source": np.zeros(2, np.int8), "target": np.zeros(3, np.int8)}
    kept, again = keeping(before, np.array([False, True]), names, kinds)
    np.testing.assert_allclose(kept.to_dense(), [[0.9, 0, 0.4], [0, 0.8, 0]])
    assert again["source"].tolist() == [-1, 0]
    assert again["target"].tolist() == [0, 0, 0]
