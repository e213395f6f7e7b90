"""Header words, and whether the first row of a table is a header."""

from __future__ import annotations

import re
from collections.abc import Sequence

TRIPLE_WORDS = {
    "subject": {"subject", "head", "s", "h", "subj", "source", "subject_id", "from"},
    "relation": {"relation", "predicate", "p", "r", "pred", "property", "rel"},
    "object": {"object", "tail", "o", "t", "obj", "target", "object_id", "to"},
}
ID_WORDS = {
    *("id", "ids", "identifier", "key", "uri", "iri", "code", "qid", "uuid", "guid", "nr", "no", "number"),
    *("nummer", "kennung", "schlüssel", "lei", "isin", "isbn", "issn", "doi", "orcid", "ref", "index"),
}
NAME_WORDS = (
    *("name", "label", "preflabel", "pref_label", "rdfs_label", "title", "names", "labels"),
    *("bezeichnung", "titel", "nom", "nombre", "nome", "naam", "libelle", "libellé", "titre", "titulo"),
    *("term", "full_name", "fullname", "display_name"),
)
"""Headers of names, the best first."""
ALIAS_WORDS = {
    *("alias", "aliases", "altlabel", "alt_label", "alt_labels", "synonym", "synonyms", "aka"),
    *("also_known_as", "alternative_name", "alternate_name", "alternative_names", "alternate_names"),
    *("other_name", "other_names", "short_name", "nickname", "alt_name", "alt_names"),
}
GIVEN_NAME_WORDS = {
    *("given_name", "first_name", "forename", "givenname", "firstname", "vorname", "prénom", "prenom"),
}
FAMILY_NAME_WORDS = {"family_name", "last_name", "surname", "familyname", "lastname", "nachname"}
PART_OF_NAME_WORDS = GIVEN_NAME_WORDS | FAMILY_NAME_WORDS | {"middle_name"}
LINK_WORDS = {
    *("parent", "parents", "broader", "narrower", "manager", "boss", "owner", "part", "partof", "subclass"),
    *("superclass", "super", "related", "successor", "predecessor", "child", "of", "ref", "id", "fk"),
    *("supervisor", "father", "mother", "spouse", "married", "subsidiary", "subsidiaries"),
}
WEB_WORDS = {"url", "website", "homepage", "web", "link", "image", "photo", "logo", "email", "mail"}
VALUE_WORDS = {
    *("city", "town", "country", "region", "state", "zip", "postcode", "postal", "address", "street"),
    *("year", "date", "founded", "born", "died", "birth", "death", "created", "updated", "since", "time"),
    *("population", "area", "price", "amount", "count", "size", "age", "height", "weight", "length", "rank"),
    *("type", "class", "category", "kind", "genre", "status", "sector", "industry", "language", "lang"),
    *("description", "comment", "note", "notes", "abstract", "summary", "definition", "remark"),
    *("phone", "telephone", "tel", "fax", "mobile", "latitude", "longitude", "lat", "lon", "lng"),
    *("author", "authors", "publisher", "journal", "venue", "director", "artist", "album", "brand"),
    *("value", "gender", "sex", "cuisine", "currency", "unit", "color", "colour", "model", "version"),
    *("stadt", "ort", "land", "plz", "straße", "strasse", "adresse", "jahr", "gründung", "datum"),
    *("einwohner", "beschreibung", "ville", "pays", "année", "annee", "ciudad", "país", "pais", "año"),
    *("employees", "revenue", "headquarters", "capital", "continent", "location", "place", "fecha"),
}
KINDS = {
    "number": r"^[+-]?(\d+|\d{1,3}([.,' ]\d{3})+|\d*[.,]\d+)([eE][+-]?\d+)?\s?[%€$£]?$",
    "date": r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T]\d{1,2}:\d\d.*)?$",
    "iri": r"^<?([a-zA-Z][a-zA-Z0-9+.-]*://|urn:|_:)\S*$",
    "code": r"^[^\s\d]*\d[^\s]*$",
}
"""What a cell can be besides text, as regular expressions, the most specific first."""
_KINDS = {kind: re.compile(pattern) for kind, pattern in KINDS.items()}
_HUMP = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")
_SAME = 0.9
"""Share of the cells of a column that must be of one kind for the column to be of that kind."""


