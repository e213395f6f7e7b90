"""Small dumps with the quirks of the real ones, and an oracle that says what a benchmark made of them holds.

The oracle works on the statements themselves, in plain Python sets; it shares no code with the builder.
"""

from __future__ import annotations

import bz2
import gzip
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from largeea.datasets.dbp1m import Recipe

DBO = "http://dbpedia.org/ontology/"
SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
INTER_LANGUAGE = DBO + "wikiPageInterLanguageLink"
REDIRECTS = DBO + "wikiPageRedirects"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
ABOUT_NAMES = {SAME_AS, INTER_LANGUAGE, REDIRECTS, DBO + "wikiPageWikiLink", DBO + "wikiPageDisambiguates"}

Statement = tuple[str, str, str]


def resource(language: str, title: str) -> str:
    host = "dbpedia.org" if language == "en" else f"{language}.dbpedia.org"
    return f"http://{host}/resource/{title}"


def key(iri: str) -> str:
    """What is one resource for the oracle: titles here hold nothing that must stay escaped."""
    return unquote(iri).replace("//en.dbpedia.org", "//dbpedia.org")


def language(iri: str) -> str | None:
    host, _, rest = iri.removeprefix("http://").partition("/resource/")
    if not rest or not host.endswith("dbpedia.org"):
        return None
    return host.removesuffix("dbpedia.org").removesuffix(".") or "en"


@dataclass
class Benchmark:
    """What the oracle expects, by key: triples and entities of each side, links, counts."""

    triples: list[set[Statement]]
    entities: list[set[str]]
    unknown: list[set[str]]
    links: set[tuple[str, str]]
    stated: int


@dataclass
class World:
    """Statements of each side, and literals (with their tag)."""

    languages: tuple[str, str] = ("en", "fr")
    statements: tuple[list[Statement], list[Statement]] = field(default_factory=lambda: ([], []))
    labels: tuple[list[Statement], list[Statement]] = field(default_factory=lambda: ([], []))

    def triples(self, side: int) -> set[Statement]:
        """All facts between things of the side's language, by key."""
        follow, own = self._resolver(side), self.languages[side]
        return {
            (follow(h), p, follow(t))
            for h, p, t in self.statements[side]
            if p not in ABOUT_NAMES and language(h) == own and language(t) == own
        }

    def present(self) -> list[set[str]]:
        """The entities of each side's facts."""
        return [{end for h, _, t in self.triples(side) for end in (h, t)} for side in (0, 1)]

    def oracle(self) -> Benchmark:
        """What a benchmark without limits holds."""
        resolved = [self._resolver(side) for side in (0, 1)]
        triples, present = [self.triples(side) for side in (0, 1)], self.present()
        stated = defaultdict(set)
        has_link: list[set[str]] = [set(), set()]
        for side in (0, 1):
            for a, p, b in self.statements[side]:
                for one, two in ((a, b), (b, a)):
                    if p in (SAME_AS, INTER_LANGUAGE) and (language(one), language(two)) == self.languages:
                        pair = resolved[0](one), resolved[1](two)
                        has_link[0].add(pair[0])
                        has_link[1].add(pair[1])
                        if pair[0] in present[0] and pair[1] in present[1]:
                            stated[pair].add(side)
        links = {
            pair
            for pair in stated
            if all(
                len(stated[pair]) > len(stated[other])
                for other in stated
                if other != pair and (other[0] == pair[0] or other[1] == pair[1])
            )
        }
        unknown, entities, kept = [], [], []
        for side in (0, 1):
            linked = {pair[side] for pair in links}
            neighbours = defaultdict(set)
            for h, _, t in triples[side]:
                if t in linked and h != t:
                    neighbours[h].add(t)
                if h in linked and h != t:
                    neighbours[t].add(h)
            found = {e for e in present[side] if e not in has_link[side] and len(neighbours[e]) >= 5}
            unknown.append(found)
            entities.append(linked | found)
            kept.append({s for s in triples[side] if {s[0], s[2]} <= linked | found})
        return Benchmark(kept, entities, unknown, links, len(stated))

    def _resolver(self, side: int):
        ways = defaultdict(set)
        own = self.languages[side]
        for a, p, b in self.statements[side]:
            if p == REDIRECTS and language(a) == language(b) == own and key(a) != key(b):
                ways[key(a)].add(key(b))

        def follow(iri: str) -> str:
            start = at = key(iri)
            passed = {at}
            while at in ways:
                at = min(ways[at])
                if at in passed:
                    return start
                passed.add(at)
            return at

        return follow


TITLES = ("Café", "Zürich", "São_Paulo", "AC", "Łódź", "Town", "Fleuve", "北京", "O'Neill", "Player_(band)")


