"""Two small graphs of the same towns, which most commands are tried on."""

from __future__ import annotations

from pathlib import Path

from largeea.formats.links import read_links

WORDS = [
    *("Berlin", "Paris", "Tokyo", "Lima", "Cairo", "Oslo", "Quito", "Hanoi"),
    *("Dakar", "Sofia", "Riga", "Bern", "Rome", "Baku", "Doha", "Minsk"),
]


def statements(side: str) -> list[tuple[str, str, str]]:
    """A ring of towns, and one more town, elsewhere, that the other side does not have."""
    lonely = ("Atlantis", "sunk_near", WORDS[0]) if side == "a" else ("Zzyzx", "road_to", WORDS[5])
    ring = [(one, "next", two) for one, two in zip(WORDS, WORDS[1:] + WORDS[:1], strict=True)]
    return [tuple(f"http://{side}/{part}" for part in fact) for fact in (*ring, lonely)]


def found_links(path: str) -> set[tuple[str, str]]:
    table = read_links(Path(path))
    return set(zip(table.source.to_pylist(), table.target.to_pylist(), strict=True))


EXPECTED = {(f"http://a/{word}", f"http://b/{word}") for word in WORDS}
