"""Requests of the protocol, parsed and checked; what is wrong with one is said with its place."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
    model_validator,
)

MAX_PROPERTIES = 10
MAX_VALUES = 10
MAX_TYPES = 10
"""Of one query; of one property."""
MAX_WANTED = 100
"""Properties of one data extension."""
MAX_TEXT = 4096
"""Characters of a name or value; longer texts are not names."""
DEFAULT_LIMIT, MAX_LIMIT = 10, 100
"""Candidates of a query if it does not say how many, and at most."""
T = TypeVar("T")


class BadRequest(Exception):  # noqa: N818
    """A request that cannot be answered; `status` is the HTTP status."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _as_list(given: Any) -> Any:
    return given if isinstance(given, list) else [given]


Text = Annotated[StrictStr, Field(max_length=MAX_TEXT)]


class EntityValue(_Model):
    """A value that is an entity."""

    id: Text
    name: Text | None = None


GivenValue = StrictBool | StrictInt | StrictFloat | Text | EntityValue


class Constraint(_Model):
    """A property that a candidate should have with one of these values."""

    pid: Text
    v: Annotated[list[GivenValue], Field(max_length=MAX_VALUES), BeforeValidator(_as_list)]


class Query(_Model):
    """One reconciliation query."""

    query: Text | None = None
    type: Annotated[list[Text], Field(max_length=MAX_TYPES), BeforeValidator(_as_list)] = []
    type_strict: Literal["any", "should", "all"] = "any"
    limit: Annotated[int, Field(ge=1)] = DEFAULT_LIMIT
    properties: Annotated[list[Constraint], Field(max_length=MAX_PROPERTIES)] = []

    @model_validator(mode="after")
    def _asks_something(self) -> Query:
        if self.query is None and not self.properties:
            raise ValueError("either query or properties is needed")
        return self

    @property
    def text(self) -> str:
        """The name or identifier that is looked for; "" if only properties are given."""
        return (self.query or "").strip()

    @cached_property
    def types(self) -> list[str]:
        """The types that are asked for; an empty text is none."""
        return [kind for kind in self.type if kind]


class PropertySettings(_Model):
    """Settings of a property whose values are asked for; see the manifest."""

    limit: Annotated[int, Field(ge=0), BeforeValidator(lambda given: given or 0)] = 0


class WantedProperty(_Model):
    """A property whose values are asked for."""

    id: Text
    settings: PropertySettings = PropertySettings()


class Extension(_Model):
    """A data extension query."""

    ids: list[Text]
    properties: Annotated[list[WantedProperty], Field(max_length=MAX_WANTED)]


_QUERIES = TypeAdapter(dict[str, Query])
_EXTENSION = TypeAdapter(Extension)


def parse_queries(text: str, most: int) -> dict[str, Query]:
    """The queries of a batch by their keys; more than `most` are refused with 413."""
    queries = _parse(_QUERIES, "queries", text)
    _refuse_above(most, len(queries), "queries in a batch")
    return queries


def parse_extension(text: str, most: int) -> Extension:
    """A data extension query; more than `most` entities are refused with 413."""
    extension = _parse(_EXTENSION, "extend", text)
    _refuse_above(most, len(extension.ids), "entities in a data extension")
    return extension


def whole_number(name: str, given: str | None, default: int, most: int) -> int:
    """The value of a URL parameter: a whole number, `most` at most."""
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise BadRequest(f"{name} is {given[:40]!r}; it must be a whole number from 0")
    return min(int(given), most)


def _parse(adapter: TypeAdapter[T], field: str, text: str) -> T:
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        raise BadRequest("; ".join(_problem(field, problem) for problem in problems[:3])) from None


def _problem(field: str, problem: Any) -> str:
    """What is wrong and where, such as `queries.q0.limit: Input should be a valid integer`."""
    place = ".".join([field, *(str(part)[:80] for part in problem["loc"])])
    return f"{place}: {problem['msg']}"


def _refuse_above(most: int, count: int, what: str) -> None:
    if count > most:
        raise BadRequest(f"{count:,} {what}; the limit is {most:,}", 413)