def words_of(title: str) -> tuple[str, ...]:
    """The words of a header in lower case: `companyId` and `company id` are both `company`, `id`."""
    return tuple(re.findall(r"[^\W_]+", _HUMP.sub(" ", title).lower()))


def normal(title: str) -> str:
    """The words of a header, joined with `_`."""
    return "_".join(words_of(title))


def rank_of_name(words: Sequence[str]) -> float:
    """How likely a header of these words is that of names.

    Above 1: it is a name word, the best first; 1: it ends with one; 0: it is none.
    """
    whole = "_".join(words)
    if whole in NAME_WORDS:
        return 3 - NAME_WORDS.index(whole) / len(NAME_WORDS)
    if whole in PART_OF_NAME_WORDS or not words:
        return 0
    if words[0] in NAME_WORDS[:6]:
        return 1.5
    return 1 if words[-1] in NAME_WORDS[:6] and not set(words) & VALUE_WORDS else 0


def triple_titles(titles: Sequence[str]) -> tuple[str, str, str] | None:
    """The headers of subject, relation and object; None unless all three are customary words."""
    found = {
        role: next((title for title in titles if title.strip().lower() in words), None)
        for role, words in TRIPLE_WORDS.items()
    }
    subject, relation, object = found["subject"], found["relation"], found["object"]
    return None if subject is None or relation is None or object is None else (subject, relation, object)


def kind_of(cell: str) -> str:
    """`number`, `date`, `iri`, `code` or `text`."""
    cell = cell.strip()
    return next((kind for kind, pattern in _KINDS.items() if pattern.match(cell)), "text")


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Whether the first row is a header, judged by the rows below; None if that cannot be told.

    Customary words make a header; so does text above a column of numbers, dates, IRIs or codes. A first row
    whose cells are of the same kind as those below, or occur again in their column, is data. One header may
    be empty, as that of row numbers is.
    """
    if triple_titles(first) is not None:
        return True
    below = [
        [row[at].strip() for row in rows if at < len(row) and row[at].strip()] for at in range(len(first))
    ]
    kinds = [kind_of(cell) for cell in first]
    same = [_kind_of_column(cells) for cells in below]
    known = [at for at, cell in enumerate(first) if _is_known(cell) and cell.strip() not in below[at]]
    full = sum(bool(cell.strip()) for cell in first) >= max(len(first) - 1, 1)
    if full and known and (known[0] == 0 or len(first) != 3):  # a triple may be `Paris type city`
        return True
    if any(kind == other != "text" for kind, other in zip(kinds, same, strict=True)):
        return False
    if any(cell.strip() in cells for cell, cells in zip(first, below, strict=True) if cell.strip()):
        return False
    if full and set(kinds) == {"text"} and any(kind not in ("text", "") for kind in same):
        return True
    return None


def _kind_of_column(cells: Sequence[str]) -> str:
    """The kind that nearly all cells have, `text` if they differ, nothing if there are none."""
    kinds = [kind_of(cell) for cell in cells]
    likely = max(set(kinds), key=kinds.count, default="")
    return likely if kinds.count(likely) >= _SAME * len(kinds) else "text"


def _is_known(title: str) -> bool:
    words = words_of(title)
    whole = "_".join(words)
    if whole in NAME_WORDS or whole in ALIAS_WORDS or whole in PART_OF_NAME_WORDS:
        return True
    return bool(words) and any(
        {words[0], words[-1]} & known
        for known in (ID_WORDS, VALUE_WORDS, WEB_WORDS, {"name", "label", "title", "parent"})
    )
