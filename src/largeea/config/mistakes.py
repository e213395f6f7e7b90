"""Wrong settings, explained in words."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from largeea.config.renamed import MOVED, REPLACED
from largeea.config.settings import Config

_MOST_PROBLEMS, _LONGEST = 10, 200
"""Problems in a message, and characters of what is given in each."""


def explain(error: ValidationError) -> str:
    """Say what is wrong with each setting, and what is allowed."""
    problems = error.errors()
    words = [_problem_in_words(problem) for problem in problems[:_MOST_PROBLEMS]]
    if more := len(problems) - len(words):
        words.append(f"and {more:,} more")
    return "; ".join(words)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _problem_in_words(problem: ErrorDetails) -> str:
    place = _cut(".".join(str(part) for part in problem["loc"]))
    if problem["type"] == "value_error":
        return f"{place}: {problem['ctx']['error']}"
    if problem["type"] != "extra_forbidden":
        return f"{place} = {_cut(repr(problem['input']))}: {problem['msg']}"
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
