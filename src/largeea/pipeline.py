"""The whole method on one page: read, names, seeds, batches and structure, fuse, decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from largeea.alignment import Alignment
from largeea.calibration import calibrated, hold_out
from largeea.config import Config, NamesConfig
from largeea.decide import decide
from largeea.errors import InputError, UsageError
from largeea.fusion import fuse
from largeea.graph import KnowledgeGraph, Links, Task
from largeea.later import Later
from largeea.names.augment import augment
from largeea.progress import note
from largeea.randomness import child_seed
from largeea.runs import Run
from largeea.runs.accounting import every_entity_is_answered
from largeea.runs.artifacts import content_hash
from largeea.runs.folder import CHANNELS, load_stage
from largeea.runs.manifest import records_of_answer
from largeea.similarity import Similarity

if TYPE_CHECKING:
    from largeea import evidence
    from largeea.evidence import Channels
    from largeea.names import channel as names
    from largeea.structure import channel as structure
else:
    evidence, names, structure = map(
        Later, ("largeea.evidence", "largeea.names.channel", "largeea.structure.channel")
    )


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
    with Run(folder) as run:
        return run_stages(lambda: task, content_hash(task), config or Config(), run).alignment


def run_stages(read_task: Callable[[], Task], identity: str, config: Config, run: Run) -> Outcome:
    """The stages in order, each stored under its name. `identity` tells one input from another."""
    check_structure(config)
    run.begin(config)
    task = run.stage("task", read_task, identity)
    channels: Channels = {}
    features: Channels = {}
    seeds, check = task.seeds, Links.none()
    if config.uses("evidence"):
        seeds, check = hold_out(task.seeds, config.seed)
    learning = replace(task, seeds=seeds)  # whatever learns from seeds must not see those to check with
    if names_can_tell(task, config):
        by_name, features = name_stages(task, config.names, config, run)
        channels["name"] = by_name  # M_n
        if config.uses("augmentation"):  # DA
            made = config.augmentation
            split = config.seed if len(check) else None
            seeds = run.stage("seeds", lambda: augment(learning, by_name, made), made, split, "names")
    if config.uses("structure"):  # M_s
        learnt_from = "seeds" if "seeds" in run.stages else "task"
        channels["structure"] = structure_stage(learning, seeds, config, run, learnt_from)
    if config.uses("evidence"):  # beyond the paper
        channels |= evidence_stages(learning, channels.get("name"), config, run)
    found = [stage for stage in CHANNELS.values() if stage in run.stages]
    sure = None
    if config.uses("evidence"):
        settings = config.decision.temperature, config.decision.even, config.seed
        sure = run.stage(
            "likelihood", lambda: certainty(task, channels, config, check), config.evidence, *settings, *found
        )
    how = config.evidence if config.uses("evidence") else config.fusion
    fused = run.stage("fused", lambda: fused_channels(task, channels, config), how, *found)  # M
    told_by = [stage for stage in ("fused", "likelihood") if stage in run.stages]
    answer = run.stage(
        "alignment",
        lambda: decide(task, fused, channels, config.decision, sure, features).to_arrays(),
        *(config.decision, *told_by, *found),
    )
    alignment = Alignment.from_arrays(task.source, task.target, answer)
    every_entity_is_answered(alignment)
    run.finish()
    return Outcome(task, seeds, fused, alignment)


def name_stages(task: Task, how: NamesConfig, config: Config, run: Run) -> tuple[Similarity, Channels]:
    """The name channel, and what it is made of: SENS and STNS."""
    rows = cache(lambda: names.Names.of(task, how))

    def encoded() -> names.Vectors:
        """By far the dearest part of this channel, so a stage of its own."""
        what = how.aliases, how.alias_predicates, how.encoder, how.precision
        return run.stage("vectors", lambda: names.encode_names(rows(), how), *what, "task")

    seed = child_seed(config.seed, "strings")
    features: Channels = {}
    if config.uses("sens"):
        meant = run.stage("semantic", lambda: names.semantic_names(rows(), how, encoded), how, "task")
        features["semantic"] = meant  # M_se
    if config.uses("strings"):
        spelt = run.stage("strings", lambda: names.string_names(rows(), how, seed), how, seed, "task")
        features["strings"] = spelt  # M_st
    both = features.get("semantic"), features.get("strings")
    return run.stage("names", lambda: names.name_features(*both, how), how, *features), features


def structure_stage(task: Task, seeds: Links, config: Config, run: Run, learnt_from: str) -> Similarity:
    """The structure channel: mini-batches, a model trained on each, its nearest entities.

    Every batch is a stage of its own, so that a run that was killed goes on with the next batch.
    """
    split, how = config.partition, config.structure
    depends = how, split, config.seed, len(task.seeds), learnt_from

    def keep(name: str, job: structure.Job) -> structure.Arrays:
        return run.stage(f"structure-{name}", job, *depends)

    def learn() -> Similarity:
        return structure.structure_channel(
            task,
            seeds,
            model=how.model,
            partition=split.method,
            partition_options=structure.PartitionOptions.of(split),
            training=structure.TrainingOptions.of(how),
            top_k=how.top_k,
            metric=how.metric,
            seed=child_seed(config.seed, "structure"),
            keep=keep,
        )

    return run.stage("structure", learn, *depends)


def evidence_stages(task: Task, by_name: Similarity | None, config: Config, run: Run) -> Channels:
    """Self-training on what names (or seeds) find: what neighbours and surroundings say in the end."""
    seed = child_seed(config.seed, "evidence")
    depends = config.evidence, seed, "task" if by_name is None else "names"
    trained = cache(lambda: evidence.SelfTraining(task, by_name, config.evidence, seed).run())
    nothing = Similarity.empty(task.shape)

    def of(kind: str) -> Similarity:
        return run.stage(CHANNELS[kind], lambda: trained().get(kind, nothing), *depends)

    return {kind: of(kind) for kind in ("neighbours", "surroundings")}


def fused_channels(task: Task, channels: Channels, config: Config) -> Similarity:
    """`M`: the channels added, or with evidence the probabilities of a one-to-one matching."""
    if not config.uses("evidence"):
        return fuse(list(channels.values()), config.fusion)
    return evidence.matched(task.shape, channels, config.evidence)


def certainty(task: Task, channels: Channels, config: Config, check: Links) -> Similarity:
    """How likely each pair is, by all channels together and by what seeds that were kept back show."""
    sure = evidence.likelihood(task.shape, channels, config.evidence, config.decision)
    return calibrated(sure, check)


def stored_outcome(folder: Path) -> Outcome:
    """What a finished run ended with."""
    task, fused, answer = (load_stage(folder, stage) for stage in ("task", "fused", "alignment"))
    seeds = load_stage(folder, "seeds") if "seeds" in records_of_answer(folder) else task.seeds
    return Outcome(task, seeds, fused, Alignment.from_arrays(task.source, task.target, answer))


def check_structure(config: Config) -> None:
    """Refuse what the structure channel could not do before hours have gone into names."""
    if config.uses("structure"):
        structure.find_model(config.structure.model)
        structure.TrainingOptions.of(config.structure)


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
    if not (config.uses("structure") or (config.uses("evidence") and len(task.seeds))):
        if not config.uses("names"):
            raise UsageError("without names there is nothing to align by; leave out --without names")
        raise InputError(
            f"no entity of the {nameless[0]} graph has a name, so the name channel has nothing to compare; "
            "give names with --label PREDICATE or, for tables, --columns name=COLUMN, or let structure do it "
            "with seeds: --preset largeea-r --seeds FILE"
        )
    if nameless:
        note(f"no entity of the {nameless[0]} graph has a name: structure decides alone")
    return False
