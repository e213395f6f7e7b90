"""What each stage of the method will need for two graphs: the plan that a run obeys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow.compute as pc

from largeea.config import Config, EvidenceConfig
from largeea.evidence import sizes as evidence
from largeea.evidence.attributes import sizes as attributes
from largeea.execution import Execution, current
from largeea.execution.devices import cuda_is_chosen
from largeea.execution.memory import resident_bytes
from largeea.execution.planner import Need, Plan, first_that_fits
from largeea.execution.stages import SHARE_FOR_CACHE, bytes_of
from largeea.graph import KnowledgeGraph, Strings
from largeea.names import sizes as names
from largeea.names.augment import augment_memory
from largeea.names.blocks import weighted_mean_memory
from largeea.structure.partition.size import (
    automatic_k,
    batches_at_once,
    memory_per_batch,
    smallest_k,
)

LIBRARIES = 60_000_000
"""Bytes that compiled code and libraries add once stages run."""
LABEL_WIDTHS = (64, 32, 16)
EXPECTED_ANCHORS = 0.5
"""Share of the smaller graph that is taken to be anchors after the first round: the others are searched."""
NEIGHBOUR_FILL = 0.6
"""Of the candidates that neighbour evidence may keep, the share that is taken to be found."""
SAME_IRI = 80
"""Bytes per entity of both graphs while IRIs are compared; 79 were measured for IRIs of 45 characters."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a task, as far as memory and time depend on them: `(source, target)`."""

    entities: tuple[int, int]
    triples: tuple[int, int]
    literals: tuple[int, int]
    characters: tuple[int, int]
    """In the names of all entities."""
    stored: tuple[int, int]
    """Bytes of the graphs themselves."""
    literal_characters: tuple[int, int] = (0, 0)
    """In the distinct values of all literals."""

    @classmethod
    def of(cls, source: KnowledgeGraph, target: KnowledgeGraph) -> Sizes:
        """The sizes of two graphs."""
        return cls(
            (source.size, target.size),
            (len(source.triples), len(target.triples)),
            (len(source.attributes), len(target.attributes)),
            (_characters(source.names), _characters(target.names)),
            (bytes_of(source), bytes_of(target)),
            (_characters(source.attributes.values), _characters(target.attributes.values)),
        )


def _characters(texts: Strings) -> int:
    return int(pc.sum(pc.utf8_length(texts)).as_py() or 0)


def make_plan(sizes: Sizes, config: Config, execution: Execution | None = None) -> tuple[Plan, Config]:
    """The plan for a task, and the configuration with what a lack of memory makes necessary.

    Labels become narrower and mini-batches smaller where they would not fit; the plan says so.
    """
    execution = execution or current()
    limit = execution.memory_bytes
    base = _base(sizes)
    cached = int(SHARE_FOR_CACHE * limit)
    adjusted, notes = config, []
    if config.uses("evidence"):
        widths = [width for width in LABEL_WIDTHS if width <= config.evidence.label_width]
        width = first_that_fits(
            widths, lambda width: base + cached + _propagation(sizes, config.evidence, width, limit), limit
        )
        if width != config.evidence.label_width:
            notes.append(
                f"propagated labels have width {width} instead of {config.evidence.label_width} to stay "
                f"within {limit / 1e9:.1f} GB of memory, which costs some accuracy; allow more memory to "
                "avoid this"
            )
            narrower = config.evidence.model_copy(update={"label_width": width})
            adjusted = adjusted.model_copy(update={"evidence": narrower})
    if config.uses("structure") and not config.partition.k and config.partition.method != "none":
        how, entities = config.structure, sum(sizes.entities)
        room = limit - base if not cuda_is_chosen() else int(execution.gpu_memory or limit)
        least = smallest_k(entities, max(room, 1), config.partition.overlap, how.dimension, how.model)
        if least > automatic_k(entities):
            notes.append(
                f"there are {least} mini-batches instead of {automatic_k(entities)} to stay within the "
                "memory limit, which costs some accuracy; allow more memory to avoid this"
            )
            partition = config.partition.model_copy(update={"k": least})
            adjusted = adjusted.model_copy(update={"partition": partition})
    needs = tuple(_needs(sizes, adjusted, limit, base, execution.thread_count))
    gpu = None if execution.gpu_memory is None else int(execution.gpu_memory)
    return Plan(needs, limit, gpu, tuple(notes)), adjusted


