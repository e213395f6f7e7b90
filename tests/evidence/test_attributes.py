"""Literal values: their kinds and spellings, how far they agree, and what properties are learnt to tell."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from largeea.evidence.attributes import (
    attribute_values,
    correspondence,
    literal_evidence,
    literal_support,
    propose_by_values,
)
from largeea.evidence.attributes.compare_kernels import (
    DIFFERENT,
    EQUAL,
    INCOMPARABLE,
    LITTLE,
    NEARLY,
    SOME,
    level_of,
    working_space,
)
from largeea.evidence.attributes.correspondence import (
    MAX_PROPERTY_PAIRS,
    _affordable,
    _falling_ratios,
    _group_pairs,
    learn_partners,
)
from largeea.evidence.attributes.evidence import MAX_RATIO
from largeea.evidence.attributes.kinds import (
    CODE,
    DATE,
    NUMBER,
    TEXT,
    UNDECLARED,
    declared_kinds,
    typed_values,
)
from largeea.evidence.attributes.score_kernels import _not_below, row_products
from largeea.evidence.attributes.values import Values
from largeea.graph import Arrays, Attributes, KnowledgeGraph, Links, strings
from largeea.similarity import Similarity

XSD = "http://www.w3.org/2001/XMLSchema#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
Literals = list[tuple[int, str, str]]


def graph(
    entities: int,
    literals: Literals,
    triples: list[tuple[int, int, int]] | None = None,
    names: list[str | None] | None = None,
    tag: str = "",
) -> KnowledgeGraph:
    """A graph with literals `(entity, predicate, value)`."""
    predicates = sorted({predicate for _, predicate, _ in literals})
    values = sorted({value for _, _, value in literals})
    rows = [(e, predicates.index(p), values.index(v), 0) for e, p, v in literals]
    return KnowledgeGraph(
        strings(f"urn:{number:05}" for number in range(entities)),
        strings(names or [None] * entities),
        strings(["r0", "r1"]),
        np.array(triples or np.empty((0, 3)), np.int32),
        Attributes(
            np.array(rows, np.int32).reshape(-1, 4), strings(predicates), strings(values), strings([tag])
        ),
    )


def all_pairs(source: int, target: int) -> Similarity:
    return Similarity.from_scipy(np.ones((source, target), np.float32))


def one_kind(source: int, target: int) -> Arrays:
    return {"source": np.zeros(source, np.int8), "target": np.zeros(target, np.int8)}


def same_ids(count: int) -> Links:
    return Links(np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1), np.ones(count, np.float32))


# Kinds


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("1,234.5", NUMBER, "1234.5"),
        ("1.234,5", NUMBER, "1234.5"),
        ("12,5", NUMBER, "12.5"),
        ("5 km", NUMBER, "5"),
        ("€ 3.50", NUMBER, "3.5"),
        ("1999", NUMBER, "1999"),
        ("-0.0", NUMBER, "0"),
        ("1999-05-12", DATE, "1999 m5 d12"),
        ("1999-05-12T10:30:00.5Z", DATE, "1999 m5 d12"),
        ("12 May 1999", DATE, "1999 m5 d12"),
        ("May 12th, 1999", DATE, "1999 m5 d12"),
        ("12.05.1999", DATE, "1999 m5 d12"),
        ("25/12/1999", DATE, "1999 m12 d25"),
        ("12/25/1999", DATE, "1999 m12 d25"),
        ("5/12/1999", DATE, "1999"),
        ("May 1999", DATE, "1999 m5"),
        ("1999-13", CODE, "199913"),
        ("310/246-1501", CODE, "3102461501"),
        ("+44 (0)20 7946-0958", CODE, "4402079460958"),
        ("0123", CODE, "0123"),
        ("Q42", CODE, "q42"),
        ("1e999", CODE, "1e999"),
        ("221b Baker Street", TEXT, "221b baker street"),
        ("Crème Brûlée!", TEXT, "creme brulee"),
        ("北京", TEXT, "beijing"),
        ("...", TEXT, None),
    ],
)
def test_kinds_and_spellings(value: str, kind: int, text: str | None) -> None:
    typed = typed_values(strings([value]), np.array([UNDECLARED], np.int8))
    assert (typed.kind[0], typed.text.to_pylist()[0]) == (kind, text)


def test_datatypes_say_what_digits_are() -> None:
    tags = strings([f"{XSD}gYear", f"{XSD}nonNegativeInteger", f"{XSD}string", "@en", ""])
    typed = typed_values(strings(["0999", "2129417994", "2129417994", "1999", "1999"]), declared_kinds(tags))
    assert typed.kind.tolist() == [DATE, NUMBER, CODE, NUMBER, NUMBER]


# Levels


@pytest.mark.parametrize(
    ("a", "b", "level"),
    [
        ("Anna  Smith", "anna smith", EQUAL),
        ("smith, anna", "anna smith", NEARLY),
        ("margaret", "margarett", NEARLY),
        ("catherine", "katharina", SOME),
        ("anna", "bert", DIFFERENT),
        ("213/467-1108", "(213) 467 1108", EQUAL),
        ("213/467-1108", "213 467 1109", NEARLY),
        ("213/467-1108", "+1 213 467 1108", NEARLY),
        ("020 7946 0958", "+44 20 7946 0958", SOME),
        ("213/467-1108", "818/762-1221", DIFFERENT),
        ("1,000", "1000.0", EQUAL),
        ("1000", "1000.5", NEARLY),
        ("1000", "1010", SOME),
        ("1000", "900", LITTLE),
        ("1000", "-1000", DIFFERENT),
        ("1999-05-12", "May 1999", NEARLY),
        ("1999-05-12", "1999", NEARLY),
        ("1999-05-12", "12.05.1999", EQUAL),
        ("1999-05-12", "1999-12-05", SOME),
        ("1999-05-12", "1989-05-12", SOME),
        ("1999-05-12", "2000", LITTLE),
        ("1999-05-12", "1950-01-01", DIFFERENT),
        ("1999-05-12", "anna", INCOMPARABLE),
        ("17", "anna", INCOMPARABLE),
    ],
)
def test_levels_of_agreement(a: str, b: str, level: int) -> None:
    columns = attribute_values(graph(1, [(0, "p", a)]), graph(1, [(0, "p", b)]))
    values = Values.of(columns)
    ends = values.source.value[0], values.target.value[0]
    assert level_of(*ends, values.table, *working_space(values.table)) == level
    assert level_of(*ends[::-1], values.table, *working_space(values.table)) == level


def test_long_texts_are_compared_by_their_rare_words() -> None:
    filler = "the of and in to is was for on that with as by at from it an be are this "
    texts = [f"{filler} quokka{n} wombat{n} {filler} numbat{n}" for n in range(50)]
    target = [f"{filler} numbat{n} is a quokka{n}, not a bilby{n} {filler}" for n in range(50)]
    columns = attribute_values(
        graph(50, [(n, "p", text) for n, text in enumerate(texts)]),
        graph(50, [(n, "q", text) for n, text in enumerate(target)]),
    )
    values = Values.of(columns)
    assert values.table.long.all()
    space = working_space(values.table)
    same = [
        level_of(a, b, values.table, *space)
        for a, b in zip(values.source.value, values.target.value, strict=True)
    ]
    assert max(same) <= NEARLY
    assert level_of(values.source.value[0], values.target.value[1], values.table, *space) == DIFFERENT
    assert np.array_equal(propose_by_values(columns, one_kind(50, 50), 5).best()[0], np.arange(50))


# Facts


def test_literals_of_owned_nodes_are_those_of_their_owners() -> None:
    """0 owns 1, which owns 2; 3 and 4 share 5, which nobody owns."""
    literals = [(0, "name", "zero"), (1, "street", "main st"), (2, "city", "york"), (5, "city", "bath")]
    owner = graph(6, literals, [(0, 0, 1), (1, 1, 2), (3, 0, 5), (4, 0, 5)])
    columns = attribute_values(owner, graph(0, []))
    assert facts_of(columns, "source") == {
        (0, "name", "zero"),
        (0, "r0 street", "main st"),
        (0, "r0 r1 city", "york"),
        (1, "street", "main st"),
        (1, "r1 city", "york"),
        (2, "city", "york"),
        (5, "city", "bath"),
    }


def facts_of(columns: dict[str, object], side: str) -> set[tuple[int, str, str]]:
    facts = Values.of(columns)._asdict()[side]
    properties, texts = columns[side]["properties"].to_pylist(), columns["text"].to_pylist()  # type: ignore[index,attr-defined]
    return {
        (entity, properties[facts.property[group]], texts[facts.value[fact]])
        for entity in range(len(facts.pointers) - 1)
        for group in range(facts.pointers[entity], facts.pointers[entity + 1])
        for fact in range(facts.starts[group], facts.starts[group + 1])
    }


def test_cycles_of_ownership_do_not_lead_back() -> None:
    circle = graph(2, [(0, "p", "a")], [(0, 0, 1), (1, 0, 0)])
    found = facts_of(attribute_values(circle, graph(0, [])), "source")
    assert found == {(0, "p", "a"), (1, "r0 p", "a")}


def test_names_are_left_to_the_name_channel() -> None:
    literals = [(0, LABEL, "anna"), (0, "title", "Anna"), (0, "nick", "anni"), (1, "nick", "bert")]
    named = graph(2, literals, names=["Anna", None])
    found = facts_of(attribute_values(named, graph(0, [])), "source")
    assert found == {(0, "nick", "anni"), (1, "nick", "bert")}


def test_of_many_values_the_rarest_are_compared() -> None:
    literals = [(0, "p", f"value {number:02}") for number in range(20)]
    literals += [(1, "p", f"value {number:02}") for number in range(15)]
    found = facts_of(attribute_values(graph(2, literals), graph(0, [])), "source")
    assert {value for entity, _, value in found if entity == 0} == {
        f"value {number:02}" for number in (*range(3), *range(15, 20))
    }


# What properties tell


def people(count: int, seed: int = 3) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """A telling, a constant and a random property; surnames, of which one is common."""
    random = np.random.default_rng(seed)
    phone = random.integers(10**9, 10**10, count)
    surname = np.where(random.random(count) < 0.3, "smith", [f"sur{n:04}name" for n in range(count)])
    source: Literals = []
    target: Literals = []
    for n in range(count):
        source += [(n, "phone", str(phone[n])), (n, "constant", "yes"), (n, "surname", surname[n])]
        target += [(n, "tel", str(phone[n])), (n, "same", "yes"), (n, "family", surname[n])]
        source.append((n, "noise", f"{random.integers(1, 1000)}"))
        target.append((n, "random", f"{random.integers(1, 1000)}"))
    return graph(count, source), graph(count, target)


def learnt(count: int, anchors: Links) -> tuple[dict[tuple[str, str], np.ndarray], Similarity]:
    """The weights of each pair of properties that was found to correspond, and the evidence of all pairs."""
    source, target = people(count)
    columns = attribute_values(source, target)
    candidates = all_pairs(count, count)
    partners = learn_partners(Values.of(columns), anchors, candidates, seed=0)
    names = [columns[side]["properties"].to_pylist() for side in ("source", "target")]
    found = {
        (name, names[1][partners.partner[pair]]): partners.weight[pair]
        for p, name in enumerate(names[0])
        for pair in range(partners.pointers[p], partners.pointers[p + 1])
    }
    return found, literal_evidence(columns, anchors, candidates, seed=0)


def test_useless_properties_weigh_nothing() -> None:
    found, _ = learnt(400, same_ids(400))
    assert set(found) == {("phone", "tel"), ("surname", "family")}
    assert found["phone", "tel"][EQUAL] > 4
    assert found["phone", "tel"][DIFFERENT] < -2


def test_few_anchors_teach_little() -> None:
    many, _ = learnt(400, same_ids(400))
    few, _ = learnt(400, same_ids(6))
    none, evidence = learnt(400, same_ids(1))
    assert 0 < few["phone", "tel"][EQUAL] < many["phone", "tel"][EQUAL]
    assert many["phone", "tel"][DIFFERENT] < few["phone", "tel"][DIFFERENT] < 0
    assert not none
    assert not len(evidence)


def test_rare_values_tell_more_than_common_ones() -> None:
    source: Literals = [(n, "surname", "smith" if n % 3 else f"sur{n:04}name") for n in range(300)]
    columns = attribute_values(graph(300, source), graph(300, source))
    evidence = literal_evidence(columns, same_ids(300), all_pairs(300, 300), seed=0).to_dense()
    assert evidence[3, 3] > evidence[1, 1] > 0.5
    assert evidence[1, 1] == evidence[1, 2]
    assert evidence[3, 6] < 0.1


def test_contradicting_values_lower_the_score() -> None:
    count = 300
    source: Literals = []
    for n in range(count):
        source += [(n, "a", f"first{n // 2:04}"), (n, "b", f"{1900 + n % 100}-01-02")]
    target = [*source[:-2], (count - 1, "a", f"first{(count - 1) // 2:04}")]
    target += [(count - 1, "b", "1750-11-30")]
    columns = attribute_values(graph(count, source), graph(count, target))
    evidence = literal_evidence(columns, same_ids(count), all_pairs(count, count), seed=0).to_dense()
    agreeing, contradicting = evidence[0, 0], evidence[count - 1, count - 1]
    assert agreeing > 0.99
    assert contradicting < agreeing
    only = attribute_values(graph(count, source), graph(count, [*source[:-1]]))
    missing = literal_evidence(only, same_ids(count), all_pairs(count, count), seed=0).to_dense()
    assert contradicting < missing[count - 1, count - 1] < agreeing


def test_the_same_fact_counts_once() -> None:
    """A second copy of a property changes no score."""
    one: Literals = [(n, "name", f"name{n:04}") for n in range(200)]
    two = one + [(n, "title", f"name{n:04}") for n in range(200)]
    scores = []
    for literals in (one, two):
        columns = attribute_values(graph(200, literals), graph(200, one))
        scores.append(literal_evidence(columns, same_ids(200), all_pairs(200, 200), seed=0).to_dense())
    assert np.allclose(*scores, atol=1e-3)


def test_parts_of_a_name_are_found_in_the_whole() -> None:
    random = np.random.default_rng(0)
    given, family = random.integers(0, 30, 300), random.integers(0, 30, 300)
    source: Literals = []
    for n in range(300):
        source += [(n, "given", f"giv{given[n]:02}en"), (n, "family", f"fam{family[n]:02}ily")]
    target = [(n, "full", f"giv{given[n]:02}en fam{family[n]:02}ily") for n in range(300)]
    columns = attribute_values(graph(300, source), graph(300, target))
    evidence = literal_evidence(columns, same_ids(300), all_pairs(300, 300), seed=0).to_dense()
    both = (given[:, None] == given) & (family[:, None] == family)
    one = (given[:, None] == given) ^ (family[:, None] == family)
    assert evidence[both].min() > evidence[one].max()


def test_less_agreement_never_weighs_more() -> None:
    random = np.random.default_rng(5)
    m, u = random.dirichlet(np.ones(5), (2, 200))
    weights = _falling_ratios(m, u)
    assert (np.diff(weights, axis=1) <= 1e-9).all()
    falling = (np.diff(m / u, axis=1) <= 0).all(axis=1)
    assert np.allclose(weights[falling], np.log(m / u)[falling])
    assert np.allclose((u * np.exp(weights)).sum(axis=1), 1)


# Nothing to compare


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (graph(0, []), graph(0, [])),
        (graph(3, []), graph(2, [])),
        (graph(3, [(0, "p", "a")]), graph(2, [])),
        (graph(3, []), graph(2, [(0, "p", "a")])),
        (graph(3, [(0, "p", "...")]), graph(2, [(1, "p", "a")])),
    ],
    ids=["empty", "no literals", "only source", "only target", "nothing but punctuation"],
)
def test_without_literals_there_is_no_evidence(source: KnowledgeGraph, target: KnowledgeGraph) -> None:
    columns = attribute_values(source, target)
    proposed = propose_by_values(columns, one_kind(source.size, target.size), 5)
    assert proposed.shape == (source.size, target.size)
    assert not len(proposed)
    for anchors in (Links.none(), same_ids(min(source.size, target.size))):
        evidence = literal_evidence(columns, anchors, all_pairs(source.size, target.size), seed=0)
        assert evidence.shape == (source.size, target.size)
        assert not len(evidence)


def test_what_is_common_proposes_nothing() -> None:
    everyone: Literals = [(n, "p", "common") for n in range(500)]
    rare: Literals = [(7, "p", "rare"), (7, "q", "common thing")]
    proposed = propose_by_values(
        attribute_values(graph(500, everyone + rare), graph(500, everyone + rare)), one_kind(500, 500), 5
    )
    assert proposed.rows.tolist() == [7]
    assert proposed.indices.tolist() == [7]


def test_only_entities_of_equal_kind_are_proposed() -> None:
    codes: Literals = [(n, "p", f"code {n}") for n in range(3)]
    columns = attribute_values(graph(3, codes), graph(3, codes))
    kinds = {"source": np.array([0, 1, -1], np.int8), "target": np.array([0, 0, -1], np.int8)}
    proposed = propose_by_values(columns, kinds, 5)
    assert (proposed.rows.tolist(), proposed.indices.tolist()) == ([0], [0])


# Support


def test_support_is_on_the_scale_of_other_channels() -> None:
    """Pairs that attributes speak for have scores in (0, 1]; pairs that they speak against have none."""
    people: Literals = [(n, "phone", f"{5550000 + 7 * n}") for n in range(40)]
    people += [(n, "town", f"town {n % 4}") for n in range(40)]
    columns = attribute_values(graph(40, people), graph(40, people))
    halves = [all_pairs(40, 40).restrict(np.arange(40) % 2 == odd) for odd in (0, 1)]
    found = literal_support(columns, same_ids(20), halves, 40, seed=0)
    chance = literal_evidence(columns, same_ids(20), all_pairs(40, 40), seed=0)
    assert len(found) < len(chance), "some pairs are spoken against"
    assert found.scores.min() > 0
    assert found.scores.max() <= 1
    speaks_for = chance.scores_on(found).astype(np.float64)
    np.testing.assert_allclose(found.scores, np.log(speaks_for / (1 - speaks_for)) / MAX_RATIO, rtol=1e-4)
    assert np.array_equal(found.best()[0], np.arange(40))


def test_support_is_given_to_the_best_candidates_only() -> None:
    codes: Literals = [(n, "p", f"{700 + n}") for n in range(30)]
    columns = attribute_values(graph(30, codes), graph(30, codes))
    poor = Similarity.from_scipy(np.where(np.eye(30) > 0, 0.1, 0.9).astype(np.float32))
    good = Similarity.from_scipy(np.where(np.eye(30) > 0, 0.9, 0.1).astype(np.float32))
    assert not len(literal_support(columns, same_ids(15), [poor], 1, seed=0))
    assert np.array_equal(literal_support(columns, same_ids(15), [good], 1, seed=0).best()[0], np.arange(30))


def test_hubs_with_thousands_of_properties_do_not_cost_their_square() -> None:
    hub = [(0, f"urn:p{number}", f"value {number}") for number in range(2000)]
    entity = [(1, "urn:p0", "value 0"), (1, "urn:p1", "value 1")]
    both = graph(2, hub + entity)
    values = Values.of(attribute_values(both, both))
    link, _, _ = _group_pairs(values, Links(np.array([[0, 0], [0, 1], [1, 1]], np.int32)))
    assert np.bincount(link).tolist() == [0, 4000, 4]
    assert MAX_PROPERTY_PAIRS < 2000**2


def test_many_properties_of_many_entities_are_compared_within_a_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = [(entity, f"urn:p{number}", f"value {number}") for entity in range(40) for number in range(10)]
    both = graph(40, facts)
    values = Values.of(attribute_values(both, both))
    links = Links(np.column_stack([np.arange(40)] * 2).astype(np.int32))
    random = np.random.default_rng(0)
    assert _affordable(values, links, random) is links
    monkeypatch.setattr(correspondence, "MAX_COMPARED", 1234)
    fewer = _affordable(values, links, random)
    assert len(fewer) == 12
    assert (np.diff(fewer.source) > 0).all()


def test_blocks_of_anchors_do_not_change_what_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [(entity, f"urn:p{number}", f"value {entity}") for entity in range(40) for number in range(10)]
    both = graph(40, facts)
    values = Values.of(attribute_values(both, both))
    links = Links(np.column_stack([np.arange(40)] * 2).astype(np.int32), np.linspace(0.1, 1, 40))
    whole = correspondence._levels_of_anchors(values, links)
    monkeypatch.setattr(correspondence, "COMPARED_AT_ONCE", 250)
    assert len(correspondence._blocks(values, links)) > 10
    for one, other in zip(whole, correspondence._levels_of_anchors(values, links), strict=True):
        np.testing.assert_array_equal(one, other)


def test_properties_that_share_a_value_do_not_cost_the_square_of_their_number() -> None:
    """Only the pairs that are asked for are multiplied, and as scipy does."""
    random = np.random.default_rng(0)
    left, right = (sp.random_array((30, 50), density=0.3, rng=random, format="csr") for _ in range(2))
    rows, others = random.integers(0, 30, (2, 20)).astype(np.int32)
    found = np.zeros(20)
    matrices = [
        (part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data)
        for part in (left.sorted_indices(), right.sorted_indices())
    ]
    row_products(0, 20, rows, others, *matrices[0], *matrices[1], found)
    assert found.tolist() == (left @ right.T).toarray()[rows, others].tolist()


def test_a_hub_among_the_candidates_of_all_cost_all_its_properties_each_time() -> None:
    class Counted(list[int]):
        looked_at = 0

        def __getitem__(self, place):
            Counted.looked_at += 1
            return super().__getitem__(place)

    properties = Counted(range(0, 200_000, 2))
    for wanted, place in ((1, 1), (2, 1), (100_001, 50_001), (199_998, 99_999), (200_000, 100_000)):
        assert _not_below.py_func(wanted, properties, 0, len(properties)) == place
    assert Counted.looked_at < 5 * 40