def make_world(seed: int, things: int = 60) -> World:
    """A random world: facts on both sides, links from both sides with conflicts, redirects with a loop.

    Every fifth thing has no link, and every fourth is hardly ever spoken of.
    """
    rng = random.Random(seed)
    world = World()
    titles = [f"{rng.choice(TITLES)}_{number}" for number in range(things)]
    weights = [0.2 if number % 4 == 0 else 1.0 for number in range(things)]
    relations = [DBO + name for name in ("birthPlace", "team", "capital", "location")]

    def spelled(language: str, title: str) -> str:
        if rng.random() < 0.25:
            title = quote(title, safe="_'()")
        if language == "en" and rng.random() < 0.05:
            return f"http://en.dbpedia.org/resource/{title}"
        return resource(language, title)

    for side, own in enumerate(world.languages):
        add = world.statements[side].append
        other = world.languages[1 - side]
        for _ in range(things * 9):
            one, two = rng.choices(titles, weights, k=2)
            head = f"Old_{one}" if rng.random() < 0.05 else one
            add((spelled(own, head), rng.choice(relations), spelled(own, two)))
        for number, title in enumerate(titles):
            subject = spelled(own, title)
            add((subject, TYPE, DBO + "Thing"))
            add((subject, DBO + "wikiPageWikiLink", spelled(own, rng.choice(titles))))
            add((subject, relations[0], f"http://www.wikidata.org/entity/Q{rng.randrange(99)}"))
            add((spelled(own, f"Old_{title}"), REDIRECTS, spelled(own, f"Older_{title}")))
            add((spelled(own, f"Older_{title}"), REDIRECTS, spelled(own, title)))
            world.labels[side].append((subject, title.replace("_", ' "quoted" \\ \n'), f"@{own}"))
            world.labels[side].append((subject, f"andere {title}", "@de"))
            world.labels[side].append((spelled(own, f"Old_{title}"), f"old {title}", f"@{own}"))
            add((subject, SAME_AS, resource("de", title)))
            add((subject, SAME_AS, "http://www.wikidata.org/entity/Q1"))
            if number % 5 == 0:
                continue
            if rng.random() < 0.7:
                add((subject, SAME_AS, spelled(other, title)))
            if rng.random() < 0.1:
                predicate = rng.choice([SAME_AS, INTER_LANGUAGE])
                wrong = titles[1 + number // 5 * 5]
                add((spelled(own, f"Old_{title}"), predicate, spelled(other, wrong)))
        for one, two in (
            ("Loop_A", "Loop_B"),
            ("Loop_B", "Loop_C"),
            ("Loop_C", "Loop_A"),
            ("To_loop", "Loop_A"),
        ):
            add((resource(own, one), REDIRECTS, resource(own, two)))
        add((resource(own, "To_loop"), relations[0], resource(own, titles[0])))
        add((resource(own, "Old_" + titles[1]), REDIRECTS, resource(own, "Aaa")))
    return world


def escaped(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return "".join(c if c < "\x80" or ord(c) % 2 else f"\\u{ord(c):04X}" for c in plain)


def iri_text(iri: str, rng: random.Random) -> str:
    """An IRI as old dumps have it now and then: letters beyond ASCII as numbers."""
    return "".join(f"\\u{ord(c):04X}" if c >= "\x80" and rng.random() < 0.1 else c for c in iri)


def lines_of(statements: list[Statement], rng: random.Random, graph: bool = False) -> list[str]:
    made = []
    for s, p, o in statements:
        context = f" <http://en.wikipedia.org/wiki/X?oldid={rng.randrange(99)}>" if graph else ""
        made.append(f"<{iri_text(s, rng)}> <{p}> <{iri_text(o, rng)}>{context} .")
    return made


BAD_LINES = (
    "<http://dbpedia.org/resource/Cut> <http://dbpedia.org/ontology/team> <http://dbpedia.org/reso",
    "<http://dbpedia.org/resource/Two words> <http://dbpedia.org/ontology/team> <http://x.org/y> .",
    "this is no statement",
)


def write_dumps(world: World, folder: Path, side: int, bad_lines: int = 0, seed: int = 0) -> list[Path]:
    """The side's statements spread over dumps like those of a release, in every syntax and compression."""
    rng = random.Random(seed)
    own = world.languages[side]
    folder.mkdir(parents=True, exist_ok=True)
    statements = rng.sample(world.statements[side], len(world.statements[side]))
    links = [s for s in statements if s[1] in (SAME_AS, INTER_LANGUAGE)]
    redirects = [s for s in statements if s[1] == REDIRECTS]
    facts = [s for s in statements if s not in set(links + redirects)]
    started, completed = "# started 2017-07-06T12:05:32Z", "# completed 2017-07-06T14:01:02Z"

    objects = [started, *lines_of(facts, rng), completed]
    for number in range(bad_lines):
        objects.insert(rng.randrange(1, len(objects)), BAD_LINES[number % len(BAD_LINES)])
    labels = [f'<{s}> <{LABEL}> "{escaped(text)}"{tag} .' for s, text, tag in world.labels[side]]
    half = len(links) // 2
    turtle = ["@prefix owl: <http://www.w3.org/2002/07/owl#> .", f"@prefix dbo: <{DBO}> ."]
    for s, p, o in links[half:]:
        turtle.append(
            f"<{s}>\n    {'owl:sameAs' if p == SAME_AS else 'dbo:wikiPageInterLanguageLink'} <{o}> ."
        )

    made = {
        f"mappingbased_objects_{own}.ttl.bz2": ("\n".join(objects) + "\n", bz2.compress),
        f"labels_{own}.ttl.gz": ("\r\n".join([started, *labels, completed, ""]), gzip.compress),
        f"interlanguage_links_{own}.tql": ("\n".join(lines_of(links[:half], rng, graph=True)), bytes),
        f"sameas_{own}.ttl": ("\n".join(turtle) + "\n", bytes),
        f"redirects_{own}.nt": ("\n".join(["", *lines_of(redirects, rng), ""]) + "\n", bytes),
    }
    for name, (text, packed) in made.items():
        (folder / name).write_bytes(packed(text.encode()))
    return sorted(folder / name for name in made)


@dataclass
class Built:
    """A world with its dumps, ready to build from."""

    world: World
    recipe: Recipe
    folder: Path


@pytest.fixture
def make_build(tmp_path):
    """Dumps of a world, made anew for each test."""

    def make(seed: int = 0, things: int = 60, bad_lines: int = 0, **options) -> Built:
        world = options.pop("world", None) or make_world(seed, things)
        dumps = [
            tuple(write_dumps(world, tmp_path / f"dumps-{side}", side, bad_lines, seed + side))
            for side in (0, 1)
        ]
        return Built(world, Recipe(*dumps, **{"languages": world.languages, **options}), tmp_path / "out")

    return make
