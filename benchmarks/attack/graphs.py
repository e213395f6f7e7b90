"""Graphs that an adversary would make: time and memory at a size and at twice that size.

Growth beyond `FACTOR`, twice in a row, is a fall: linear work doubles, quadratic work takes four times as
long. CPU time is compared, so that other programs on the machine do not matter.

    python -m benchmarks.attack.graphs "one hub" 1000000 --memory 10GB    one graph, with its slowest stages
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain, islice, permutations
from pathlib import Path

from benchmarks.attack.collisions import colliding_texts
from benchmarks.attack.process import Outcome, fall, run
from benchmarks.attack.workshop import LABEL, Attempt, Workshop, statements

FACTOR = 3.0
NEGLIGIBLE_SECONDS, NEGLIGIBLE_MB = 4.0, 200.0
SECONDS = 7200
STAGES_SHOWN = 3
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"

WORDS = ("river", "stone", "green", "upper", "north", "saint", "field", "house", "water")
"""Nine words, for names that differ in nothing but their order."""
_LETTERS = str.maketrans("0123456789", "ghijklmnop")

Lines = Iterator[str]


def _named(side: str, n: int, name: Callable[[int], str]) -> Lines:
    for i in range(n):
        yield f'<urn:{side}:{i}> {LABEL} "{name(i)}" .\n<urn:{side}:{i}> <urn:p> <urn:{side}:{i // 2}> .\n'


def hub(side: str, n: int) -> Lines:
    for i in range(n):
        yield f"<urn:{side}:Hub> <urn:p> <urn:{side}:Spoke{i}> .\n"


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
    "n relations": own_relations,
    "n namespaces": own_namespaces,
    "n levels of classes": deep_classes,
    "blank nodes": blank_nodes,
    "a list of n blank nodes": blank_list,
}
SMALL: dict[str, Lines] = {
    "one entity": iter(['<urn:{side}:x> <urn:p> "1" .\n']),
    "no edge": iter([f'<urn:{{side}}:{i}> {LABEL} "Town {i}" .\n' for i in range(9)]),
    "a loop": iter(["<urn:{side}:x> <urn:p> <urn:{side}:x> .\n"]),
    "only blank nodes": iter(["_:a <urn:p> _:b .\n"]),
    "nothing": iter(()),
}


EXPLANATIONS = {
    "explain": ["explain", "run", "The Hub", "--json"],
    "report": ["report", "run", "-q"],
}


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    size = 500_000 if most is None else 10_000 if most >= 10 else 1000
    for name, lines in SMALL.items():
        text = "".join(lines)
        outcome = aligned(workshop, lambda side, text=text: iter([text.replace("{side}", side)]))
        yield f"graph: {name}", fall(outcome)
    base = aligned(workshop, statements)
    for name, make in GROWING.items():

        def of_size(n: int, make: Callable[[str, int], Lines] = make) -> Outcome:
            return aligned(workshop, lambda side: chain(statements(side), make(side, n)))

        small, large = of_size(size), of_size(2 * size)
        wrong = fall(small) or fall(large)
        if not wrong and grown(base, small, large):  # once may be chance, such as one round more
            wrong = grown(base, large, of_size(4 * size))
        yield f"graph: {name}", wrong
    yield from explained(workshop, size)


def explained(workshop: Workshop, size: int) -> Iterator[Attempt]:
    """Explain and report a pair of hubs, which has all of their neighbours as evidence."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in EXPLANATIONS}
    for n in (1, size, 2 * size):
        aligned(workshop, lambda side, n=n: hub_of_pairs(side, n))
        for name, arguments in EXPLANATIONS.items():
            outcomes[name].append(run(arguments, seconds=SECONDS))
    for name, (base, small, large) in outcomes.items():
        yield f"{name}: a pair of hubs", fall(small, (0,)) or grown(base, small, large)


def aligned(workshop: Workshop, make: Callable[[str], Lines], *options: str) -> Outcome:
    """Align two graphs of these lines."""
    workshop.clear()
    for side in "ab":
        with Path(f"{side}.nt").open("w") as file:
            file.writelines(make(side))
    return run(["align", "a.nt", "b.nt", "-o", "run", "--quiet", *options], seconds=SECONDS)


def grown(base: Outcome, small: Outcome, large: Outcome) -> str | None:
    """Return what is wrong with the growth from one size to twice that size."""
    if wrong := fall(large):
        return wrong
    kinds = (
        ("CPU s", NEGLIGIBLE_SECONDS, [one.cpu_seconds for one in (base, small, large)]),
        ("MB", NEGLIGIBLE_MB, [one.memory_mb for one in (base, small, large)]),
    )
    for unit, negligible, (alone, before, after) in kinds:
        added, added_by_twice = max(before - alone, negligible / FACTOR), after - alone
        if added_by_twice > negligible and added_by_twice / added > FACTOR:
            return f"{added:.1f} {unit} become {added_by_twice:.1f} at twice the size"
    return None


def main(name: str, n: int, *options: str) -> None:
    """Print what the alignment of one of the growing graphs takes."""
    with tempfile.TemporaryDirectory(prefix="attack") as place:
        workshop = Workshop(Path(place).resolve())
        make = GROWING[name]
        outcome = aligned(workshop, lambda side: chain(statements(side), make(side, n)), *options)
        told = fall(outcome) or f"{outcome.cpu_seconds:.0f} s of CPU time, {outcome.memory_mb:,.0f} MB"
        print(f"{name}, n = {n:,}: {told}")
        timings = json.loads(Path("run/manifest.json").read_text())["timings"]
        took = {stage: sum(one["seconds"] for one in runs.values()) for stage, runs in timings.items()}
        for stage in sorted(took, key=lambda stage: -took[stage])[:STAGES_SHOWN]:
            print(f"    {stage}: {took[stage]:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
