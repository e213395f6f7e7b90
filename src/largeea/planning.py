"""What each stage of the method will need for two graphs: the plan that a run obeys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from largeea.config import Config, EvidenceConfig
from largeea.evidence import sizes as evidence
from largeea.evidence.attributes import sizes as attributes
from largeea.evidence.labels import HOPS
from largeea.execution import Execution, current
from largeea.execution.devices import cuda_is_chosen, free_gpu_bytes, torch_device
from largeea.execution.memory import resident_bytes
from largeea.execution.planner import GpuNeed, Need, Plan, first_that_fits
from largeea.execution.stages import SHARE_FOR_CACHE, bytes_of
from largeea.graph import Bool, KnowledgeGraph, Strings
from largeea.names import sizes as names
from largeea.names.augment import augment_memory
from largeea.names.blocks import weighted_mean_memory
from largeea.names.nearby import NEARBY
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
    """In the names of the entities that are matched."""
    stored: tuple[int, int]
    """Bytes of the graphs themselves."""
    literal_characters: tuple[int, int] = (0, 0)
    """In the distinct values of all literals."""
    not_matched: tuple[int, int] = (0, 0)
    """Entities that are part of the structure but are not matched: blank nodes, and other roles."""

    @property
    def matched(self) -> tuple[int, int]:
        """Entities that are matched: only these have names to compare and rows with candidates."""
        return self.entities[0] - self.not_matched[0], self.entities[1] - self.not_matched[1]

    @classmethod
    def of(cls, source: KnowledgeGraph, target: KnowledgeGraph) -> Sizes:
        """The sizes of two graphs."""
        matched = source.linkable, target.linkable
        return cls(
            (source.size, target.size),
            (len(source.triples), len(target.triples)),
            (len(source.attributes), len(target.attributes)),
            (_characters(source.names, matched[0]), _characters(target.names, matched[1])),
            (bytes_of(source), bytes_of(target)),
            (_characters(source.attributes.values), _characters(target.attributes.values)),
            (int((~matched[0]).sum()), int((~matched[1]).sum())),
        )


def _characters(texts: Strings, counted: Bool | None = None) -> int:
    """The characters of all texts, or of those that are `counted`."""
    lengths = pc.utf8_length(texts)
    return int(pc.sum(lengths if counted is None else lengths.filter(pa.array(counted))).as_py() or 0)


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
    on_gpu = _gpu_needs(sizes, adjusted)
    notes += [
        f"the CPU carries out the stage {need.stage!r}, which takes longer: the GPU would need about "
        f"{need.size / 1e9:.1f} GB for it, with room to spare; allow more GPU memory to avoid this"
        for need in on_gpu
        if not need.fits
    ]
    gpu_sizes = {need.stage: need.size for need in on_gpu if need.fits}
    needs = tuple(_needs(sizes, adjusted, limit, base, execution.thread_count, gpu_sizes))
    gpu = None if execution.gpu_memory is None else int(execution.gpu_memory)
    return Plan(needs, limit, gpu, tuple(notes)), adjusted


def _base(sizes: Sizes) -> int:
    """Memory of the process with its libraries and both graphs."""
    return max(resident_bytes() - sum(sizes.stored), 0) + LIBRARIES + sum(sizes.stored)


def _needs(
    sizes: Sizes, config: Config, limit: int, base: int, threads: int, on_gpu: dict[str, int]
) -> Iterator[Need]:
    """The needs of all stages in the order of the method; `on_gpu` are bytes on the GPU, by stage."""
    stored = 0  # besides the graphs, which are in the base
    yield Need("source", base - LIBRARIES + 2 * sum(sizes.stored), disk=sizes.stored[0])
    yield Need("target", base - LIBRARIES, disk=sizes.stored[1])
    for stage, working, disk, seconds in _stages(sizes, config, limit, threads):
        cached = min(stored, int(SHARE_FOR_CACHE * limit))
        if stage == "structure" and on_gpu:
            working = 2 * disk
        yield Need(stage, base + cached + working, on_gpu.get(stage, 0), disk, seconds / threads)
        stored += disk


def _gpu_needs(sizes: Sizes, config: Config) -> list[GpuNeed]:
    """What stages take on the chosen GPU; nothing where none is chosen."""
    if not cuda_is_chosen():
        return []
    free = free_gpu_bytes(torch_device())
    needs: list[GpuNeed] = []
    if config.uses("names") and config.uses("sens"):
        needs += names.gpu_stages(sizes.matched, sizes.characters, config.names, free)
    if config.uses("structure"):
        needs.append(GpuNeed("structure", _training_memory(sizes, config)))
    if config.uses("evidence"):
        needs += _evidence_on_gpu(sizes, config.evidence, free)
    return needs


def _evidence_on_gpu(sizes: Sizes, how: EvidenceConfig, free: int) -> Iterator[GpuNeed]:
    """Surroundings and matching on a GPU with so many free bytes, in a round and in the trial."""
    from largeea.evidence.cuda import BYTES_PER_EDGE, BYTES_PER_SOURCE
    from largeea.matching.cuda import BYTES_PER_ENTRY

    entities, edges = sizes.entities, 2 * (sum(sizes.triples) + sum(sizes.literals))
    known = 6 * max(entities) * (HOPS + 1) * how.label_width
    vectors = 2 * sum(entities) * (2 * HOPS + 1) * how.label_width
    sketched = int(1.3 * (known + vectors + BYTES_PER_EDGE * edges + BYTES_PER_SOURCE * entities[0]))
    matched = BYTES_PER_ENTRY * sizes.matched[0] * how.top_k
    yield GpuNeed("fused", matched, matched <= free)
    for stage in ("candidates", "surroundings", "trial-surroundings"):
        yield GpuNeed(stage, sketched, sketched <= free)
    yield GpuNeed("likelihood", matched, matched <= free)


def _training_memory(sizes: Sizes, config: Config) -> int:
    """Bytes of all mini-batches that are trained at a time."""
    entities, how = sum(sizes.entities), config.structure
    k, overlap = config.partition.k or automatic_k(entities), config.partition.overlap
    batch = memory_per_batch(entities, k, overlap, how.dimension, how.model)
    return batches_at_once(entities, k, overlap, how) * batch


Row = tuple[str, int, int, float]
"""Stage, working memory and result in bytes, seconds on one thread."""


def _stages(sizes: Sizes, config: Config, limit: int, threads: int) -> Iterator[Row]:
    nodes, (sources, targets) = sum(sizes.entities), sizes.matched
    matrix = 8 * sources * config.names.top_k
    yield "same-iri", SAME_IRI * nodes, 8 * min(sizes.entities), 6e-7 * nodes
    yield "kinds", 4 * nodes, nodes, 2e-8 * nodes
    if config.uses("names"):
        characters = sum(sizes.characters)
        rows = names.rows_memory(nodes, characters), 3 * characters + 24 * nodes
        yield "name-rows", *rows, 2e-6 * (sources + targets)
        for stage, working, disk, seconds in names.feature_stages(
            sizes.matched, sizes.characters, config.names, threads
        ):
            if config.uses("sens" if stage != "strings" else "strings"):
                yield stage, working, disk, seconds
        fused = weighted_mean_memory(sources, config.names.top_k, threads)
        yield "names", fused, matrix, 5e-6 * sources
        if config.uses("augmentation"):
            yield "seeds", augment_memory(sources * config.names.top_k), 12 * sources, 5e-6 * sources
    if config.uses("structure"):
        how, found = config.structure, 8 * sizes.entities[0] * config.structure.top_k
        seconds = 2e-4 * how.epochs * nodes
        yield "structure", found + _training_memory(sizes, config), found, seconds
    if config.uses("evidence"):
        yield from _evidence_stages(sizes, config, limit, threads)
    else:
        yield "fused", 6 * matrix, 2 * matrix, 2e-5 * sources
    yield "alignment", 7 * matrix, 40 * sources, 1e-5 * sources


def _evidence_stages(sizes: Sizes, config: Config, limit: int, threads: int) -> Iterator[Row]:
    """One round; the others need the same memory again, after it. Then the trial that gives confidence."""
    how, (sources, targets) = config.evidence, sizes.matched
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
    evidence_of_round = list(_round(sizes, config, sum(edges), limit, threads))
    for stage, working, disk, seconds in evidence_of_round:
        yield stage, working, disk, how.rounds * seconds
    for stage, working, disk, seconds in evidence_of_round:
        if stage not in ("candidates", "names-nearby"):
            yield f"trial-{stage}", working, disk, seconds
    yield "likelihood", matching + 3 * matrix, matrix, 3 * matching_seconds


def _round(sizes: Sizes, config: Config, edges: int, limit: int, threads: int) -> Iterator[Row]:
    """What neighbours, the names of nearby targets, surroundings and literals say in one round."""
    how = config.evidence
    (nodes, targets), sources = sizes.entities, sizes.matched[0]
    entries = sources * how.top_k
    matrix, near = 8 * entries, int(NEIGHBOUR_FILL * entries)
    yield "agreement", evidence.agreement_memory(edges), 0, 1e-7 * edges
    near_memory = evidence.neighbours_memory(nodes, targets, near, how.top_k, threads)
    yield "neighbours", near_memory, 8 * near, 4e-7 * edges
    if config.uses("sens") and config.uses("names") and how.nearby_names:
        pairs = NEARBY * near
        wide = evidence.neighbours_memory(nodes, targets, pairs, NEARBY * how.top_k, threads)
        kept = sources * config.names.top_k
        compared = names.nearby_memory(sum(sizes.characters), pairs, kept, config.names)
        yield (
            "names-nearby",
            max(wide, compared),
            8 * sources * (config.names.top_k + how.nearby_names),
            2e-7 * pairs,
        )
    if how.candidates_per_round:
        free = _free(sizes)
        found = evidence.candidates_memory(sizes.entities, free, how.label_width, how.candidates_per_round)
        seconds = 2e-8 * how.label_width * free[0] * min(free[1], 60_000) / 20
        yield "candidates", found, 8 * sources * how.candidates_per_round, seconds
    scored = evidence.surroundings_memory(sizes.entities, entries, how.label_width, limit)
    seconds = 3e-6 * how.sketches_for(sum(sizes.entities)) * sum(sizes.entities)
    yield "surroundings", scored + matrix, matrix, seconds
    if _with_literals(sizes, how):
        compared = attributes.literal_evidence_memory(sum(sizes.literals), entries)
        yield "literals", compared + matrix, matrix, 2e-6 * entries


def _with_literals(sizes: Sizes, how: EvidenceConfig) -> bool:
    """Whether literals are compared: both graphs have some, and they count."""
    return how.literals and how.literal_weight > 0 and all(sizes.literals)


def _literal_stages(sizes: Sizes, how: EvidenceConfig, threads: int) -> Iterator[Row]:
    """Literals as columns, and candidates by rare values."""
    (sources, targets), literals = sizes.matched, sum(sizes.literals)
    values = attributes.attribute_values_memory(literals, sum(sizes.literal_characters))
    yield "attribute-values", values, 16 * literals + sum(sizes.literal_characters), 4e-6 * literals
    proposed = attributes.propose_memory(sizes.literals, sources, targets, how.top_k, threads)
    yield "by-values", proposed, 8 * sources * how.top_k, 3e-6 * literals


def _propagation(sizes: Sizes, how: EvidenceConfig, label_width: int, limit: int) -> int:
    """What label propagation needs at its peak with labels of this width."""
    entries = sizes.matched[0] * how.top_k
    free = _free(sizes)
    found = evidence.candidates_memory(sizes.entities, free, label_width, how.candidates_per_round)
    scored = evidence.surroundings_memory(sizes.entities, entries, label_width, limit) + 8 * entries
    return max(found if how.candidates_per_round else 0, scored)


def _free(sizes: Sizes) -> tuple[int, int]:
    """Matched entities that are no anchors after the first round, as far as that can be told beforehand."""
    anchors = int(EXPECTED_ANCHORS * min(sizes.matched))
    return sizes.matched[0] - anchors, sizes.matched[1] - anchors
