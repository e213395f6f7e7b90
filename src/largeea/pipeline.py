"""The whole method on one page: read, names, seeds, batches and structure, fuse, decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from largeea.alignment import Alignment
from largeea.config import Config, NamesConfig
from largeea.decide import decide
from largeea.errors import InputError, UsageError
from largeea.fusion import fuse
from largeea.graph import KnowledgeGraph, Links, Task
from largeea.names.augment import augment
from largeea.names.channel import name_features, semantic_names, string_names
from largeea.names.semantic import Vectors, encode_names
from largeea.progress import note
from largeea.randomness import child_seed
from largeea.runs import Run
from largeea.runs.artifacts import content_hash
from largeea.similarity import Similarity
from largeea.structure.channel import structure_channel
from largeea.structure.models import TrainingOptions
from largeea.structure.partition import PartitionOptions


@dataclass(frozen=True)
class Outcome:
    """What a run ends with: given and pseudo-seeds, the fused scores (`M`), the answer drawn from them."""

    task: Task
    seeds: Links
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
    run.keep_config(config.to_toml())
    task = run.stage("task", read_task, identity)
    channels: dict[str, Similarity] = {}
    seeds = task.seeds
    if names_can_tell(task, config):
        names = channels["name"] = name_stages(task, config.names, config, run)  # M_n
        if config.uses("augmentation"):  # DA
            made = config.augmentation
            seeds = run.stage("seeds", lambda: augment(task, names, made), made, "names")
    if config.uses("structure"):  # M_s
        how = config.structure, config.partition, config.seed
        learnt_from = "seeds" if "seeds" in run.stages else "task"
        channels["structure"] = run.stage(
            "structure", lambda: structure_stage(task, seeds, config), *how, learnt_from
        )
    found = [name for name in ("structure", "names") if name in run.stages]
    fused = run.stage(
        "fused", lambda: fuse(list(channels.values()), config.fusion), config.fusion, *found
    )  # M
    alignment = decide(task, fused, channels, config.decision)
    return Outcome(task, seeds, fused, alignment)


def name_stages(task: Task, how: NamesConfig, config: Config, run: Run) -> Similarity:
    """The name channel: SENS, STNS, and both fused."""

    def encoded() -> Vectors:
        """By far the dearest part of this channel, so a stage of its own."""
        names = task.source.names, task.target.names
        return run.stage("vectors", lambda: encode_names(*names, how), how.encoder, how.precision, "task")

    semantic = strings = None
    if config.uses("sens"):  # M_se
        semantic = run.stage("semantic", lambda: semantic_names(task, how, encoded), how, "task")
    if config.uses("strings"):  # M_st
        seed = child_seed(config.seed, "strings")
        strings = run.stage("strings", lambda: string_names(task, how, seed), how, seed, "task")
    features = [name for name in ("semantic", "strings") if name in run.stages]
    return run.stage("names", lambda: name_features(semantic, strings, how), how, *features)


def structure_stage(task: Task, seeds: Links, config: Config) -> Similarity:
    """The structure channel: mini-batches, a model trained on each, its nearest entities."""
    split, how = config.partition, config.structure
    return structure_channel(
        task,
        seeds,
        model=how.model,
        partition=split.method,
        partition_options=PartitionOptions(
            k=split.k or None,
            q=split.q,
            virtual_weight=split.virtual_weight,
            overlap=split.overlap,
            balance=split.balance,
        ),
        training=TrainingOptions(
            epochs=how.epochs, negatives=how.negatives, device=how.device, precision=how.precision
        ),
        top_k=how.top_k,
        metric=how.metric,
        seed=child_seed(config.seed, "structure"),
    )


def names_can_tell(task: Task, config: Config) -> bool:
    """Whether there is a name channel; if not, structure has to do alone, and an error says if it cannot."""
    if config.uses("names") and not (config.uses("sens") or config.uses("strings")):
        raise UsageError("without sens and strings the name channel is empty; leave one of them in")
    nameless = [
        side
        for side, graph in (("source", task.source), ("target", task.target))
        if graph.size and not graph.named.any()
    ]
    if config.uses("names") and not nameless:
        return True
    if not config.uses("structure"):
        if not config.uses("names"):
            raise UsageError("without names there is nothing to align by; leave out --without names")
        raise InputError(
            f"no entity of the {nameless[0]} graph has a name, so the name channel has nothing to compare; "
            "give names with --label PREDICATE or, for tables, --columns name=COLUMN, or let structure do it "
            "with seeds: --preset largeea-r --seeds FILE"
        )
    if nameless:
        note(f"no entity of the {nameless[0]} graph has a name: the structure channel decides alone")
    return False
