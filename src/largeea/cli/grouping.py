"""Commands whose parameters may be groups of options: `limits: Limits` stands for all options of `Limits`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, get_type_hints


class Group:
    """Base of the dataclasses whose fields are options that are given together."""


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose signature has the options of each group in place of the group."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if _is_group(kind)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        own = [parameter.replace(annotation=hints[name])]
        parameters += parameters_of(groups[name]) if name in groups else own

    @wraps(command)
    def with_options(**given: Any) -> None:
        filled = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**filled, **given)

    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    return with_options


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Group)


def parameters_of(group: type[Group]) -> list[inspect.Parameter]:
    """Return the parameters of a group, with the annotations that typer reads."""
    hints = get_type_hints(group, include_extras=True)
    return [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(group).parameters.items()
    ]
