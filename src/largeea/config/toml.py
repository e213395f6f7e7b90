"""Settings as TOML: whole files, and single `key=value` settings."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from largeea.errors import InputError, UsageError

MOST_BYTES = 1 << 16
"""Of a file of settings: all of them take a twentieth of it."""
MOST_DOTS = 100
"""In a line, outside of quotes: `tomllib` stores every beginning of a key, the square of its length."""
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError(f"has more than {MOST_BYTES:,} bytes, too many for a configuration", path)
        return _parsed(content.decode())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    except ValueError as error:
        raise InputError(f"is not a TOML file: {error}", path) from None
    except RecursionError:
        raise InputError("has brackets that are nested too deep for a configuration", path) from None


def parse_setting(setting: str) -> dict[str, Any]:
    """Return `names.top_k=20` as `{"names": {"top_k": 20}}`. What is not TOML is taken as text."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set needs key=value, for example names.top_k=20; got {setting!r}")
    try:
        value = _parsed(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    except ValueError as error:
        raise UsageError(f"--set {key}: {error}") from None
    except RecursionError:
        raise UsageError(f"--set {key}: the value has brackets that are nested too deep") from None
    for part in reversed(key.strip().split(".")):
        value = {part: value}
    return dict(value)


def _parsed(text: str) -> dict[str, Any]:
    if any(_QUOTED.sub("", line).count(".") > MOST_DOTS for line in text.splitlines()):
        raise ValueError(f"a line has more than {MOST_DOTS} dots")
    return tomllib.loads(text)


def to_toml(values: dict[str, Any]) -> str:
    """Return settings as a TOML document. Dictionaries become sections."""
    lines = [_line(key, value) for key, value in values.items() if not isinstance(value, dict)]
    for section, content in values.items():
        if isinstance(content, dict):
            lines += ["", f"[{section}]", *(_line(key, value) for key, value in content.items())]
    return "\n".join(lines) + "\n"


def _line(key: str, value: Any) -> str:
    return f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
