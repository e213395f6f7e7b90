"""Presets, and how a configuration is put together from a preset, a file and single settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from largeea.config.mistakes import explain
from largeea.config.renamed import with_new_names
from largeea.config.settings import Config
from largeea.config.toml import parse_setting, read_toml
from largeea.errors import UsageError

_PAPER: dict[str, Any] = {
    "names": {
        "encoder": "bert:minilm",
        "metric": "manhattan",
        "ngram_weight": 0.0,
        "gamma": 0.05,
        "max_aliases": 0,
        "dictionaries": False,
    },
    "augmentation": {"margin": 0.0},
    "evidence": {"rounds": 0},
    "fusion": {"csls": 0},
}
"""The paper's settings, except for the encoder: its weights come in a package, unlike those of mBERT."""

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "largeea-r": _PAPER | {"structure": {"model": "rrea"}},
    "largeea-g": _PAPER | {"structure": {"model": "gcn-align"}},
}


def load(
    preset: str = "default",
    file: Path | None = None,
    settings: tuple[str, ...] = (),
    **overrides: Any,
) -> Config:
    """Load a preset, then apply a TOML file, `key=value` settings and keyword overrides, in this order.

    Example: `load("default", settings=("names.top_k=20",), seed=7)`.
    """
    if preset not in PRESETS:
        raise UsageError(f"unknown preset {preset!r}; known: {', '.join(PRESETS)}")
    values = _merged({}, PRESETS[preset])
    if file is not None:
        values = _merged(values, with_new_names(read_toml(file)))
    for setting in settings:
        values = _merged(values, with_new_names(parse_setting(setting)))
    return _validated(_merged(values, {key: value for key, value in overrides.items() if value is not None}))


def as_config(given: Config | dict[str, Any] | str | None) -> Config:
    """Convert a `Config`, a dictionary of settings, the name of a preset, or None (default) to a `Config`."""
    if isinstance(given, Config):
        return given
    if given is None or isinstance(given, str):
        return load(given or "default")
    if isinstance(given, dict):
        start = load(str(given.get("preset", "default"))).model_dump()
        chosen = with_new_names({key: value for key, value in given.items() if key != "preset"})
        return _validated(_merged(start, chosen))
    raise TypeError(f"config must be a Config, a dict or the name of a preset, not {type(given).__name__}")


def _validated(values: dict[str, Any]) -> Config:
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise UsageError(explain(error)) from None


def _merged(base: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in top.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
