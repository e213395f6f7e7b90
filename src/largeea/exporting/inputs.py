"""Results of stages that an answer was computed from, though they are not part of it: names and vectors."""

from __future__ import annotations

from typing import Any

from largeea.config import PRESETS, as_config
from largeea.errors import UsageError
from largeea.finished import FinishedRun
from largeea.graph import Arrays
from largeea.runs.artifacts import load_artifact
from largeea.runs.manifest import read_manifest, stage_file


def load_name_rows(run: FinishedRun) -> dict[str, Any]:
    """The names that were compared: columns as in `largeea.names.rows.Names`."""
    rows: dict[str, Any] = _load(run, "name-rows")
    return rows


def load_vectors(run: FinishedRun) -> Arrays:
    """The encoder's vectors of each side's names, `[names, width]`; an error if no encoder was used."""
    manifest = read_manifest(run.folder)
    encoder = manifest["config"]["names"]["encoder"]
    if encoder in ("auto", "ngram") and "vectors" not in manifest["stages"]:
        with_encoder = [name for name in PRESETS if not as_config(name).names.by_ngrams]
        raise UsageError(
            f"the run {run.folder} has no embeddings: it compared names by their n-grams (names.encoder = "
            f"{encoder!r}). Align with an encoder: --preset {' or '.join(with_encoder)}, or "
            "--set names.encoder=bert:minilm"
        )
    vectors: Arrays = _load(run, "vectors")
    return vectors


def _load(run: FinishedRun, name: str) -> Any:
    """The stored result of a stage; an error unless the answer was computed from it."""
    stages = read_manifest(run.folder)["stages"]
    by_key = {record["key"]: stage for stage, record in stages.items()}
    todo = [key for part in run.stages for key in _keys(stages[part]["arguments"])]
    used = set[str]()
    while todo:
        stage = by_key.get(todo.pop())
        if stage is not None and stage not in used:
            used.add(stage)
            todo += _keys(stages[stage]["arguments"])
    if name not in used:
        raise UsageError(
            f"the answer in {run.folder} was made without the stage {name!r}; were names switched off?"
        )
    return load_artifact(stage_file(run.folder, name), stages[name]["sha256"])


def _keys(argument: Any) -> list[str]:
    """The keys of the stages in the recorded arguments of a stage."""
    if isinstance(argument, dict):
        if set(argument) == {"stage"}:
            return [argument["stage"]]
        return [key for part in argument.values() for key in _keys(part)]
    return [key for part in argument for key in _keys(part)] if isinstance(argument, list) else []
