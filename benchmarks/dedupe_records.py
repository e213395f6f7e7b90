"""Records of people with duplicates that are known: what `dedupe.py` measures on."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, replace

import numpy as np


def _words(text: str) -> list[str]:
    return text.split()


FIRST = _words(
    "James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan "
    "Joseph Jessica Thomas Sarah Charles Karen Daniel Lisa Matthew Nancy Anthony Betty Mark Sandra Donald "
    "Margaret Steven Ashley Andrew Kimberly Paul Emily Joshua Donna Kenneth Michelle Kevin Carol Brian "
    "Amanda George Melissa Edward Deborah Ronald Stephanie Timothy Rebecca Jason Sharon Jeffrey Laura "
    "Ryan Cynthia Jacob Kathleen Gary Amy Nicholas Angela Eric Shirley Jonathan Anna Stephen Brenda Larry "
    "Pamela Justin Emma Scott Nicole Brandon Helen Benjamin Samantha Samuel Katherine Gregory Christine "
    "Alexander"
)
SHORT = {
    "James": "Jim", "Robert": "Bob", "William": "Bill", "Richard": "Dick", "Elizabeth": "Liz",
    "Margaret": "Peggy", "Michael": "Mike", "Jennifer": "Jenny", "Patricia": "Pat", "Thomas": "Tom",
    "Daniel": "Dan", "Matthew": "Matt", "Anthony": "Tony", "Steven": "Steve", "Andrew": "Andy",
    "Joshua": "Josh", "Kenneth": "Ken", "Edward": "Ted", "Timothy": "Tim", "Rebecca": "Becky",
    "Jeffrey": "Jeff", "Nicholas": "Nick", "Jonathan": "Jon", "Stephen": "Steve", "Benjamin": "Ben",
    "Samantha": "Sam", "Samuel": "Sam", "Katherine": "Kate", "Gregory": "Greg", "Alexander": "Alex",
}  # fmt: skip
STEMS = _words(
    "Ander Hend Wil Thomp Robin Har John Peter Clark Ed Ste Mat Jack Nel Hug Mor Gra Wal Hamil Bar Brad "
    "Whit Carl Dal Ell Far Gil Hol Ken Law Mil New Ol Park Ram Sand Tal Under Var West York Ash Black Cor "
    "Drum"
)
ENDINGS = _words("son ton ley ford man er ing field well wood berg stone wick dale land by more ham den ett")
STREETS = _words(
    "Oak Maple Cedar Pine Elm Park Lake Hill Church Mill River Spring Station Victoria King Queen High "
    "Main Green Bridge Chapel School Meadow Forest Garden Sunset Highland Walnut Chestnut Willow Birch "
    "Franklin"
)
KINDS = {"Street": "St", "Road": "Rd", "Avenue": "Ave", "Lane": "Ln", "Drive": "Dr", "Court": "Ct"}
CITIES = _words(
    "Springfield Franklin Clinton Georgetown Salem Fairview Madison Washington Arlington Ashland Dover "
    "Oxford Jackson Burlington Manchester Milton Newport Auburn Dayton Lexington Milford Riverside "
    "Cleveland Hudson Kingston Winchester Bristol Centerville Chester Greenville Marion Oakland Troy "
    "Florence Lebanon Monroe"
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
RECORDS_OF_PERSON = (0.55, 0.28, 0.12, 0.05)
"""Share of people with one, two, three and four records."""
EVEN = 10
"""Ranks up to which words are about equally frequent: of 900 last names, the first has a share of 2 %."""
DIRTY = 0.6
"""Share of records that differ from what is true about the person."""


@dataclass(frozen=True)
class Person:
    """What a record says about a person; empty text for what is missing."""

    first: str
    middle: str
    last: str
    born: str
    street: str
    city: str
    phone: str
    order: str = "{first} {middle} {last}"

    @property
    def name(self) -> str:
        """The name as one text."""
        return " ".join(self.order.format(**vars(self)).split())


def records(people: int, seed: int, alone: bool = False) -> dict[str, list[str]]:
    """Columns of records in random order: id, name, born, street, city, phone, and the `person` they mean.

    People live in households, or each `alone`.
    """
    random = np.random.default_rng(seed)
    rows: list[tuple[int, Person]] = []
    for number, person in enumerate(population(people, random, alone)):
        for _ in range(1 + random.choice(len(RECORDS_OF_PERSON), p=RECORDS_OF_PERSON)):
            rows.append((number, spoilt(person, random) if random.random() < DIRTY else person))
    order = random.permutation(len(rows))
    fields = ("name", "born", "street", "city", "phone")
    columns = {field: [getattr(rows[at][1], field) for at in order] for field in fields}
    columns["id"] = [f"R{place:06}" for place in range(len(order))]
    return columns | {"person": [str(rows[at][0]) for at in order]}


def population(people: int, random: np.random.Generator, alone: bool) -> list[Person]:
    """People in households: those of one share street, city and mostly the phone and the last name."""
    lasts = [stem + ending for stem in STEMS for ending in ENDINGS]
    random.shuffle(lasts)
    found: list[Person] = []
    while len(found) < people:
        street = f"{random.integers(1, 300)} {_often(STREETS, random)} {_often(list(KINDS), random)}"
        city, phone, last = _often(CITIES, random), _phone(random), _often(lasts, random)
        for _ in range(1 if alone else random.integers(1, 4)):
            own_last = last if random.random() < 0.8 else _often(lasts, random)
            own_phone = phone if random.random() < 0.6 else _phone(random)
            middle = str(random.choice(FIRST))[0] if random.random() < 0.4 else ""
            found.append(
                Person(_often(FIRST, random), middle, own_last, _date(random), street, city, own_phone)
            )
    return found[:people]


def spoilt(person: Person, random: np.random.Generator) -> Person:
    """A record with one to three faults: typing errors, missing, shortened, swapped or outdated fields."""
    for fault in random.choice(FAULTS, random.integers(1, 4), replace=False):
        person = fault(person, random)
    return person


def _typing_error(person: Person, random: np.random.Generator) -> Person:
    field = str(random.choice(["first", "last", "last", "street", "city", "phone", "born"]))
    return replace(person, **{field: _mistyped(getattr(person, field), random)})


def _missing(person: Person, random: np.random.Generator) -> Person:
    return replace(person, **{str(random.choice(["born", "street", "city", "phone", "phone"])): ""})


def _shortened(person: Person, random: np.random.Generator) -> Person:
    if random.random() < 0.5:
        street = person.street
        for long, short in KINDS.items():
            street = street.replace(long, short)
        return replace(person, street=street)
    initial = f"{person.first[:1]}."
    return replace(person, first=SHORT.get(person.first, initial) if random.random() < 0.5 else initial)


def _reordered(person: Person, random: np.random.Generator) -> Person:
    if random.random() < 0.6:
        return replace(person, order="{last}, {first} {middle}")
    date = re.fullmatch(r"(\d{4})-(\d\d)-(0\d|1[0-2])", person.born)
    return replace(person, born="-".join(date.group(1, 3, 2))) if date else person


def _moved(person: Person, random: np.random.Generator) -> Person:
    street = f"{random.integers(1, 300)} {_often(STREETS, random)} {_often(list(KINDS), random)}"
    city = _often(CITIES, random) if random.random() < 0.5 else person.city
    return replace(person, street=street, city=city)


def _renamed(person: Person, random: np.random.Generator) -> Person:
    return replace(person, last=str(random.choice(STEMS)) + str(random.choice(ENDINGS)))


def _other_phone(person: Person, random: np.random.Generator) -> Person:
    return replace(person, phone=_phone(random))


FAULTS = (
    *(_typing_error, _typing_error, _typing_error, _missing, _missing, _shortened, _shortened, _reordered),
    *(_moved, _other_phone, _renamed),
)


def _mistyped(text: str, random: np.random.Generator) -> str:
    """The text with one character added, left out, changed or swapped with the next; digits stay digits."""
    if len(text) < 3:
        return text
    at = int(random.integers(1, len(text) - 1))
    other = str(random.integers(10)) if text[at].isdigit() else LETTERS[random.integers(26)]
    kind = random.integers(4)
    if kind == 0:
        return text[:at] + other + text[at:]
    if kind == 1:
        return text[:at] + text[at + 1 :]
    if kind == 2:
        return text[:at] + other + text[at + 1 :]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def _often(words: list[str], random: np.random.Generator) -> str:
    """One of the words; the frequencies fall with the rank as those of names and towns do (Zipf-Mandelbrot).

    The integral of `1 / (rank + EVEN)` is inverted, so that a draw takes constant time.
    """
    place = EVEN * ((len(words) + EVEN) / EVEN) ** random.random() - EVEN
    return words[min(int(place), len(words) - 1)]


def _date(random: np.random.Generator) -> str:
    return str(datetime.date(1930, 1, 1) + datetime.timedelta(days=int(random.integers(28_000))))


def _phone(random: np.random.Generator) -> str:
    return f"555-{random.integers(100, 1000)}-{random.integers(1000, 10_000)}"
