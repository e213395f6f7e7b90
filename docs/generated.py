"""The parts of the reference pages that come from the code: commands, settings and the Python interface.

A page has the line `<!-- generated: commands -->` where its part belongs; the site shows the part instead.

python docs/generated.py commands|settings|python
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from typing import Any, get_args

import typer
from pydantic import BaseModel

import largeea
from largeea.cli import COMMANDS, make_app
from largeea.config import MOVED, PRESETS, RENAMED, REPLACED, Config

MODULES = {
    "largeea.finished": ["FinishedRun"],
    "largeea.explain": ["explain", "find_entity", "Explanation"],
    "largeea.report": ["write_report", "write_comparison"],
    "largeea.reviews": ["read_reviews"],
    "largeea.merging": ["merge_run"],
    "largeea.schema_mapping": ["schema_mapping"],
    "largeea.exporting": ["export"],
    "largeea.structure.models": ["Model"],
    "largeea.structure.partition": ["Partitioner"],
    "largeea.names.encoders": ["Encoder", "EncoderSettings", "load_encoder"],
    "largeea.datasets.demo": ["demo_pair"],
    "largeea.datasets.synth": ["find_twin", "synthetic_pair"],
}
"""What is documented beside `largeea.__all__`."""
_FIELD = re.compile(r"^(?!Example)(\w+): ", re.MULTILINE)
_LINE = 90
"""Characters of a signature on one line."""
_LIMITS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def with_generated_parts(page: str) -> str:
    """Return the text of a page with its generated parts filled in."""
    return re.sub(r"<!-- generated: (\w+) -->", lambda found: PARTS[found[1]](), page)


def commands() -> str:
    """Return every command with its arguments, options and examples."""
    group: Any = typer.main.get_command(make_app([]))
    return "\n".join(line for name in COMMANDS for line in _command(f"largeea {name}", group.commands[name]))


def _command(path: str, command: Any) -> Iterator[str]:
    yield from (f"## {path}", "", inspect.cleandoc(command.help or ""), "")
    if subcommands := getattr(command, "commands", None):
        for name, each in subcommands.items():
            yield from _command(f"{path} {name}", each)
        return
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = [path, *(_metavar(each) if each.required else f"[{_metavar(each)}]" for each in arguments)]
    yield from ("```text", " ".join([*usage, "[OPTIONS]"]), "```", "")
    yield from _table(("argument or option", "meaning", "default"), map(_parameter, command.params))
    if examples := re.findall(r"^`(.+)`$", command.epilog or "", re.MULTILINE):
        yield from ("Examples:", "", "```text", *examples, "```", "")


def _parameter(parameter: Any) -> tuple[str, str, str]:
    """Return name, meaning and default of an argument or option."""
    if parameter.param_type_name == "argument":
        return f"`{_metavar(parameter)}`", parameter.help or "", ""
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    default = parameter.default
    if isinstance(default, tuple | list):
        default = " ".join(map(str, default))
    shown = "required" if parameter.required else "" if default in (None, False, True, "") else f"`{default}`"
    return names, parameter.help or "", shown


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def settings() -> str:
    """Return every setting by section, the presets, and the settings that were renamed."""
    single = {name: field for name, field in Config.model_fields.items() if not _section(field)}
    lines = ["## Top level", "", *_settings("", single)]
    for name, field in Config.model_fields.items():
        if section := _section(field):
            lines += [f"## {name}", "", inspect.cleandoc(section.__doc__ or ""), ""]
            lines += _settings(f"{name}.", section.model_fields)
    lines += ["## Presets", "", "The settings in which each preset differs from the defaults.", ""]
    changed = ((f"`{preset}`", f"`{key}={value}`") for preset in PRESETS for key, value in _preset(preset))
    lines += _table(("preset", "setting"), changed)
    lines += ["## Renamed settings", "", "An old name still works, with a warning.", ""]
    lines += _table(("until release 0.1.0", "now"), ((f"`{o}`", f"`{n}`") for o, n in RENAMED.items()))
    lines += ["## Replaced settings", "", "These are errors, and the message says what to use instead.", ""]
    moved = {old: f"--{new}, execution setting {new}" for old, new in MOVED.items()}
    lines += _table(
        ("until release 0.1.0", "instead"), ((f"`{o}`", f"`{n}`") for o, n in (REPLACED | moved).items())
    )
    return "\n".join(lines)


def _section(field: Any) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if inspect.isclass(kind) and issubclass(kind, BaseModel) else None


def _settings(prefix: str, fields: dict[str, Any]) -> list[str]:
    rows = (
        (f"`{prefix}{name}`", f"`{_value(field.default)}`", _allowed(field), field.description or "")
        for name, field in fields.items()
    )
    return _table(("setting", "default", "allowed", "meaning"), rows)


def _allowed(field: Any) -> str:
    """Return the values that a setting may have, in words."""
    if choices := [each for each in get_args(field.annotation) if isinstance(each, str | int)]:
        return ", ".join(f"`{each}`" for each in choices)
    limits = [
        f"{word} {getattr(m, key)}"
        for m in field.metadata
        for key, word in _LIMITS.items()
        if hasattr(m, key)
    ]
    kind = {int: "whole number", float: "number", str: "text", bool: "`true`, `false`"}.get(
        field.annotation, "list"
    )
    return " ".join([kind, ", ".join(limits)]).strip()


def _preset(name: str) -> list[tuple[str, str]]:
    return [
        (f"{section}.{key}", _value(value))
        for section, values in PRESETS[name].items()
        for key, value in values.items()
    ]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return {(): "[]", "": '""'}.get(value, str(value))


def python() -> str:
    """Return the public functions and classes with their signatures and docstrings."""
    lines = ["## largeea", ""]
    for name in largeea.__all__:
        if name != "__version__":
            lines += _described(name, getattr(largeea, name))
    for module, names in MODULES.items():
        lines += [f"## {module}", ""]
        for name in names:
            lines += _described(name, getattr(import_module(module), name))
    return "\n".join(lines)


def _described(name: str, thing: Any) -> list[str]:
    """Return heading, signature, docstring and public members of a function or class."""
    lines = [f"### {name}", ""]
    is_error = inspect.isclass(thing) and issubclass(thing, Exception)
    if not is_error and not getattr(thing, "_is_protocol", False) and not _is_model(thing):
        lines += ["```python", _signature(name, thing), "```", ""]
    lines += [_docstring(thing), ""]
    if _is_model(thing):
        lines += ["Its settings are in the [reference of all settings](settings.md).", ""]
    if inspect.isclass(thing) and not is_error:
        own = [(each, member) for each, member in vars(thing).items() if _is_public(each, member)]
        lines += [line for each, member in own for line in _member(each, member)] + [""]
    return lines


def _is_model(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, BaseModel)


def _is_public(name: str, member: Any) -> bool:
    kinds = property, cached_property, classmethod, staticmethod
    is_member = inspect.isfunction(member) or isinstance(member, kinds)
    return is_member and (not name.startswith("_") or name == "__call__")


def _member(name: str, member: Any) -> list[str]:
    """Return one item of a list: a property, or a method with its parameters, and what it does."""
    if isinstance(member, property):
        function: Any = member.fget
    elif isinstance(member, cached_property):
        function = member.func
    else:
        function = getattr(member, "__func__", member)
    shown = name
    if not isinstance(member, property | cached_property):
        given = [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
        shown = f"{name}({', '.join(given)})"
    return [f"- `{shown}`: {' '.join(_docstring(function).split())}"]


def _signature(name: str, thing: Any) -> str:
    """Return the signature, with one parameter on each line if it is long."""
    signature = inspect.signature(thing)
    parameters = list(signature.parameters.values())
    shown = [_parameter_text(each) for each in parameters]
    if first := [at for at, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY]:
        shown.insert(first[0], "*")
    returned = "" if inspect.isclass(thing) else f" -> {signature.return_annotation}"
    text = f"{name}({', '.join(shown)}){returned}"
    if len(text) <= _LINE:
        return text
    return "\n".join([f"{name}(", *(f"    {each}," for each in shown), f"){returned}"])


def _parameter_text(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if default is parameter.empty or type(default).__name__ == "_HAS_DEFAULT_FACTORY_CLASS":
        return f"{parameter.name}: {parameter.annotation}"
    return f"{parameter.name}: {parameter.annotation} = {getattr(default, 'value', default)!r}"


def _docstring(thing: Any) -> str:
    """Return the docstring as Markdown; lines such as `memory: bytes` become a list."""
    return _FIELD.sub(r"- `\1`: ", inspect.getdoc(thing) or "")


def _table(header: tuple[str, ...], rows: Any) -> list[str]:
    cells = (" | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows)
    return [f"| {' | '.join(header)} |", "|---" * len(header) + "|", *(f"| {row} |" for row in cells), ""]


PARTS: dict[str, Callable[[], str]] = {"commands": commands, "settings": settings, "python": python}

if __name__ == "__main__":
    sys.stdout.write(PARTS[sys.argv[1]]())
