"""A pair small enough to know every word of the explanation, and the command on a ring of towns."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from largeea.cli import run
from largeea.config import Config
from largeea.errors import UsageError
from largeea.evidence import evidence_edges, learn_agreement, neighbour_evidence
from largeea.evidence.kernels import STEPS
from largeea.explain import Entity, Verdict, explain, find_entity, shared_evidence
from largeea.finished import FinishedRun
from largeea.graph import Attributes, KnowledgeGraph, Links, strings
from largeea.graph.same_iri import matched_kinds
from largeea.matching.alignment import Alignment
from largeea.runs.folder import Run
from largeea.similarity import Similarity

ANNA, BERT, BERLIN, ULM = range(4)  # in the source; in the target ULM is someone else's namesake
MAYOR, LIVES = range(2)


def graph(
    side: str,
    names: list[str | None],
    triples: list[tuple[int, int, int]],
    literals: list[tuple[int, str, str]] | tuple[()] = (),
) -> KnowledgeGraph:
    """Literals are entity, predicate and value; a value may end in a language, as in `blue@en`."""
    predicates = sorted({predicate for _, predicate, _ in literals})
    values = sorted({value.partition("@")[0] for *_, value in literals})
    tags = sorted({value.partition("@")[2] for *_, value in literals})
    rows = [
        (
            entity,
            predicates.index(predicate),
            values.index(value.partition("@")[0]),
            tags.index(value.partition("@")[2]),
        )
        for entity, predicate, value in literals
    ]
    return KnowledgeGraph(
        strings(f"http://{side}/{number}" for number in range(len(names))),
        strings(names),
        strings([f"http://{side}/mayor", f"http://{side}/lives"]),
        np.array(triples),
        Attributes(np.array(rows).reshape(-1, 4), strings(predicates), strings(values), strings(tags)),
    )


SOURCE = graph(
    "s",
    ["Anna", "Bert", "Berlin", "Ulm"],
    [(ANNA, LIVES, BERLIN), (BERT, LIVES, BERLIN), (BERLIN, MAYOR, BERT)],
)
TARGET = graph(
    "t",
    ["Anna", "Bert", "Berlin", "anna", None],
    [(ANNA, LIVES, BERLIN), (BERT, LIVES, BERLIN), (BERLIN, LIVES, BERT), (BERLIN, MAYOR, BERT)],
)
SHAPE = SOURCE.size, TARGET.size
SEEDS = Links(np.array([[BERLIN, BERLIN]]))
ANCHORS = Links(np.array([[BERLIN, BERLIN], [BERT, BERT]]), np.array([1, 0.5]))
NAME = Similarity.from_entries([0, 0, 0, 1, 3, 3], [0, 3, 1, 1, 0, 2], [1, 1, 0.25, 1, 0.5, 0.125], SHAPE)
NEIGHBOURS = Similarity.from_entries([0, 0, 1], [0, 1, 1], [0.25, 0.75, 0.5], SHAPE)
FUSED = Similarity.from_entries(
    [0, 0, 0, 1, 3, 3], [0, 3, 1, 1, 0, 2], [0.75, 0.5, 0.25, 1, 0.5, 0.125], SHAPE
)
ALIGNMENT = Alignment(
    SOURCE, TARGET, [[BERLIN, BERLIN], [BERT, BERT], [ANNA, ANNA]], [1, 0.5, 0.25], [True, True, False]
)


def reader() -> None:
    """Stands for whatever made a stage of a run that is written by hand."""


def stored(folder: Path, **stages: object) -> FinishedRun:
    """A finished run with these stages; `_` in a name stands for `-`."""
    with Run(folder) as made:
        made.begin(Config())
        made.finish(
            [
                made.stage.given(name.replace("_", "-"), name, lambda value=value: value, reader)
                for name, value in stages.items()
            ]
        )
    return FinishedRun(folder)


def evidence_of(source: KnowledgeGraph, target: KnowledgeGraph, anchors: Links) -> dict[str, object]:
    """The stages that the evidence of a round with these anchors leaves."""
    edges = evidence_edges(source, target, True)
    agreement = learn_agreement(edges, anchors)
    kinds = matched_kinds(source, target, Links.none())
    neighbours = neighbour_evidence(edges, anchors, agreement, kinds, Links.none(), 50)
    stages = {"edges": edges, "anchors_1": anchors, "agreement": agreement, "neighbours": neighbours}
    return {"source": source, "target": target, **stages}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return stored(
        tmp_path_factory.mktemp("explain") / "run",
        **evidence_of(SOURCE, TARGET, ANCHORS)
        | {"given_seeds": SEEDS, "names": NAME, "neighbours": NEIGHBOURS, "fused": FUSED},
        alignment=ALIGNMENT.to_arrays(),
    )


def test_a_doubtful_pair(finished: FinishedRun) -> None:
    found = explain(finished, ANNA, "source")
    assert (found.status, found.confidence, found.seed) == ("doubtful", 0.25, False)
    assert found.entity == Entity("http://s/0", "Anna")
    assert found.counterpart is not None
    assert found.counterpart.entity == Entity("http://t/0", "Anna")
    assert found.counterpart.fused == Verdict(0.75, 1)
    assert found.counterpart.channels == {"name": Verdict(1, 1), "neighbours": Verdict(0.25, 2)}
    assert found.counterpart.paired_with is None


def test_rivals_come_best_first_with_their_owners(finished: FinishedRun) -> None:
    namesake, bert = explain(finished, ANNA, "source").candidates
    assert namesake.entity == Entity("http://t/3", "anna")
    assert namesake.channels == {"name": Verdict(1, 1), "neighbours": None}
    assert namesake.paired_with is None
    assert bert.paired_with == Entity("http://s/1", "Bert")
    only = explain(finished, ANNA, "source", candidates=1).candidates
    assert [one.entity.iri for one in only] == ["http://t/3"]
    assert explain(finished, ANNA, "source", candidates=0).candidates == ()


def test_from_the_other_side_it_is_the_same_pair(finished: FinishedRun) -> None:
    source, target = explain(finished, ANNA, "source"), explain(finished, ANNA, "target")
    assert (target.status, target.confidence) == ("doubtful", 0.25)
    assert target.counterpart is not None
    assert target.counterpart.entity == source.entity
    assert target.witnesses == source.witnesses
    assert target.counterpart.fused == Verdict(0.75, 1)
    assert [one.entity.name for one in target.candidates] == ["Ulm"]


def test_without_a_pair_the_best_candidate_is_looked_at(finished: FinishedRun) -> None:
    found = explain(finished, ULM, "source")
    assert (found.status, found.confidence, found.counterpart) == ("unmatched", None, None)
    assert [(one.entity.name, one.paired_with and one.paired_with.name) for one in found.candidates] == [
        ("Anna", "Anna"),
        ("Berlin", "Berlin"),
    ]
    assert found.witnesses == ()
    stranger = explain(finished, 4, "target")
    assert (stranger.status, stranger.candidates, stranger.entity.name) == ("unmatched", (), None)


def test_a_seed_is_called_one(finished: FinishedRun) -> None:
    assert explain(finished, BERLIN, "source").seed
    assert not explain(finished, BERT, "source").seed


def test_to_json_is_plain(finished: FinishedRun) -> None:
    plain = json.loads(json.dumps(explain(finished, ANNA, "source").to_json()))
    assert plain["counterpart"]["channels"]["name"] == {"score": 1.0, "rank": 1}
    assert plain["candidates"][0]["channels"]["neighbours"] is None
    assert plain["witnesses"][0]["source_neighbour"] == {"iri": "http://s/2", "name": "Berlin"}


# What neighbour evidence is made of


def test_witnesses_are_the_anchored_neighbours_strongest_first(tmp_path: Path) -> None:
    """Three in the first city, one in the second, one of the three its mayor; the target has told more.

    Living somewhere agrees 4 times of 4, being mayor once of 1: 4 / (4 + 5) and 1 / (1 + 5). The mayor lives
    there, so both relations agree once with each other, too. All four live in one city only and no two cities
    share a mayor, so each edge of a city tells all there is to it.
    """
    people = [(person, LIVES, city) for person, city in ((0, 4), (1, 4), (2, 4), (3, 5))]
    source = graph("s", [*"abcdef"], [*people, (4, MAYOR, 0)])
    target = graph("t", [*"abcdefg"], [*people, (4, MAYOR, 0), (6, LIVES, 4)])
    anchors = Links(np.repeat(np.arange(6), 2))
    found, values = shared_evidence(stored(tmp_path / "run", **evidence_of(source, target, anchors)), 4, 4)
    assert values == ()
    lives, mayor = ("^http://s/lives", "^http://t/lives"), ("http://s/mayor", "http://t/mayor")
    assert [((one.source_relation, one.target_relation), one.source_neighbour.name) for one in found] == [
        *((lives, person) for person in "abc"),
        (mayor, "a"),
        ((mayor[0], lives[1]), "a"),
        ((lives[0], mayor[1]), "a"),
    ]
    assert [one.target_neighbour.iri for one in found] == [
        f"http://t/{place}" for place in (0, 1, 2, 0, 0, 0)
    ]
    assert [one.strength for one in found] == pytest.approx([4 / 9] * 3 + [1 / 6] * 3)


def test_explaining_hubs_costs_no_more_than_their_edges(tmp_path: Path) -> None:
    """Calls are counted: each shared neighbour is told, but not compared with the others."""

    def calls(spokes: int) -> int:
        triples = [(0, LIVES, spoke) for spoke in range(1, spokes + 1)]
        sides = [graph(side, [f"name {i}" for i in range(spokes + 1)], triples) for side in "st"]
        anchors = Links(np.arange(spokes + 1).repeat(2).reshape(-1, 2), np.ones(spokes + 1))
        run = stored(tmp_path / f"hub{spokes}", **evidence_of(*sides, anchors))
        counted = Counter[str]()
        sys.setprofile(lambda frame, event, what: counted.update([event]))
        try:
            witnesses = shared_evidence(run, 0, 0)[0]
        finally:
            sys.setprofile(None)
        assert len(witnesses) == spokes
        return counted["call"] + counted["c_call"]

    calls(10)
    assert calls(900) <= 3.5 * calls(300)


def test_only_anchors_bear_witness(finished: FinishedRun) -> None:
    assert {one.source_neighbour.name for one in shared_evidence(finished, BERLIN, BERLIN)[0]} == {"Bert"}
    (berlin,) = shared_evidence(finished, ANNA, ANNA)[0]
    assert (berlin.source_neighbour.name, berlin.target_neighbour.iri) == ("Berlin", "http://t/2")
    assert shared_evidence(finished, ANNA, ULM) == ((), ())


def test_an_anchor_that_is_less_sure_tells_less(tmp_path: Path, finished: FinishedRun) -> None:
    sure = stored(tmp_path / "run", **evidence_of(SOURCE, TARGET, Links(ANCHORS.pairs)))
    doubted, trusted = (
        {one.source_relation: one.strength for one in shared_evidence(run, BERLIN, BERLIN)[0]}
        for run in (finished, sure)
    )
    assert doubted.keys() == trusted.keys() == {"http://s/mayor", "^http://s/lives"}
    assert all(doubted[relation] < trusted[relation] for relation in trusted)


def test_without_evidence_nobody_bears_witness(tmp_path: Path) -> None:
    plain = stored(tmp_path / "run", source=SOURCE, target=TARGET)
    assert plain.anchors is None
    assert shared_evidence(plain, BERLIN, BERLIN) == ((), ())


def test_names_and_lone_values_are_no_shared_literals(tmp_path: Path) -> None:
    source = graph("s", ["Anna"], [], [(0, "label", "Anna"), (0, "colour", "blue"), (0, "number", "7")])
    target = graph("t", ["Anna"], [], [(0, "label", "Anna"), (0, "colour", "BLUE "), (0, "number", "8")])
    run = stored(tmp_path / "run", **evidence_of(source, target, Links(np.array([[0, 0]]))))
    _, values = shared_evidence(run, 0, 0)
    assert [(one.source_predicate, one.target_predicate, one.value) for one in values] == [
        ("colour", "colour", "blue")
    ]
    assert values[0].strength == pytest.approx(1 / 6)


LITERALS = {
    "one equal value": ([(0, "colour", "blue")], [(0, "colour", "blue")]),
    "two values of one predicate": (
        [(0, "colour", "blue"), (0, "colour", "red")],
        [(0, "colour", "red"), (0, "colour", "blue")],
    ),
    "one value in two spellings": ([(0, "number", "7"), (0, "number", "7.0")], [(0, "number", "+7")]),
    "one value in two languages": (
        [(0, "colour", "rot@de"), (0, "colour", "rot@nl")],
        [(0, "colour", "rot")],
    ),
    "two languages in the target": (
        [(0, "colour", "rot")],
        [(0, "colour", "rot@de"), (0, "colour", "rot@nl")],
    ),
    "other predicates": ([(0, "colour", "blue"), (0, "paint", "blue")], [(0, "farbe", "blue")]),
    "nearly its name": ([(0, "motto", "anna ")], [(0, "motto", "ANNA")]),
    "the name of the other": ([(0, "alias", "Anne")], [(0, "alias", "Anne")]),
}


@pytest.mark.parametrize("literals", LITERALS.values(), ids=LITERALS)
def test_witnesses_and_values_make_up_neighbour_evidence(
    tmp_path: Path, literals: tuple[list[tuple[int, str, str]], list[tuple[int, str, str]]]
) -> None:
    triples = [(0, LIVES, 2), (1, LIVES, 2), (2, MAYOR, 1)]
    source = graph("s", ["Anna", "Bert", "Berlin"], triples, literals[0])
    target = graph("t", ["Anna", "Bert", "Berlin"], triples, literals[1])
    anchors = Links(np.array([[0, 0], [1, 1], [2, 2]]), np.array([0.75, 1, 0.5]))
    run = stored(tmp_path / "run", **evidence_of(source, target, anchors))
    witnesses, values = shared_evidence(run, 0, 0)
    assert {one.source_neighbour.name for one in witnesses} == {"Berlin"}
    assert {one.value for one in values} <= {value.partition("@")[0] for *_, value in literals[0]}
    assert values
    assert made_of(run, 0, 0) == pytest.approx(score(run, 0, 0), rel=1e-5)


def made_of(run: FinishedRun, source: int, target: int) -> float:
    """Neighbour evidence by what an explanation shows of it."""
    witnesses, values = shared_evidence(run, source, target)
    return float(1 - np.prod([1 - one.strength for one in (*witnesses, *values)]))


def score(run: FinishedRun, source: int, target: int) -> float:
    return float(run.evidence["neighbours"].score_of(Links(np.array([[source, target]])))[0])


def random_graph(side: str, seed: int, size: int = 40) -> KnowledgeGraph:
    random = np.random.default_rng(seed)
    triples = np.unique(random.integers(0, (size, 2, size), (120, 3)), axis=0)
    literals = {
        (int(entity), f"{side}-{predicate}", str(value))
        for entity, predicate, value in random.integers(0, (size, 3, 12), (90, 3))
    }
    return graph(side, [f"name {number}" for number in range(size)], triples.tolist(), sorted(literals))


def test_every_score_of_neighbours_can_be_explained(tmp_path: Path) -> None:
    """Random graphs with literals: every stored score, and nothing for pairs that have none."""
    source, target = random_graph("s", 1), random_graph("t", 2)
    random = np.random.default_rng(3)
    anchors = Links(np.column_stack([np.arange(30), random.permutation(40)[:30]]), random.random(30))
    run = stored(tmp_path / "run", **evidence_of(source, target, anchors))
    neighbours = run.evidence["neighbours"]
    assert len(neighbours) > 200
    with_values = 0
    for s in range(0, 40, 4):
        for t in range(40):
            told, exact = made_of(run, s, t), score(run, s, t)
            assert told == pytest.approx(exact, rel=1e-4, abs=4 / STEPS), (s, t)
            assert (told > 0) == (exact > 0)
            with_values += bool(shared_evidence(run, s, t)[1])
    assert with_values > 20


# Finding entities


@pytest.mark.parametrize(
    ("wanted", "side", "found"),
    [
        ("http://s/3", None, (ULM, "source")),
        ("<http://t/4>", None, (4, "target")),
        ("Ulm", None, (ULM, "source")),
        ("uLM", None, (ULM, "source")),
        ("Anna", None, (ANNA, "source")),
        ("Anna", "target", (ANNA, "target")),
        ("anna", None, (3, "target")),
    ],
)
def test_find_entity(wanted, side, found):
    assert find_entity(ALIGNMENT, wanted, side) == found


def test_several_hits_are_listed():
    with pytest.raises(UsageError, match="3 entities") as error:
        find_entity(ALIGNMENT, "ANNA")
    assert [line.split()[1] for line in str(error.value).splitlines()[1:]] == [
        "http://s/0", "http://t/0", "http://t/3",
    ]  # fmt: skip


def test_no_hit_offers_near_ones():
    with pytest.raises(UsageError, match="'Berlyn'; the most similar are:\n  source: http://s/2"):
        find_entity(ALIGNMENT, "Berlyn")
    with pytest.raises(UsageError, match=r"of the target graph has the IRI or name 'qqqqq'$"):
        find_entity(ALIGNMENT, "qqqqq", "target")
    with pytest.raises(UsageError):
        find_entity(ALIGNMENT, "")


# The command

FOUNDED = {"a": "+0250", "b": "250.0"}
TOWNS = ["Berlin", "Paris", "Tokyo", "Lima", "Cairo", "Oslo", "Quito", "Hanoi"]


@pytest.fixture
def ring(tmp_path, monkeypatch, capsys):
    """In the working directory a finished run: a ring of towns, one of them unknown to the other graph."""
    monkeypatch.chdir(tmp_path)
    for side, towns in (("a", [*TOWNS, "Atlantis"]), ("b", TOWNS)):
        ring = zip(towns, towns[1:] + towns[:1], strict=True)
        lines = [f"<http://{side}/{x}> <http://{side}/next> <http://{side}/{y}> .\n" for x, y in ring]
        lines.append(f'<http://{side}/Paris> <http://{side}/founded> "{FOUNDED[side]}" .\n')
        Path(f"{side}.nt").write_text("".join(lines))
    assert run(["align", "a.nt", "b.nt", "-o", "run"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("wanted", ["http://a/Paris", "http://b/Paris", "Paris"])
def test_explain(ring, capsys, wanted):
    assert run(["explain", "run", wanted, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "accepted"
    assert {found["entity"]["iri"], found["counterpart"]["entity"]["iri"]} == {
        "http://a/Paris", "http://b/Paris",
    }  # fmt: skip
    said = {"name", "semantic", "strings", "neighbours", "surroundings", "literals"}
    assert set(found["counterpart"]["channels"]) == said
    seen = {(one["source_relation"], one["source_neighbour"]["iri"]) for one in found["witnesses"]}
    assert seen == {("http://a/next", "http://a/Tokyo"), ("^http://a/next", "http://a/Berlin")}
    (value,) = found["values"]
    assert (value["source_predicate"], value["target_predicate"]) == ("http://a/founded", "http://b/founded")
    assert value["value"] == "+0250"
    strengths = [one["strength"] for one in (*found["witnesses"], value)]
    stored_score = found["counterpart"]["channels"]["neighbours"]["score"]
    assert 1 - np.prod([1 - strength for strength in strengths]) == pytest.approx(stored_score, rel=1e-5)
    assert run(["explain", "run", wanted]) == 0
    out = capsys.readouterr().out
    assert "accepted, confidence" in out
    assert (
        f'Equal values: 1\n  {value["strength"]:.3f}  "+0250"\n       http://a/founded = http://b/founded'
        in out
    )
    assert "Matched neighbours, the strongest first: 2" in out
    assert '^http://b/next http://b/Berlin "Berlin"' in out


def test_explain_what_has_no_pair(ring, capsys):
    assert run(["explain", "run", "Atlantis"]) == 0
    assert "\nunmatched\n" in capsys.readouterr().out


def test_explain_knows_no_such_entity(ring, capsys):
    assert run(["explain", "run", "Atlantys"]) == 2
    assert "the most similar are:\n  source: http://a/Atlantis" in capsys.readouterr().err
    assert run(["explain", "nowhere", "Paris"]) == 3
    assert run(["explain", "run", "Paris", "--side", "left"]) == 2


def test_names_cannot_steer_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    for side in "ab":
        Path(f"{side}.nt").write_text(f'<urn:{side}:1> <{label}> "\\u001b[31mred\\nunmatched [b]x[/b]" .\n')
    assert run(["align", "a.nt", "b.nt", "-o", "run"]) == 0
    capsys.readouterr()
    assert run(["explain", "run", "urn:a:1"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\nunmatched" not in out
    assert "[b]x[/b]" in out
