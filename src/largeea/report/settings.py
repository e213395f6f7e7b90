"""Settings that differ between runs or from the defaults, and the command that repeats a run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

from largeea.config import Config
from largeea.formats.columns import Columns
from largeea.formats.naming import LABEL_PREDICATES

_PLAIN = re.compile(r"(?!(true|false|inf|nan)$)[A-Za-z][A-Za-z0-9_:./-]*")


def flat(settings: dict[str, Any], place: str = "") -> dict[str, Any]:
    """Return nested settings by their dotted names, such as `names.top_k`."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= flat(value, f"{place}{name}.") if isinstance(value, dict) else {place + name: value}
    return found


def different(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the settings whose values differ, as `{name: (value in one, value in the other)}`."""
    first, second = flat(one), flat(other)
    names = dict.fromkeys([*first, *second])
    return {
        name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)
    }


def changed_settings(manifest: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the settings of a run that are not the default, as `{name: (default, value)}`."""
    return different(Config().model_dump(mode="json"), manifest.get("config", {}))


def command(manifest: dict[str, Any], output: str) -> str | None:
    """Return the command that repeats a run into `output`; None if its folder does not say how it started."""
    request = manifest.get("request")
    if not request:
        return None
    try:
        return _command(manifest, request, output)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # written by another release, or edited


def _command(manifest: dict[str, Any], request: dict[str, Any], output: str) -> str:
    target = [request["target"]] if request.get("target") else []
    if request.get("earlier"):
        given = [f"--source={request['source']}", *(f"--target={path}" for path in target)]
        return shlex.join(["largeea", "update", request["earlier"], *given, "-o", output])
    words = ["largeea", "align", request["source"], *target, "-o", output]
    if request.get("within"):
        words = ["largeea", "dedupe", request["source"], "-o", output]
        request = request | {"reading": (request.get("reading") or {}) | {"same_iri": True}}
    for option, name in (("--links", "seeds"), ("--not-links", "forbidden")):
        words += [word for path in _several(request.get(name)) for word in (option, path)]
    words += _reading(request.get("reading") or {})
    for name in request.get("formats") or ():
        words += ["--write", name] if name != "sssom" or len(request["formats"]) > 1 else []
    for name in ("predicate", "license", "date"):
        words += [f"--{name}", request[name]] if request.get(name) else []
    words += ["--with-doubtful"] if request.get("with_doubtful") else []
    words += _scope(request.get("scope") or {})
    for name, (_, value) in changed_settings(manifest).items():
        words += ["--set", f"{name}={_value(value)}"]
    return shlex.join(map(str, words))


def _several(given: Any) -> list[str]:
    """Return paths as a list; earlier versions stored one path, or none."""
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _reading(reading: dict[str, Any]) -> Iterator[str]:
    naming = reading.get("naming") or {}
    if naming.get("predicates") and list(naming["predicates"]) != list(LABEL_PREDICATES):
        for predicate in naming["predicates"]:
            yield from ("--label", predicate)
    for language in naming.get("languages") or ():
        yield from ("--language", language)
    for name in ("columns", "source_columns", "target_columns"):
        if reading.get(name):
            yield from (f"--{name.replace('_', '-')}", Columns(**reading[name]).to_text())
    for name in ("format", "sheet", "pair_language", "max_errors"):
        if reading.get(name) is not None:
            yield from (f"--{name.replace('_', '-')}", str(reading[name]))
    if reading.get("match", "auto") != "auto":
        yield from ("--match", reading["match"])
    if not reading.get("same_iri", True):
        yield from ("--same-iri", "off")


def _scope(scope: dict[str, Any]) -> Iterator[str]:
    for name, value in scope.items():
        for one in value if isinstance(value, list) else filter(None, [value]):
            yield from (f"--{name.replace('_', '-')}", one)


def _value(value: Any) -> str:
    """Return a value as `--set` reads it: TOML, or a plain word."""
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else json.dumps(value)
