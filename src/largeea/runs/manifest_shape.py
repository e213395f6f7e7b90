"""The shape of a manifest: what its entries have to be before anything of them is used.

Entries that nobody relies on may be anything. A manifest may have been edited, or written by another release.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _File(_Part):
    sha256: str
    bytes: int = Field(ge=0)


class _Stage(_File):
    key: str
    after: list[str]
    files: dict[str, _File]
    arguments: list[Any] = []
    function: str = ""
    code: str = ""
    finished: str = ""


class _Memory(_Part):
    host: float
    gpu: float


class _Timing(_Part):
    seconds: float
    memory_mb: _Memory


class _Input(_File):
    path: str
    modified: int
    seen: int


class _Request(_Part):
    working_directory: str = ""


class _Names(_Part):
    encoder: str


class _Decision(_Part):
    threshold: float = 0.0


class _Config(_Part):
    names: _Names
    decision: _Decision = _Decision()


class _Plan(_Part):
    adjustments: list[str] = []


class _Update(_Part):
    records: dict[str, dict[str, Any]]
    inputs: list[_Input]
    changed_before: float
    changed_since_full: float
    instead_of: dict[str, dict[str, Any]] = {}


class _Answer(_Part):
    stages: list[str]
    config_sha256: str


class _Manifest(_Part):
    version: str = ""
    request: _Request = _Request()
    config: _Config = _Config(names=_Names(encoder=""))
    inputs: list[_Input] = []
    subject: list[str] = []
    stages: dict[str, _Stage]
    timings: dict[str, dict[str, _Timing]] = {}
    plan: _Plan = _Plan()
    update: _Update = _Update(records={}, inputs=[], changed_before=0.0, changed_since_full=0.0)
    answer: _Answer = _Answer(stages=[], config_sha256="")
    results: dict[str, _File] = {}
    outdated: list[str] = []
    summary: dict[str, int] = {}
    peak_memory_mb: float | None = None


def check_shape(manifest: dict[str, Any]) -> None:
    """Raise `ValueError` that names the first entry which is not what it has to be."""
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"its entry {place[:200]}: {first['msg']}") from None
