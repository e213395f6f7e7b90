"""The whole method on one page: read, names, (to come: seeds, batches, structure), fuse, decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from largeea.alignment import Alignment
from largeea.config import Config
from largeea.decide import decide
from largeea.errors import UsageError
from largeea.fusion import fuse
from largeea.graph import KnowledgeGraph, Links, Task
from largeea.names.channel import name_channel
from largeea.runs import Run
from largeea.runs.artifacts import content_hash
from largeea.similarity import Similarity


@dataclass(frozen=True)
class Outcome:
    """What a run ends with: the fused scores (`M`) and the answer drawn from them."""

    task: Task
    fused: Similarity
    alignment: Alignment


def align(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    *,
    seeds: Links | None = None,
    config: Config | None = None,
    folder: Path | None = None,
) -> Alignment:
    """Tell which entities of two graphs are the same thing. Seeds help but are not needed.

    With a `folder`, every stage's result is kept there and a later call continues from them.

    Example: `align(read("a.nt"), read("b.ttl")).to_table()`.
    """
    task = Task(source, target, seeds or Links.none())
    return run_stages(lambda: task, content_hash(task), config or Config(), Run(folder)).alignment


def run_stages(read_task: Callable[[], Task], identity: str, config: Config, run: Run) -> Outcome:
    """The stages in order, each stored under its name. `identity` tells one input from another."""
    if not config.uses("names"):
        raise UsageError("without names there is nothing to align by; leave out --without names")
    run.keep_config(config.to_toml())
    task = run.stage("task", read_task, identity)
    names = run.stage("names", lambda: name_channel(task, config.names), config.names, "task")  # M_n
    fused = run.stage(
        "fused", lambda: fuse(names, config.fusion), config.fusion, "names"
    )  # M; M_s joins here
    alignment = decide(task, fused, {"name": names}, config.decision)
    return Outcome(task, fused, alignment)
