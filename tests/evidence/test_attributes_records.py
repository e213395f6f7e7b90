"""Records without labels: persons whose answer is known, and restaurants of the OAEI."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from largeea.evidence.attributes import attribute_values, literal_evidence, propose_by_values
from largeea.execution.settings import with_threads
from largeea.formats import read_graph
from largeea.graph import Attributes, KnowledgeGraph, Links, strings
from largeea.graph.same_iri import matched_kinds
from largeea.runs.artifacts import content_hash, load_artifact, save_artifact
from largeea.similarity import Similarity

SYLLABLES = [a + b for a in "bdfghklmnrst" for b in "aeio"]
FIELDS = {
    "given": ("givenName", "vorname"),
    "surname": ("familyName", "nachname"),
    "phone": ("telephone", "ruf"),
    "street": ("streetAddress", "anschrift"),
    "city": ("locality", "ort"),
    "birth": ("birthDate", "geboren"),
}


def words(random: np.random.Generator, count: int, syllables: int) -> np.ndarray:
    parts = random.choice(SYLLABLES, (count, syllables))
    return np.array(["".join(row) for row in parts.tolist()])


def with_typo(text: str, random: np.random.Generator) -> str:
    place = int(random.integers(len(text)))
    letter = "abcdefghijklmnopqrstuvwxyz"[int(random.integers(26))]
    return [text[:place] + text[place + 1 :], text[:place] + letter + text[place:]][int(random.integers(2))]


def persons(count: int, random: np.random.Generator) -> list[dict[str, str]]:
    """People; names and cities follow Zipf's law, so that some are common."""
    size = max(40, count // 10)
    drawn = {}
    for field, vocabulary in (("given", size // 2), ("surname", size), ("city", 50), ("road", size)):
        pool = words(random, vocabulary, 3)
        chance = 1 / np.arange(1, vocabulary + 1)
        drawn[field] = random.choice(pool, count, p=chance / chance.sum())
    houses, phones = random.integers(1, 200, count), random.integers(10**9, 10**10, count)
    years, months, days = random.integers(1930, 2005, count), *random.integers(1, (13, 29), (count, 2)).T
    return [
        {
            "given": drawn["given"][i],
            "surname": drawn["surname"][i],
            "phone": str(phones[i]),
            "street": f"{houses[i]} {drawn['road'][i]} street",
            "city": drawn["city"][i],
            "birth": f"{years[i]}-{months[i]:02}-{days[i]:02}",
        }
        for i in range(count)
    ]


def spelt(field: str, value: str, side: int, random: np.random.Generator) -> str:
    """A value as one side writes it."""
    if field == "phone":
        return f"({value[:3]}) {value[3:6]}-{value[6:]}" if side else f"{value[:3]}/{value[3:]}"
    if field == "birth":
        if random.random() < 0.3:
            return value[:4]
        return value if side == 0 else f"{value[8:]}.{value[5:7]}.{value[:4]}"
    text = str(value).title() if side else str(value)
    return with_typo(text, random) if random.random() < 0.2 else text


def record_graph(records: list[dict[str, str]], side: int, random: np.random.Generator) -> KnowledgeGraph:
    """Records in an order of their own, under IRIs that say nothing."""
    fields = list(FIELDS) if side == 0 else list(FIELDS)[::-1]
    values = [spelt(field, record[field], side, random) for record in records for field in fields]
    distinct, value = np.unique(values, return_inverse=True)
    count = len(records)
    rows = np.column_stack(
        [
            np.repeat(np.arange(count), len(fields)),
            np.tile(np.arange(len(fields)), count),
            value,
            np.zeros(count * len(fields), np.int64),
        ]
    )
    return KnowledgeGraph(
        strings(f"urn:{side}:{number:07}" for number in range(count)),
        strings([None] * count),
        strings(),
        np.empty((0, 3), np.int32),
        Attributes(
            rows, strings(FIELDS[field][side] for field in fields), strings(distinct.tolist()), strings([""])
        ),
    )


def record_pair(count: int, seed: int = 1) -> tuple[KnowledgeGraph, KnowledgeGraph, Links]:
    """Two graphs about `count` people, of whom each has 70 %, and who is who."""
    random = np.random.default_rng(seed)
    people = persons(count, random)
    known = [random.permutation(count)[: int(0.7 * count)] for _ in range(2)]
    graphs = [record_graph([people[i] for i in known[side]], side, random) for side in range(2)]
    shared, source, target = np.intersect1d(*known, return_indices=True)
    assert len(shared)
    return graphs[0], graphs[1], Links(np.column_stack([source, target]))


def precision_and_recall(found: Links, truth: Links) -> tuple[float, float]:
    right = len(set(map(tuple, found.pairs.tolist())) & set(map(tuple, truth.pairs.tolist())))
    return right / len(found), right / len(truth)


def likely(similarity: Similarity) -> Links:
    best = similarity.mutual_best()
    assert best.weight is not None
    return best.take(best.weight >= 0.5)


def test_records_without_labels_find_each_other() -> None:
    source, target, truth = record_pair(2000)
    values = attribute_values(source, target)
    proposed = propose_by_values(values, matched_kinds(source, target, Links.none()), 20)
    assert proposed.scores.min() > 0
    assert proposed.scores.max() <= 1
    evidence = literal_evidence(values, proposed.mutual_best(), proposed, seed=0)
    precision, recall = precision_and_recall(likely(evidence), truth)
    assert precision >= 0.95
    assert recall >= 0.95
    assert precision > precision_and_recall(proposed.mutual_best(), truth)[0]


def restaurants(folder: Path, work: Path) -> tuple[KnowledgeGraph, KnowledgeGraph, Links]:
    """Both graphs in UTF-8 and the reference links."""
    graphs = []
    for side in ("source", "target"):
        text = gzip.decompress((folder / f"{side}.rdf.gz").read_bytes()).decode("windows-1252")
        (work / f"{side}.rdf").write_text(text.replace("windows-1252", "utf-8", 1), "utf-8")
        graphs.append(read_graph(work / f"{side}.rdf"))
    reference = gzip.decompress((folder / "reference.rdf.gz").read_bytes()).decode()
    ends = [re.findall(rf"<entity{number} rdf:resource='([^']+)'", reference) for number in (1, 2)]
    pairs = [graph.find(strings(end)) for graph, end in zip(graphs, ends, strict=True)]
    return graphs[0], graphs[1], Links(np.column_stack(pairs))


def test_restaurants_find_each_other_by_their_attributes(shared_data: Path, tmp_path: Path) -> None:
    source, target, truth = restaurants(shared_data / "real_rdf" / "restaurants", tmp_path)
    assert len(truth) == 112
    values = attribute_values(source, target)
    paths = values["source"]["properties"].to_pylist()
    assert any(len(path.split()) == 3 for path in paths), "the city of the address of a restaurant"
    proposed = propose_by_values(values, matched_kinds(source, target, Links.none()), 50)
    evidence = literal_evidence(values, proposed.mutual_best(), proposed, seed=0)
    best, _ = evidence.best()
    assert (best[truth.source] == truth.target).mean() >= 0.98


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_storage_do_not_change_the_answer(threads: int, tmp_path: Path) -> None:
    source, target, _ = record_pair(3000)
    with with_threads(2):
        values = attribute_values(source, target)
        kinds = matched_kinds(source, target, Links.none())
        proposed = propose_by_values(values, kinds, 10)
        evidence = literal_evidence(values, proposed.mutual_best(), proposed, seed=7)
    with with_threads(threads):
        again = attribute_values(source, target)
        assert content_hash(again) == content_hash(values)
        save_artifact(again, tmp_path / "values")
        again = load_artifact(tmp_path / "values")
        assert content_hash(propose_by_values(again, kinds, 10)) == content_hash(proposed)
        repeated = literal_evidence(again, proposed.mutual_best(), proposed, seed=7)
    assert content_hash(repeated) == content_hash(evidence)
