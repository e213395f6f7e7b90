"""Graphs that an adversary would make, as lines of N-Triples of either side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, permutations

from benchmarks.attack.collisions import colliding_texts

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TOWNS = ["Paris", "Tokyo", "Lima", "Berlin", "Quito", "Oslo", "Dublin", "Cairo"]
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"

WORDS = ("river", "stone", "green", "upper", "north", "saint", "field", "house", "water")
"""Nine words, for names that differ in nothing but their order."""
_LETTERS = str.maketrans("0123456789", "ghijklmnop")

Lines = Iterator[str]


def statements(side: str, towns: list[str] = TOWNS) -> Lines:
    """Yield the lines of a tiny graph in N-Triples: names, edges and literals."""
    for i, town in enumerate(towns):
        yield f'<urn:{side}:{town}> {LABEL} "{town}" .\n'
        yield f"<urn:{side}:{town}> <urn:p> <urn:{side}:{towns[(3 * i + 1) % len(towns)]}> .\n"
        yield f'<urn:{side}:{town}> <urn:year> "{1900 + i}" .\n'


def _named(side: str, n: int, name: Callable[[int], str]) -> Lines:
    for i in range(n):
        yield f'<urn:{side}:{i}> {LABEL} "{name(i)}" .\n<urn:{side}:{i}> <urn:p> <urn:{side}:{i // 2}> .\n'


def hub(side: str, n: int) -> Lines:
    for i in range(n):
        yield f"<urn:{side}:Hub> <urn:p> <urn:{side}:Spoke{i}> .\n"


def around_landmarks(side: str, n: int) -> Lines:
    """Entities with three of 100 neighbours each: many surroundings are alike, but few are equal."""
    for i in range(100):
        yield f'<urn:{side}:Landmark{i}> {LABEL} "landmark {i * 7919:x}" .\n'
    for i in range(n):
        for step in (7, 1009, 30011):
            place = (i * step // 13 + i // step) % 100
            yield f"<urn:{side}:Spoke{i}> <urn:p> <urn:{side}:Landmark{place}> .\n"


def hub_of_pairs(side: str, n: int, relations: int = 1) -> Lines:
    """A hub whose neighbours have names of their own, the same on both sides."""
    yield f'<urn:{side}:hub> {LABEL} "The Hub" .\n'
    for i in range(n):
        name = f"{i * 2_654_435_761 % (1 << 32):08x}".translate(_LETTERS)
        yield f"<urn:{side}:hub> <urn:p{i % relations}> <urn:{side}:{i}> .\n"
        yield f'<urn:{side}:{i}> {LABEL} "{name}" .\n'


def distinct_values(side: str, n: int) -> Lines:
    for i in range(n):
        yield f'<urn:{side}:{i}> {LABEL} "Town {i}" .\n<urn:{side}:{i}> <urn:v> "value {i}" .\n'


def namesakes_around_a_hub(side: str, n: int) -> Lines:
    for i in range(n):
        yield f'<urn:{side}:hub> <urn:p> <urn:{side}:{i}> .\n<urn:{side}:{i}> {LABEL} "Springfield" .\n'


def one_value_for_all(side: str, n: int) -> Lines:
    for i in range(n):
        yield f'<urn:{side}:{i}> {LABEL} "Town {i}" .\n<urn:{side}:{i}> <urn:v> "the same" .\n'


def many_values(side: str, n: int) -> Lines:
    for i in range(n):
        yield f'<urn:{side}:Paris> <urn:v{i % 7}> "value {i}" .\n'


def many_aliases(side: str, n: int) -> Lines:
    for i in range(n):
        yield f'<urn:{side}:Paris> <http://www.w3.org/2004/02/skos/core#altLabel> "alias {i}" .\n'


def many_predicates(side: str, n: int) -> Lines:
    for i in range(n // 10):
        yield f"<urn:{side}:Paris> <urn:p{i}> <urn:{side}:Lima> .\n"


def own_properties(side: str, n: int) -> Lines:
    """Entities with 100 properties each that no other entity has."""
    for i in range(n):
        if i % 100 == 0:
            yield f'<urn:{side}:{i // 100}> {LABEL} "Town {i * 7919:x}" .\n'
        yield f'<urn:{side}:{i // 100}> <urn:{side}:v{i}> "value {i}" .\n'


def properties_with_one_value(side: str, n: int) -> Lines:
    """Two entities each have 100 of n properties, all with the same value."""
    for i in range(n):
        for name in ("east", "west"):
            if i % 100 == 0:
                yield f'<urn:{side}:{name}{i // 100}> {LABEL} "{name} {i * 7919:x}" .\n'
            yield f'<urn:{side}:{name}{i // 100}> <urn:v{i}> "yes" .\n'


def namesake_with_many_properties(side: str, n: int) -> Lines:
    """Everything has one name, and so has the first entity, which has n properties."""
    for i in range(n):
        yield f'<urn:{side}:!> <urn:v{i}> "{i}" .\n<urn:{side}:{i}> {LABEL} "Springfield" .\n'
        yield f'<urn:{side}:{i}> <urn:year> "{i}" .\n'
    yield f'<urn:{side}:!> {LABEL} "Springfield" .\n'


def deep_classes(side: str, n: int) -> Lines:
    for i in range(n):
        yield f"<urn:{side}:Class{i}> {SUBCLASS} <urn:{side}:Class{i + 1}> .\n"


def blank_nodes(side: str, n: int) -> Lines:
    for i in range(n):
        yield f'_:b{i} <urn:p> _:b{i // 2} .\n_:b{i} {LABEL} "node {i}" .\n'


def blank_list(side: str, n: int) -> Lines:
    """One list of n blank nodes."""
    yield f"<urn:{side}:list> <urn:p> _:l0 .\n"
    for i in range(n):
        following = f"_:l{i + 1}" if i + 1 < n else f"<{RDF}nil>"
        yield f"_:l{i} <{RDF}first> _:x{i} .\n_:l{i} <{RDF}rest> {following} .\n"


def own_relations(side: str, n: int) -> Lines:
    for i in range(n):
        yield f"<urn:{side}:Town{i}> <urn:{side}:p{i}> <urn:{side}:Town{i + 1}> .\n"


def own_namespaces(side: str, n: int) -> Lines:
    for i in range(n):
        yield f"<http://{side}{i}.example/Town{i}> <urn:p> <http://{side}{i // 2}.example/Town{i // 2}> .\n"


def other_orders(side: str, n: int) -> Lines:
    """Names of the same words in another order, which share nearly all n-grams."""
    orders = [" ".join(order) for order in islice(permutations(WORDS), n)]
    return _named(side, n, lambda i: orders[i % len(orders)])


def colliding_values(side: str, n: int) -> Lines:
    for i, text in enumerate(colliding_texts(n)):
        yield f'<urn:{side}:{i}> {LABEL} "{text}" .\n<urn:{side}:{i}> <urn:v> "{text}" .\n'


GROWING: dict[str, Callable[[str, int], Lines]] = {
    "one hub": hub,
    "100 hubs": around_landmarks,
    "one hub of matched neighbours": hub_of_pairs,
    "one hub of n relations": lambda side, n: hub_of_pairs(side, n, n),
    "equal names": lambda side, n: _named(side, n, lambda i: "Springfield"),
    "equal names around a hub": namesakes_around_a_hub,
    "names of one repeated character": lambda side, n: _named(side, n, lambda i: "a" * (1 + i % 500)),
    "one word in all names": lambda side, n: _named(side, n, lambda i: f"municipality {i:x}"),
    "nothing in common": lambda side, n: _named(side, n, lambda i: f"{side * 3} {i * 7919:x}"),
    "names of the same words": other_orders,
    "names that collide in hash tables": colliding_values,
    "n/10 names of 1000 letters": lambda side, n: _named(side, n // 10, lambda i: f"{i:x} " + "xyz " * 250),
    "one name of n letters": lambda side, n: _named(side, 2, lambda i: f"{i}" + "xyz " * (n * 25)),
    "one value for all": one_value_for_all,
    "n distinct values": distinct_values,
    "n values of one entity": many_values,
    "n aliases of one entity": many_aliases,
    "n/10 predicates of one pair": many_predicates,
    "n properties of n/100 entities": own_properties,
    "n properties with one value": properties_with_one_value,
    "a namesake with n properties": namesake_with_many_properties,
    "n relations": own_relations,
    "n namespaces": own_namespaces,
    "n levels of classes": deep_classes,
    "blank nodes": blank_nodes,
    "a list of n blank nodes": blank_list,
}
SMALL = {
    "one entity": '<urn:{side}:x> <urn:p> "1" .\n',
    "no edge": "".join(f'<urn:{{side}}:{i}> {LABEL} "Town {i}" .\n' for i in range(9)),
    "a loop": "<urn:{side}:x> <urn:p> <urn:{side}:x> .\n",
    "only blank nodes": "_:a <urn:p> _:b .\n",
    "nothing": "",
}