def _base(sizes: Sizes) -> int:
    """Memory of the process with its libraries and both graphs."""
    return max(resident_bytes() - sum(sizes.stored), 0) + LIBRARIES + sum(sizes.stored)


def _needs(sizes: Sizes, config: Config, limit: int, base: int, threads: int) -> Iterator[Need]:
    """The needs of all stages in the order of the method."""
    stored = 0  # besides the graphs, which are in the base
    yield Need("source", base - LIBRARIES + 2 * sum(sizes.stored), disk=sizes.stored[0])
    yield Need("target", base - LIBRARIES, disk=sizes.stored[1])
    for stage, working, disk, seconds in _stages(sizes, config, limit, threads):
        cached = min(stored, int(SHARE_FOR_CACHE * limit))
        gpu = 0
        if stage == "structure" and cuda_is_chosen():
            working, gpu = disk, working
        yield Need(stage, base + cached + working, gpu, disk, seconds / threads)
        stored += disk


Row = tuple[str, int, int, float]
"""Stage, working memory and result in bytes, seconds on one thread."""


def _stages(sizes: Sizes, config: Config, limit: int, threads: int) -> Iterator[Row]:
    sources, targets = sizes.entities
    matrix = 8 * sources * config.names.top_k
    yield "same-iri", SAME_IRI * (sources + targets), 8 * min(sources, targets), 6e-7 * (sources + targets)
    yield "kinds", 4 * (sources + targets), sources + targets, 2e-8 * (sources + targets)
    if config.uses("names"):
        characters = sum(sizes.characters)
        rows = names.rows_memory(sources + targets, characters), 3 * characters + 24 * (sources + targets)
        yield "name-rows", *rows, 2e-6 * (sources + targets)
        for stage, working, disk, seconds in names.feature_stages(
            sizes.entities, sizes.characters, config.names, threads
        ):
            if config.uses("sens" if stage != "strings" else "strings"):
                yield stage, working, disk, seconds
        fused = weighted_mean_memory(sources, config.names.top_k, threads)
        yield "names", fused, matrix, 5e-6 * sources
        if config.uses("augmentation"):
            yield "seeds", augment_memory(sources * config.names.top_k), 12 * sources, 5e-6 * sources
    if config.uses("structure"):
        k = config.partition.k or automatic_k(sources + targets)
        how = config.structure
        batch = memory_per_batch(sources + targets, k, config.partition.overlap, how.dimension, how.model)
        at_once = batches_at_once(sources + targets, k, config.partition.overlap, how)
        yield "structure", at_once * batch, 8 * sources * how.top_k, 2e-4 * how.epochs * (sources + targets)
    if config.uses("evidence"):
        yield from _evidence_stages(sizes, config, limit, threads)
    else:
        yield "fused", 6 * matrix, 2 * matrix, 2e-5 * sources
    yield "alignment", 7 * matrix, 40 * sources, 1e-5 * sources


