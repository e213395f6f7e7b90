"""Judgements of several origins become seeds, forbidden pairs and reviewed pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from largeea.errors import InputError, LargeEAWarning
from largeea.formats.links import GivenPairs, Judged, LinkTable, merge_corrections
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.matching.cardinality import Cardinality

SOURCE, TARGET = (
    KnowledgeGraph(
        strings([f"urn:{side}{number}" for number in range(6)] + [f"_:{side}"]),
        strings(["x"] * 7),
        strings(),
        np.empty((0, 3), np.int32),
    )
    for side in "ab"
)


def table(name: str, *pairs: str) -> LinkTable:
    """Pairs such as "0-1", with the number of a source and a target."""
    ends = [pair.split("-") for pair in pairs]
    columns = (strings(f"urn:{side}{pair[at]}" for pair in ends) for at, side in enumerate("ab"))
    return LinkTable(Path(name), *columns)


def merged(*judged: Judged) -> dict[str, list[str]]:
    given, _ = merge_corrections(judged, SOURCE, TARGET)
    found = {
        name: [f"{one}-{other}" for one, other in links.pairs.tolist()]
        for name, links in (("seeds", given.seeds), ("forbidden", given.forbidden))
    }
    assert given.reviewed.weight is not None
    rows = zip(given.reviewed.pairs.tolist(), given.reviewed.weight.tolist(), strict=True)
    return found | {"reviewed": [f"{one}-{other}:{weight:.0f}" for (one, other), weight in rows]}


def test_right_and_wrong_pairs() -> None:
    found = merged(Judged(table("known", "1-1", "0-0"), None), Judged(None, table("wrong", "2-3")))
    assert found == {"seeds": ["0-0", "1-1"], "forbidden": ["2-3"], "reviewed": []}


def test_only_records_with_both_verdicts_teach_confidence() -> None:
    """Files of right pairs, and of wrong pairs, do not tell how often pairs are right that look alike."""
    both = Judged(table("judged", "0-0"), table("judged", "1-2"))
    reviews = Judged(table("reviews", "3-3"), table("reviews"), by_review=True)
    found = merged(Judged(table("known", "4-4"), None), Judged(None, table("wrong", "5-1")), both, reviews)
    assert found["reviewed"] == ["0-0:1", "1-2:0", "3-3:1"]


def test_a_contradicted_verdict_does_not_teach() -> None:
    both = Judged(table("judged", "0-0"), table("judged", "1-2"))
    reviews = Judged(table("reviews", "1-2"), table("reviews", "0-0"), by_review=True)
    with pytest.warns(LargeEAWarning) as told:
        found = merged(both, reviews)
    assert [str(one.message).partition(":")[0] for one in told] == [
        "1 forbidden pairs were confirmed by a review, which counts",
        "1 links were rejected by a review, which counts",
    ]
    assert found == {"seeds": ["1-2"], "forbidden": ["0-0"], "reviewed": ["0-0:0", "1-2:1"]}


def test_a_reviewed_counterpart_counts_before_others() -> None:
    with pytest.warns(LargeEAWarning, match="2 seeds are left out: .*: urn:a0 - urn:b1, urn:a2 - urn:b0"):
        found = merged(
            Judged(table("known", "0-1", "2-0"), None), Judged(table("r", "0-0"), None, by_review=True)
        )
    assert found["seeds"] == ["0-0"]


def test_a_counterpart_that_can_be_linked_counts_before_a_blank_node() -> None:
    blank = LinkTable(
        Path("known"), strings(["urn:a0", "urn:a0"]), strings(["_:b", "urn:b3"]), np.array([1, 0.5])
    )
    with pytest.warns(LargeEAWarning, match="1 seeds are left out"):
        given, _ = merge_corrections([Judged(blank, None)], SOURCE, TARGET)
    assert [TARGET.entities[int(end)].as_py() for end in given.seeds.target] == ["urn:b3"]


def test_more_examples_than_three_are_not_shown() -> None:
    pairs = [f"{number}-{number}" for number in range(5)]
    with pytest.warns(
        LargeEAWarning, match=r"5 links are forbidden .*: urn:a0 - urn:b0, .*urn:a2 - urn:b2, \.\.\.$"
    ):
        found = merged(Judged(table("known", *pairs), None), Judged(None, table("wrong", *pairs)))
    assert found["seeds"] == []


def test_a_file_that_contradicts_itself() -> None:
    with pytest.raises(InputError, match=r"judged: calls 1 pairs both right and wrong; .*urn:a1 - urn:b1"):
        merged(Judged(table("judged", "1-1", "0-0"), table("judged", "1-1")))


def test_reviews_of_vanished_entities_are_unused_even_if_all_are() -> None:
    with pytest.warns(LargeEAWarning, match="1 of 1 pairs in reviews are not used"):
        given, unused = merge_corrections(
            [Judged(table("reviews", "8-1"), None, by_review=True)], SOURCE, TARGET
        )
    assert len(given.seeds) == 0
    assert unused[0].to_pylist() == [
        {
            "source": "urn:a8",
            "target": "urn:b1",
            "verdict": "right",
            "place": "reviews, row 1",
            "missing": "source",
        }
    ]


def test_given_pairs_are_stored_as_arrays() -> None:
    links = Links(np.array([[0, 1], [2, 3]]), np.array([0.5, 1]))
    given = GivenPairs(links, Links(np.array([[4, 4]])), further=Links(np.array([[0, 2]])))
    back = GivenPairs.from_arrays(given.to_arrays())
    for name in ("seeds", "forbidden", "reviewed", "further"):
        one, other = getattr(given, name), getattr(back, name)
        assert one.pairs.tolist() == other.pairs.tolist()
        assert (one.weight is None) == (other.weight is None)
    assert back.seeds.weight is not None
    assert back.seeds.weight.tolist() == [0.5, 1]


@pytest.mark.parametrize(
    ("cardinality", "seeds", "further", "left_out"),
    [
        ("1:1", ["0-0", "1-1"], [], ["0-1", "1-0"]),
        ("n:1", ["0-0"], ["1-0"], ["0-1", "1-1"]),
        ("1:n", ["0-0"], ["0-1"], ["1-0", "1-1"]),
        ("n:m", ["0-0", "1-1"], ["0-1", "1-0"], []),
    ],
)
def test_given_pairs_contradict_each_other_by_the_cardinality(
    cardinality: str, seeds: list[str], further: list[str], left_out: list[str], recwarn
) -> None:
    known = Judged(table("known", "0-0", "0-1", "1-0", "1-1"), None)
    given, _ = merge_corrections([known], SOURCE, TARGET, Cardinality(cardinality))
    found = [
        [f"{one}-{other}" for one, other in links.pairs.tolist()] for links in (given.seeds, given.further)
    ]
    assert found == [seeds, further]
    told = "".join(str(one.message) for one in recwarn)
    assert told.count("urn:a") == len(left_out)
    assert all(f"urn:a{pair[0]} - urn:b{pair[2]}" in told for pair in left_out)


def test_pairs_within_one_graph_have_no_direction() -> None:
    ends = (
        strings(["urn:a2", "urn:a1", "urn:a3", "urn:a0"]),
        strings(["urn:a1", "urn:a2", "urn:a3", "urn:a1"]),
    )
    wrong = LinkTable(Path("wrong"), strings(["urn:a1"]), strings(["urn:a0"]))
    judged = [Judged(LinkTable(Path("known"), *ends), None), Judged(None, wrong)]
    with pytest.warns(LargeEAWarning) as told:
        given, _ = merge_corrections(judged, SOURCE, SOURCE, Cardinality.WITHIN)
    assert given.seeds.pairs.tolist() == [[1, 2]]
    assert [str(one.message).rpartition(": ")[2] for one in told] == [
        "urn:a3 - urn:a3",
        "urn:a0 - urn:a1",
    ], "nothing is the duplicate of itself, and a0 - a1 is wrong"
