"""Wrong settings, explained in words."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from largeea.config.renamed import MOVED, REPLACED
from largeea.config.settings import Config


def explain(error: ValidationError) -> str:
    """Say what is wrong with each setting, and what is allowed."""
    return "; ".join(_problem_in_words(problem) for problem in error.errors())


def _problem_in_words(problem: ErrorDetails) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "value_error":
        return f"{place}: {problem['ctx']['error']}"
    if problem["type"] != "extra_forbidden":
        return f"{place} = {problem['input']!r}: {problem['msg']}"
    if place in REPLACED:
        return f"the setting {place!r} no longer exists; see {REPLACED[place]!r}"
    if place in MOVED:
        return (
            f"the setting {place!r} is no longer part of the configuration; use the execution "
            f"setting {MOVED[place]!r} instead, --{MOVED[place]} on the command line"
        )
    section: Any = Config
    for part in problem["loc"][:-1]:
        section = section.model_fields[str(part)].annotation
    return f"unknown setting {place!r}; known here: {', '.join(section.model_fields)}"
