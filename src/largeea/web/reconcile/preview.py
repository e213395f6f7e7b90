"""A small HTML page about an entity, for the frame that a client shows beside it."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from itertools import islice

from largeea.report.page import visible
from largeea.web.reconcile.answers import Reconciler
from largeea.web.reconcile.facts import Property, Value

WIDTH, HEIGHT = 420, 260
SHOWN_PROPERTIES, SHOWN_VALUES, LONGEST_VALUE = 12, 3, 120
_STYLE = (
    "body{font:14px/1.4 system-ui,sans-serif;margin:10px;color:#222}h1{font-size:17px;margin:0 0 4px}"
    "p{margin:0 0 6px}th{text-align:left;vertical-align:top;font-weight:600;padding-right:8px}"
    "table{font-size:12px;border-spacing:0 2px}a{color:#05c;overflow-wrap:anywhere;font-size:12px}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
CONTENT_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors *"
)
"""No script, no picture, no other file; any client may show the page in a frame."""


def preview(reconciler: Reconciler, entity: int) -> str:
    """The page: name, identifier, types, description and some values. All text of the graph is escaped."""
    facts, schema = reconciler.facts, reconciler.schema
    name, described = _shown(facts.name(entity)), facts.description(entity)
    types = ", ".join(_shown(kind["name"]) for kind in schema.types_of(entity))
    rows = [
        f"<tr><th>{_shown(entry.name)}<td>{_values(reconciler, entity, entry)}"
        for entry in islice(facts.used(entity, schema.properties), SHOWN_PROPERTIES)
    ]
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{name}</title><style>{_STYLE}</style>'
        f"<h1>{name}</h1><p>{_link(facts.iri(entity))}<p>{types}"
        f"<p>{_shown(described or '')}<table>{''.join(rows)}</table></html>"
    )


def _link(iri: str) -> str:
    """A link to a web address; other identifiers are text."""
    if not iri.lower().startswith(("http://", "https://")):
        return _shown(iri)
    return f'<a href="{escape(iri)}" target="_blank" rel="noopener noreferrer">{_shown(iri)}</a>'


def _values(reconciler: Reconciler, entity: int, entry: Property) -> str:
    values = reconciler.facts.values(entity, entry, SHOWN_VALUES + 1)
    shown = "; ".join(_shown(_text(reconciler, value)) for value in values[:SHOWN_VALUES])
    return f"{shown}; …" if len(values) > SHOWN_VALUES else shown


def _text(reconciler: Reconciler, value: Value) -> str:
    text = reconciler.facts.name(value) if isinstance(value, int) else value.text
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def _shown(text: str) -> str:
    """Text of the graph as HTML on one line, without characters that hide or reorder what is around them."""
    return escape(visible(" ".join(text.split())))