def _evidence_stages(sizes: Sizes, config: Config, limit: int, threads: int) -> Iterator[Row]:
    """One round; the others need the same memory again, after it. Then the trial that gives confidence."""
    how, (sources, targets) = config.evidence, sizes.entities
    edges = tuple(
        2 * (triples + literals) for triples, literals in zip(sizes.triples, sizes.literals, strict=True)
    )
    entries = sources * how.top_k
    matrix = 8 * entries
    if config.uses("names"):
        compared = 28 * sources * config.names.top_k + 16 * (sources + targets)
        yield "equal-names", compared, 8 * sources * config.names.top_k, 1e-6 * sources
    yield "edges", evidence.edges_memory(max(edges)), 12 * sum(edges), 4e-7 * sum(edges)
    if _with_literals(sizes, how):
        yield from _literal_stages(sizes, how, threads)
    matching = 8 * int((1 + NEIGHBOUR_FILL) * entries) + 56 * entries
    matching_seconds = 4e-8 * entries * how.sinkhorn_iterations
    yield "fused", matching, matrix, how.rounds * matching_seconds
    evidence_of_round = list(_round(sizes, how, sum(edges), limit, threads))
    for stage, working, disk, seconds in evidence_of_round:
        yield stage, working, disk, how.rounds * seconds
    for stage, working, disk, seconds in evidence_of_round:
        if stage != "candidates":
            yield f"trial-{stage}", working, disk, seconds
    yield "likelihood", matching + 8 * matrix, matrix, 3 * matching_seconds


def _round(sizes: Sizes, how: EvidenceConfig, edges: int, limit: int, threads: int) -> Iterator[Row]:
    """What neighbours, surroundings and literals say in one round."""
    sources, targets = sizes.entities
    entries = sources * how.top_k
    matrix, near = 8 * entries, int(NEIGHBOUR_FILL * entries)
    yield "agreement", evidence.agreement_memory(edges), 0, 1e-7 * edges
    near_memory = evidence.neighbours_memory(sources, targets, near, how.top_k, threads)
    yield "neighbours", near_memory, 8 * near, 4e-7 * edges
    if how.candidates_per_round:
        free = _free(sizes)
        found = evidence.candidates_memory(sizes.entities, free, how.label_width, how.candidates_per_round)
        seconds = 2e-8 * how.label_width * free[0] * min(free[1], 60_000) / 20
        yield "candidates", found, 8 * sources * how.candidates_per_round, seconds
    scored = evidence.surroundings_memory(sizes.entities, entries, how.label_width, limit)
    yield "surroundings", scored + matrix, matrix, how.scoring_sketches * 3e-6 * sum(sizes.entities)
    if _with_literals(sizes, how):
        compared = attributes.literal_evidence_memory(sum(sizes.literals), entries)
        yield "literals", compared + matrix, matrix, 2e-6 * entries


def _with_literals(sizes: Sizes, how: EvidenceConfig) -> bool:
    """Whether literals are compared: both graphs have some, and they count."""
    return how.literals and how.literal_weight > 0 and all(sizes.literals)


def _literal_stages(sizes: Sizes, how: EvidenceConfig, threads: int) -> Iterator[Row]:
    """Literals as columns, and candidates by rare values."""
    (sources, targets), literals = sizes.entities, sum(sizes.literals)
    values = attributes.attribute_values_memory(literals, sum(sizes.literal_characters))
    yield "attribute-values", values, 16 * literals + sum(sizes.literal_characters), 4e-6 * literals
    proposed = attributes.propose_memory(sizes.literals, sources, targets, how.top_k, threads)
    yield "by-values", proposed, 8 * sources * how.top_k, 3e-6 * literals


def _propagation(sizes: Sizes, how: EvidenceConfig, label_width: int, limit: int) -> int:
    """What label propagation needs at its peak with labels of this width."""
    entries = sizes.entities[0] * how.top_k
    free = _free(sizes)
    found = evidence.candidates_memory(sizes.entities, free, label_width, how.candidates_per_round)
    scored = evidence.surroundings_memory(sizes.entities, entries, label_width, limit) + 8 * entries
    return max(found if how.candidates_per_round else 0, scored)


def _free(sizes: Sizes) -> tuple[int, int]:
    """Entities that are no anchors after the first round, as far as that can be told beforehand."""
    anchors = int(EXPECTED_ANCHORS * min(sizes.entities))
    return sizes.entities[0] - anchors, sizes.entities[1] - anchors
