"""Correspondences of terms that were planted in two graphs."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import largeea
from largeea.cli import run as command
from largeea.finished import FinishedRun
from largeea.schema_mapping import schema_mapping
from largeea.schema_mapping.model import BROAD, CLOSE, EXACT, INVERSE, NARROW, RELATED, predicate_of

PEOPLE = 30
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def edges(side: str, relation: str, people: Iterable[int], step: int, inverse: bool = False) -> str:
    """Each of these people is related to the one `step` further on, or that one to them."""
    lines = ""
    for one in people:
        ends = [f"<http://{side}/p{one}>", f"<http://{side}/p{(one + step) % PEOPLE}>"]
        head, tail = reversed(ends) if inverse else ends
        lines += f"{head} <http://{side}/{relation}> {tail} .\n"
    return lines


def types(side: str, name: str, people: Iterable[int]) -> str:
    return "".join(f"<http://{side}/p{one}> {TYPE} <http://{side}/{name}> .\n" for one in people)


def people(side: str, year: str) -> str:
    return "".join(
        f'<http://{side}/p{one}> {LABEL} "person {one}" .\n'
        f'<http://{side}/p{one}> <http://{side}/born> "{1900 + one}{year}" .\n'
        for one in range(PEOPLE)
    )


def numbers(side: str, name: str, first: int) -> str:
    """Ten values for each person; eight of all 300 are the same on both sides, whatever `first` is."""
    values = (f"{number}" if number < 8 else f"{first + number}" for number in range(10 * PEOPLE))
    return "".join(
        f'<http://{side}/p{number % PEOPLE}> <http://{side}/{name}> "{value}" .\n'
        for number, value in enumerate(values)
    )


SOURCE = "".join(
    [
        people("s", ""),
        numbers("s", "code", 10_000),
        edges("s", "wrote", range(10), 1),
        edges("s", "painted", range(10, 20), 1),
        edges("s", "parent", range(15), 2),
        edges("s", "lives", range(15), 3),
        edges("s", "related", range(20), 4),
        edges("s", "knows", range(15), 5),
        types("s", "Poet", range(10)),
        types("s", "Painter", range(10, 20)),
    ]
)
TARGET = "".join(
    [
        people("t", ".0"),
        numbers("t", "weight", 20_000),
        edges("t", "created", range(20), 1),
        edges("t", "child", range(15), 2, inverse=True),
        edges("t", "wohnt", range(15), 3),
        edges("t", "father", range(10), 4),
        edges("t", "mother", range(10, 20), 4),
        edges("t", "kennt", range(8), 5),
        edges("t", "noise", range(20, 30), 7),
        types("t", "Artist", range(20)),
    ]
)


@pytest.fixture
def run(aligned: Callable[..., Path]) -> Path:
    links = [(f"http://s/p{one}", f"http://t/p{one}") for one in range(PEOPLE)]
    return aligned({"s.nt": SOURCE}, {"t.nt": TARGET}, links)


def test_planted_correspondences_are_found_with_their_direction(run: Path) -> None:
    found = {
        (one.source.removeprefix("http://s/"), one.target.removeprefix("http://t/")): one
        for one in schema_mapping(FinishedRun(run))
    }
    assert {pair: (one.kind, one.predicate, one.support) for pair, one in found.items()} == {
        ("wrote", "created"): ("relation", BROAD, 10),
        ("painted", "created"): ("relation", BROAD, 10),
        ("parent", "child"): ("relation", INVERSE, 15),
        ("lives", "wohnt"): ("relation", EXACT, 15),
        ("related", "father"): ("relation", NARROW, 10),
        ("related", "mother"): ("relation", NARROW, 10),
        ("knows", "kennt"): ("relation", EXACT, 8),
        ("born", "born"): ("attribute", EXACT, 30),
        ("Poet", "Artist"): ("class", BROAD, 10),
        ("Painter", "Artist"): ("class", BROAD, 10),
    }
    assert found["lives", "wohnt"].confidence == pytest.approx(15 / (15 + 5))
    assert found["knows", "kennt"].confidence == pytest.approx(8 / (8 + 5)), "the target states fewer facts"
    assert ("code", "weight") not in found, "eight of 300 values agree by chance"
    wrote = found["wrote", "created"]
    assert (wrote.forward, wrote.backward) == (1.0, 0.5)


def test_the_threshold_and_the_order(run: Path) -> None:
    rows = schema_mapping(FinishedRun(run), threshold=0.7)
    assert [round(one.confidence, 3) for one in rows] == [0.857, 0.75, 0.75]
    assert rows[0].source == "http://s/born"


def test_a_run_without_links_has_no_correspondences(aligned: Callable[..., Path]) -> None:
    run = aligned({"s.nt": SOURCE}, {"t.nt": TARGET.replace("person", "people")}, [])
    assert schema_mapping(FinishedRun(run), threshold=0) == []


def test_attributes_with_similar_values_are_close(tmp_path: Path) -> None:
    """Phone numbers are spelt in two ways, so none is equal."""
    numbers = random.Random(1)
    places = []
    digits = [str(numbers.randrange(10**8, 10**9)) for _ in range(200)]
    for side, mark in (("s", "-"), ("t", "/")):
        lines = [
            f'<http://{side}/p{one}> {LABEL} "person {hash_word(one)}" .\n'
            f'<http://{side}/p{one}> <http://{side}/phone> "{code[:3]}{mark}{code[3:6]}{mark}{code[6:]}" .\n'
            for one, code in enumerate(digits)
        ]
        places.append(tmp_path / f"{side}.nt")
        places[-1].write_text("".join(lines))
    largeea.align_files(*places, tmp_path / "run")
    (row,) = schema_mapping(FinishedRun(tmp_path / "run"))
    assert (row.source, row.target, row.predicate) == ("http://s/phone", "http://t/phone", CLOSE)
    assert row.forward is None
    assert row.support > 150


def hash_word(number: int) -> str:
    letters = random.Random(number)
    return "".join(letters.choice("abcdefghijklmnoprstuvwz") for _ in range(9))


@pytest.mark.parametrize(
    ("forward", "backward", "inverse", "predicate"),
    [
        (0.9, 0.8, False, EXACT),
        (0.4, 0.45, False, CLOSE),
        (1.0, 0.5, False, BROAD),
        (0.2, 0.9, False, NARROW),
        (0.9, 0.8, True, INVERSE),
        (0.4, 0.4, True, RELATED),
        (1.0, 0.1, True, RELATED),
    ],
)
def test_the_rule(forward: float, backward: float, inverse: bool, predicate: str) -> None:
    assert predicate_of(forward, backward, inverse) == predicate


def test_the_command_writes_sssom(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sssom = pytest.importorskip("sssom_pydantic", reason="sssom-pydantic is not installed")
    output = tmp_path / "schema.sssom.tsv"
    assert command(["schema", str(run), "-o", str(output), "-q", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    lines = output.read_text().splitlines()
    header = [line for line in lines if line.startswith("#")]
    rows = list(csv.DictReader(lines[len(header) :], delimiter="\t"))
    assert '#  ns1: "http://s/"' in header
    assert len(rows) == len(said["correspondences"]) == 10
    row = next(row for row in rows if row["object_id"] == "ns2:child")
    assert (row["subject_id"], row["predicate_id"]) == ("ns1:parent", "owl:inverseOf")
    assert row["mapping_justification"] == "semapv:InstanceBasedMatching"
    assert row["other"] == "support=15|forward=1.000|backward=1.000|direction=inverse"
    mappings, *_, errors = sssom.read(output, return_errors=True)
    assert (len(mappings), errors) == (10, [])
    assert len(largeea.read_links(output)) == 3, "only exact matches are links"
    assert command(["schema", str(run), "-o", str(output), "-q"]) == 0
    assert "10 correspondences written" in capsys.readouterr().out
