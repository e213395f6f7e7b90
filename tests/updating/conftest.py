"""Two small graphs whose links are known, a run on them, and new versions of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import largeea

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SYLLABLES = [consonant + vowel for consonant in "bdklmn" for vowel in "aeiou"]
SIZE = 200
Triple = tuple[int, str, int]


@dataclass(frozen=True)
class Graph:
    """A graph of numbered entities: `http://SIDE/7`."""

    side: str
    names: dict[int, str]
    triples: frozenset[Triple] = field(default_factory=frozenset)

    def without(self, entity: int) -> Graph:
        """The graph without an entity."""
        names = {number: name for number, name in self.names.items() if number != entity}
        return Graph(self.side, names, frozenset(t for t in self.triples if entity not in (t[0], t[2])))

    def write(self, path: Path) -> Path:
        """Write it as N-Triples."""
        lines = [f'<{self.iri(number)}> <{LABEL}> "{name}" .' for number, name in self.names.items()]
        lines += [f"<{self.iri(a)}> <http://{self.side}/{r}> <{self.iri(b)}> ." for a, r, b in self.triples]
        path.write_text("\n".join(sorted(lines)) + "\n")
        return path

    def iri(self, number: int) -> str:
        return f"http://{self.side}/{number:04}"


@dataclass(frozen=True)
class Case:
    """Both graphs, and a finished run on them."""

    source: Graph
    target: Graph
    folder: Path

    @property
    def run(self) -> Path:
        return self.folder / "run"

    def pair(self, number: int) -> tuple[str, str]:
        return self.source.iri(number), self.target.iri(number)


def two_graphs() -> tuple[Graph, Graph]:
    """Entity i of one graph is entity i of the other; both have names alike and most triples in common."""
    random = np.random.default_rng(5)
    words = ["".join(random.choice(SYLLABLES, 4)) for _ in range(2 * SIZE)]
    names = {number: f"{words[2 * number]} {words[2 * number + 1]}".title() for number in range(SIZE)}
    others = {number: name.replace("u", "o") for number, name in names.items()}
    facts = {
        (int(a), str(random.choice(["near", "part", "born"])), int(b))
        for a, b in random.integers(0, SIZE, (5 * SIZE, 2))
        if a != b
    }
    kept = [frozenset(sorted(facts)[start::10]) for start in (0, 5)]
    return Graph("s", names, frozenset(facts - kept[0])), Graph("t", others, frozenset(facts - kept[1]))


@pytest.fixture(scope="session")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A finished run that nobody may change."""
    folder = tmp_path_factory.mktemp("updating")
    source, target = two_graphs()
    places = source.write(folder / "source.nt"), target.write(folder / "target.nt")
    largeea.align_files(*places, folder / "run")
    return Case(source, target, folder)


Links = dict[tuple[str, str], float]


@pytest.fixture
def links() -> Callable[[largeea.AlignedFiles], Links]:
    """The accepted links of an answer and their confidence."""

    def found(answer: largeea.AlignedFiles) -> Links:
        rows = answer.alignment.to_table().to_pylist()
        return {
            (row["source"], row["target"]): row["confidence"] for row in rows if row["status"] == "accepted"
        }

    return found
