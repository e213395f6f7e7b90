"""An update from request to result: which graphs it is about, and what its stages start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from largeea.config import Config
from largeea.errors import UsageError
from largeea.execution.code import code_fingerprint
from largeea.execution.stages import Handle
from largeea.formats import pair_folder, read_both
from largeea.graph import KnowledgeGraph
from largeea.inputs import file_inputs
from largeea.matching.cardinality import Cardinality
from largeea.pipeline import Inputs, Outcome
from largeea.progress import note
from largeea.reviews import FILE as REVIEWS_FILE
from largeea.runs.files import atomic_write
from largeea.runs.folder import Run
from largeea.runs.inputs import record_inputs
from largeea.runs.request import Request, read_request
from largeea.updating.changes import link_changes
from largeea.updating.earlier import EarlierRun
from largeea.updating.moved import share_changed
from largeea.updating.stages import UpdatingStages

MOST_CHANGED = 0.75
"""Share of changed entities, summed over all updates since a full run, above which all is computed again."""


def updated_request(
    folder: Path, output: Path, source: Path | None, target: Path | None
) -> tuple[Request, Config]:
    """The request for an update of the run in `folder`, with the settings of that run."""
    EarlierRun.open(folder)
    request, config = read_request(folder)
    if source is None and target is None:
        raise UsageError("nothing to update: give a new source graph, a new target graph or both")
    if output.resolve() == folder.resolve():
        raise UsageError(f"{folder} is the run to be updated; give another folder for the update")
    if request.within:
        raise UsageError(
            f"the run {folder} searched duplicates in one graph, and such runs cannot be updated; search "
            f"them again in the new version: largeea dedupe {source or target} -o {output}"
        )
    if request.target is None and (target is not None or source is None or not pair_folder(source)):
        raise UsageError(
            f"the run {folder} aligned the two graphs of the folder {request.source}; give a new folder of "
            "that kind as the source, and no target"
        )
    graphs = source or request.source, target or request.target
    return replace(request, source=graphs[0], target=graphs[1], earlier=folder), config


def begin_update(request: Request, run: Run, cardinality: Cardinality) -> Inputs:
    """The inputs of an update. From now on, stages of the run start from the results of the earlier one."""
    assert request.earlier is not None
    assert run.folder is not None
    earlier = EarlierRun.of(request.earlier, run.manifest.get("update"))
    run.stage = stages = UpdatingStages(run.store)
    run.manifest.setdefault("inputs", earlier.inputs)
    _take_reviews_along(request.earlier, run.folder)
    inputs = file_inputs(request, run, cardinality, _unchanged_graphs(request, earlier))
    stages.start_from(earlier, inputs)
    share = share_changed(stages.moved.value)
    since_full = share + earlier.changed_since_full
    note(f"{share:.1%} of the entities are new or changed")
    if since_full > MOST_CHANGED:
        note("since all was computed in full, so many entities have changed that all is computed again")
        stages.compute_in_full()
        since_full = 0.0
    run.manifest["update"] = earlier.to_plain() | {"changed": share, "changed_since_full": since_full}
    return inputs


def finish_update(run: Run, outcome: Outcome) -> Handle[dict[str, Any]]:
    """What the update has changed: see `link_changes`."""
    stages = run.stage
    assert isinstance(stages, UpdatingStages)
    run.manifest["update"]["instead_of"] = stages.instead_of
    stages.compute_in_full()
    earlier = stages.earlier
    before = (earlier[name] for name in ("source", "target", "alignment"))
    now = outcome.inputs.source, outcome.inputs.target, outcome.answer
    return stages("changes", link_changes, *before, earlier.get("changes"), stages.moved, *now)


def _take_reviews_along(earlier: Path, folder: Path) -> None:
    """Copy what people decided about pairs of the earlier run, unless the folder has reviews already."""
    if (earlier / REVIEWS_FILE).is_file() and not (folder / REVIEWS_FILE).exists():
        with atomic_write(folder / REVIEWS_FILE) as file:
            file.write((earlier / REVIEWS_FILE).read_bytes())


def _unchanged_graphs(request: Request, earlier: EarlierRun) -> dict[str, Callable[[], KnowledgeGraph]]:
    """Loaders of the graphs whose files are those of the earlier run, by side."""
    if request.target is None or earlier.records["source"]["code"] != code_fingerprint(read_both):
        return {}
    known = {record["path"]: record["sha256"] for record in earlier.inputs}
    return {
        side: partial(getattr, earlier[side], "value")
        for side, files in request.files().items()
        if side in ("source", "target")
        and all(
            known.get(record["path"]) == record["sha256"] for record in record_inputs(files, earlier.inputs)
        )
    }
