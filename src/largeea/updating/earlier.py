"""The run that an update starts from: its results as handles, as far as they can still be used."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from largeea.execution.stages import Call, Handle, Stages
from largeea.report.stored import StoredRun
from largeea.runs.artifacts import load_artifact
from largeea.runs.inputs import InputRecord
from largeea.runs.store import FolderStore

RECORDED = "key", "function", "code", "arguments"


@dataclass(frozen=True)
class EarlierRun:
    """The results of a finished run. Handles of them are arguments of stages, but are not stored again."""

    folder: Path
    records: dict[str, dict[str, Any]]
    """Key, function, code and arguments of each stage, by name."""
    inputs: list[InputRecord]
    """The input files, as the run saw them."""
    changed_since_full: float
    """Share of changed entities, summed over all updates since everything was computed."""
    _stages: Stages = field(default_factory=lambda: Stages(FolderStore(None)))

    @classmethod
    def open(cls, folder: Path) -> EarlierRun:
        """The run in this folder, which has to be finished."""
        stored = StoredRun(folder)
        update = stored.manifest.get("update", {})
        records = {
            name: {part: record[part] for part in RECORDED} | update.get("instead_of", {}).get(name, {})
            for name, record in stored.manifest["stages"].items()
            if stored.has(name)
        }
        return cls(folder, records, stored.manifest.get("inputs", []), update.get("changed_since_full", 0.0))

    @classmethod
    def of(cls, folder: Path, described: dict[str, Any] | None) -> EarlierRun:
        """The run in this folder or, once that is removed, what the manifest of its update tells of it."""
        if described is not None and not folder.exists():
            parts = (described[name] for name in ("records", "inputs", "changed_before"))
            return cls(folder, *parts)
        return cls.open(folder)

    def to_plain(self) -> dict[str, Any]:
        """What `of` needs, in plain values."""
        return {"records": self.records, "inputs": self.inputs, "changed_before": self.changed_since_full}

    def __getitem__(self, name: str) -> Handle[Any]:
        """The result of a stage."""
        return self._stages.given(
            f"earlier {name}",
            self.records[name]["key"],
            lambda: self._stored.load(name),
            load_artifact,
        )

    @cached_property
    def _stored(self) -> StoredRun:
        return StoredRun(self.folder)

    def get(self, name: str) -> Handle[Any] | None:
        """The result of a stage, None if there is none."""
        return self[name] if name in self.records else None

    def last(self, name: str, call: Call, settings: slice) -> Handle[Any] | None:
        """The last result of this stage, if it was made by the same code with the same settings.

        A stage of a round is known by the rounds' last. `settings` are the arguments that count; results of
        other stages among them may differ.
        """
        kind, _, number = name.rpartition("-")
        if number.isdigit():
            rounds = (other for other in self.records if other.rpartition("-")[0] == kind)
            name = max(rounds, key=lambda other: int(other.rpartition("-")[2]), default=name)
        record = self.records.get(name)
        if record is None or (record["function"], record["code"]) != (call.function, call.code):
            return None
        same = _settings(record["arguments"][settings]) == _settings(call.arguments[settings])
        return self[name] if same else None


def _settings(argument: Any) -> Any:
    """Arguments of a stage, in plain values, with nothing in the place of other stages' results."""
    if isinstance(argument, dict):
        return (
            None if set(argument) == {"stage"} else {name: _settings(one) for name, one in argument.items()}
        )
    return list(map(_settings, argument)) if isinstance(argument, list) else argument
