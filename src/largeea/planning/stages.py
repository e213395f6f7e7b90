"""The stages of the method in order: working memory, size of the result, time, number of calls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from largeea.config import Config, EvidenceConfig
from largeea.evidence import sizes as evidence
from largeea.evidence.attributes import sizes as attributes
from largeea.names import sizes as names
from largeea.names.augment import augment_memory
from largeea.names.blocks import weighted_mean_memory
from largeea.names.nearby import FILL, NEARBY, sources_at_once
from largeea.planning.sizes import Pair, Sizes
from largeea.structure.partition.size import automatic_k, batches_at_once, memory_per_batch

EXPECTED_ANCHORS = 0.5
"""Share of the smaller graph that is taken to be anchors after the first round: the others are searched."""
EXPECTED_ROUNDS = 6
"""Rounds of self-training until anchors have settled; 5 to 6 were measured on twins of DBP1M."""
EXPECTED_SEARCHES = 3
"""Rounds that search for new candidates, while many anchors are new."""
SEARCHING = ("candidates", "names-nearby", "learnt-candidates")
"""Stages of these rounds alone."""
SAME_IRI = 80
"""Bytes per entity of both graphs while IRIs are compared; 79 were measured for IRIs of 45 characters."""


class StageRow(NamedTuple):
    """What one call of a stage takes."""

    stage: str
    working: int
    """Bytes at its peak, beside graphs and stored results."""
    disk: int
    """Bytes of its result."""
    seconds: float
    """Of one call on one thread; measured on a twin of DBP1M and on the taxonomy of NCBI, with 3.2 and 4.9
    million entities in all."""
    calls: int = 1


def stage_rows(sizes: Sizes, config: Config, limit: int, threads: int) -> Iterator[StageRow]:
    """All stages in the order of the method, for a memory limit in bytes and a number of threads."""
    nodes, (sources, targets) = sum(sizes.entities), sizes.matched
    matrix = 8 * sources * config.names.top_k
    yield StageRow("same-iri", SAME_IRI * nodes, 8 * min(sizes.entities), 6e-7 * nodes)
    yield StageRow("kinds", 4 * nodes, nodes, 2e-8 * nodes)
    if config.uses("names"):
        characters = sum(sizes.characters)
        rows = names.rows_memory(nodes, characters), 3 * characters + 24 * nodes
        yield StageRow("name-rows", *rows, 2.6e-6 * (sources + targets))
        if config.names.lexicon or (sizes.foreign and config.names.dictionaries):
            memory = names.translation_memory(nodes, characters, sizes.foreign)
            yield StageRow("translated-names", memory, 2 * rows[1], 16 + 1e-4 * (sources + targets))
        for row in names.feature_stages(sizes.matched, sizes.characters, config.names, threads):
            if config.uses("sens" if row[0] != "strings" else "strings"):
                yield StageRow(*row)
        fused = weighted_mean_memory(sources, config.names.top_k, threads)
        yield StageRow("names", fused, matrix, 1e-6 * sources)
        if config.uses("augmentation"):
            augmented = augment_memory(sources * config.names.top_k)
            yield StageRow("seeds", augmented, 12 * sources, 2e-6 * sources)
    if config.uses("structure"):
        how, found = config.structure, 8 * sizes.source_rows * config.structure.top_k
        seconds = 2e-4 * how.epochs * nodes
        yield StageRow("structure", found + training_memory(sizes, config), found, seconds)
    if config.uses("evidence"):
        yield from _evidence_stages(sizes, config, limit, threads)
    else:
        yield StageRow("fused", 6 * matrix, 2 * matrix, 2e-5 * sources)
    yield StageRow("alignment", 7 * matrix, 40 * sources, 3e-6 * sources)


def training_memory(sizes: Sizes, config: Config) -> int:
    """Bytes of all mini-batches that are trained at a time."""
    entities, how = sum(sizes.entities), config.structure
    k, overlap = config.partition.k or automatic_k(entities), config.partition.overlap
    batch = memory_per_batch(entities, k, overlap, how.dimension, how.model)
    return batches_at_once(entities, k, overlap, how) * batch


def edge_counts(sizes: Sizes) -> Pair:
    """Edges of each graph: every triple and every literal in both directions."""
    source, target = (2 * (sizes.triples[side] + sizes.literals[side]) for side in (0, 1))
    return source, target


def _evidence_stages(sizes: Sizes, config: Config, limit: int, threads: int) -> Iterator[StageRow]:
    """All rounds, then the trial that gives confidence. Each round needs the memory of the one before."""
    how, (sources, targets), edges = config.evidence, sizes.matched, edge_counts(sizes)
    entries = sources * how.top_k
    matrix = 8 * entries
    if config.uses("names"):
        compared = 28 * sources * config.names.top_k + 16 * (sources + targets)
        yield StageRow("equal-names", compared, 8 * sources * config.names.top_k, 1.3e-6 * sources)
    if _learns(sizes, config):
        yield StageRow(*names.units_stage(sources + targets, sum(sizes.characters)))
    yield StageRow("edges", evidence.edges_memory(max(edges)), 12 * sum(edges), 1.3e-7 * sum(edges))
    if _with_literals(sizes, how):
        yield from _literal_stages(sizes, how, threads)
    matching = 8 * int((1 + FILL) * entries) + 33 * entries
    matching_seconds = 2.7e-9 * entries * how.sinkhorn_iterations
    rounds = min(how.rounds, EXPECTED_ROUNDS)
    yield StageRow("fused", matching, matrix, matching_seconds, rounds)
    of_round = list(_round(sizes, config, limit, threads))
    searches = min(rounds, EXPECTED_SEARCHES)
    for row in of_round:
        yield row._replace(calls=searches if row.stage in (*SEARCHING, "translations") else rounds)
    for row in of_round:
        if row.stage not in SEARCHING:
            beside = 2 * matrix if row.stage == "surroundings" else 0  # what the last round has found
            yield row._replace(stage=f"trial-{row.stage}", working=row.working + beside)
    yield StageRow("matched", matching, matrix, matching_seconds)
    trial = int(8 * (3 + FILL) * entries)  # names, neighbours, surroundings and literals
    yield StageRow("calibration", matching + trial, 0, matching_seconds)
    yield StageRow("likelihood", 42 * entries, matrix, 3e-8 * entries)


def _round(sizes: Sizes, config: Config, limit: int, threads: int) -> Iterator[StageRow]:
    """What neighbours, nearby names, surroundings, literals and translated names say in one round."""
    how, edges = config.evidence, sum(edge_counts(sizes))
    targets, sources, rows = sizes.entities[1], sizes.matched[0], sizes.source_rows
    entries = sources * how.top_k
    matrix, near = 8 * entries, int(FILL * entries)
    yield StageRow("agreement", evidence.agreement_memory(edges), 0, 7e-8 * edges)
    near_memory = evidence.neighbours_memory(rows, targets, near, how.top_k, threads)
    yield StageRow("neighbours", near_memory, 8 * near, 3e-7 * edges)
    if config.uses("sens") and config.uses("names") and how.nearby_names:
        at_once = min(sources_at_once(NEARBY * how.top_k, limit) / max(sources, 1), 1.0)
        pairs = int(at_once * NEARBY * near)
        wide = evidence.neighbours_memory(int(at_once * rows), targets, pairs, NEARBY * how.top_k, threads)
        kept = sources * config.names.top_k
        compared = names.nearby_memory(sum(sizes.characters), pairs, kept, config.names)
        result = 8 * sources * (config.names.top_k + how.nearby_names)
        yield StageRow("names-nearby", max(wide, compared), result, 1.8e-7 * NEARBY * near)
    if how.candidates_per_round:
        free = free_entities(sizes)
        found = evidence.candidates_memory(sizes.entities, free, how.label_width, how.candidates_per_round)
        seconds = 9e-10 * how.label_width * free[0] * math.sqrt(free[1])
        yield StageRow("candidates", found, 8 * sources * how.candidates_per_round, seconds)
    scored = evidence.surroundings_memory(sizes.entities, entries, how.label_width, limit)
    seconds = 2.4e-6 * how.sketches_for(sum(sizes.entities)) * sum(sizes.entities)
    yield StageRow("surroundings", scored + matrix, matrix, seconds)
    if _with_literals(sizes, how):
        compared = attributes.literal_evidence_memory(sum(sizes.literals), entries)
        yield StageRow("literals", compared + matrix, matrix, 1e-7 * entries)
    if _learns(sizes, config):
        free, characters = free_entities(sizes), sum(sizes.characters)
        for row in names.learnt_stages(sizes.matched, free, characters, how.top_k, threads):
            yield StageRow(*row)


def _learns(sizes: Sizes, config: Config) -> bool:
    """Whether translations of names are learnt from anchors."""
    return (
        sizes.foreign and config.uses("sens") and config.uses("names") and config.evidence.learnt_weight > 0
    )


def _with_literals(sizes: Sizes, how: EvidenceConfig) -> bool:
    """Whether literals are compared: both graphs have some, and they count."""
    return how.literals and how.literal_weight > 0 and all(sizes.literals)


def _literal_stages(sizes: Sizes, how: EvidenceConfig, threads: int) -> Iterator[StageRow]:
    """Literals as columns, and candidates by rare values."""
    (sources, targets), literals = sizes.matched, sum(sizes.literals)
    values = attributes.attribute_values_memory(literals, sum(sizes.literal_characters))
    stored = 16 * literals + sum(sizes.literal_characters)
    yield StageRow("attribute-values", values, stored, 2e-6 * literals)
    asked = math.ceil(sizes.share * sizes.literals[0]), sizes.literals[1]
    proposed = attributes.propose_memory(asked, sources, targets, how.top_k, threads)
    yield StageRow("by-values", proposed, 8 * sources * how.top_k, 1.7e-6 * literals)


def propagation_memory(sizes: Sizes, how: EvidenceConfig, label_width: int, limit: int) -> int:
    """What label propagation needs at its peak with labels of this width."""
    entries = sizes.matched[0] * how.top_k
    free = free_entities(sizes)
    found = evidence.candidates_memory(sizes.entities, free, label_width, how.candidates_per_round)
    scored = evidence.surroundings_memory(sizes.entities, entries, label_width, limit) + 8 * entries
    return max(found if how.candidates_per_round else 0, scored)


def free_entities(sizes: Sizes) -> Pair:
    """Matched entities that are not anchors after the first round, as far as that can be told beforehand."""
    source, target = sizes.all_matched
    anchors = int(EXPECTED_ANCHORS * min(source, target))
    return math.ceil(sizes.share * (source - anchors)), target - anchors
