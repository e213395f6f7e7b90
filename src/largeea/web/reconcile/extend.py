"""Data extension: the values of properties, for a table that has been reconciled."""

from __future__ import annotations

import math
import re
import time
from typing import Any

from largeea.formats.vocabularies import XSD
from largeea.web.reconcile.answers import Reconciler
from largeea.web.reconcile.facts import Facts, Value
from largeea.web.reconcile.queries import BadRequest, Extension, WantedProperty

MAX_VALUES = 1000
"""Values of one property of one entity in an answer."""
MAX_CELLS = 100_000
"""Values in an answer."""
_INTEGERS = {
    XSD + name
    for name in (
        *("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
}
_FLOATS = {XSD + name for name in ("decimal", "double", "float")}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")
_DAY = r"-?(?:[1-9][0-9]*)?[0-9]{4}-(?:1[0-2]|0[1-9])-(?:3[01]|0[1-9]|[12][0-9])"
_ZONE = r"(?:Z|[+-](?:2[0-3]|[01][0-9]):[0-5][0-9])?"
_DATE = re.compile(rf"({_DAY})({_ZONE})")
_DATE_TIME = re.compile(rf"{_DAY}T(?:2[0-3]|[01][0-9]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?{_ZONE}")


def extend(reconciler: Reconciler, asked: Extension, seconds: float) -> dict[str, Any]:
    """The answer to a data extension query; an unknown entity or property has no values.

    Stops with status 503 when the time is over: the literals of a hub are looked through for each property.
    """
    deadline = time.monotonic() + seconds
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    cells = 0
    for identifier in dict.fromkeys(asked.ids):
        entity = reconciler.facts.find(identifier)
        row = rows[identifier] = {}
        for wanted in asked.properties:
            row[wanted.id] = _cells(reconciler, entity, wanted)
            cells += len(row[wanted.id])
            if cells > MAX_CELLS:
                raise BadRequest(f"more than {MAX_CELLS:,} values; ask for fewer entities or properties", 413)
            if time.monotonic() > deadline:
                raise BadRequest(f"it took more than {seconds:g} s; ask for fewer entities", 503)
    return {"meta": [_meta(reconciler, wanted) for wanted in asked.properties], "rows": rows}


def propose(reconciler: Reconciler, type_iri: str, limit: int) -> dict[str, Any]:
    """The properties that are worth asking for: those that entities of a type have, most frequent first."""
    schema = reconciler.schema
    found = schema.properties_of(type_iri) if type_iri else schema.properties
    return {
        "type": type_iri,
        "limit": limit,
        "properties": [{"id": entry.iri, "name": entry.name} for entry in found[:limit]],
    }


def _meta(reconciler: Reconciler, wanted: WantedProperty) -> dict[str, str]:
    found = reconciler.schema.property(wanted.id)
    return {"id": wanted.id, "name": wanted.id if found is None else found.name}


def _cells(reconciler: Reconciler, entity: int, wanted: WantedProperty) -> list[dict[str, Any]]:
    found = reconciler.schema.property(wanted.id)
    if entity < 0 or found is None:
        return []
    values = reconciler.facts.values(entity, found, min(wanted.settings.limit or MAX_VALUES, MAX_VALUES))
    return [cell(reconciler.facts, value) for value in values]


def cell(facts: Facts, value: Value) -> dict[str, Any]:
    """One value as the protocol writes it; a literal that does not fit its datatype is a text."""
    if isinstance(value, int):
        return {"id": facts.iri(value), "name": facts.name(value)}
    text, tag = value.text.strip(), value.tag
    if tag in _INTEGERS and _INTEGER.fullmatch(text):
        return {"int": int(text)}
    if tag in _FLOATS and (number := _finite(text)) is not None:
        return {"float": number}
    if tag == XSD + "boolean" and text in _BOOLEANS:
        return {"bool": _BOOLEANS[text]}
    if tag == XSD + "date" and (parts := _DATE.fullmatch(text)):
        return {"date": f"{parts[1]}T00:00:00{parts[2]}"}
    if tag == XSD + "dateTime" and _DATE_TIME.fullmatch(text):
        return {"date": text}
    return {"str": value.text}


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
