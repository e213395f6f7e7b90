"""The whole method on one page: names, seeds, structure, evidence, fusion, decision, as calls of stages.

`stage(name, function, *arguments)` gives the handle of a result. Its dependencies are its arguments; it is
computed when it is needed and not stored already (`largeea.execution.stages`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from largeea.config import Config, NamesConfig
from largeea.corrections import KnownPairs
from largeea.errors import InputError, UsageError
from largeea.execution.code import plugin_fingerprint
from largeea.execution.compilation import tell_of_compilation
from largeea.execution.devices import cuda_is_chosen, start_cuda
from largeea.execution.engines import load_engine
from largeea.execution.settings import current
from largeea.execution.stages import Handle, Stages
from largeea.graph import Arrays, KnowledgeGraph, Links
from largeea.graph.same_iri import matched_kinds
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.matching.decision import decided_arrays
from largeea.matching.forbidden import both_ways
from largeea.matching.fusion import fuse
from largeea.material import Matrix, NameParts, gather
from largeea.names.augment import augment
from largeea.names.channel import (
    encode_names,
    name_features,
    name_rows,
    ngram_similarity,
    ngram_vectors,
    semantic_names,
    string_names,
    vector_similarity,
)
from largeea.names.choice import chosen_for, foreign_scripts
from largeea.names.encoders import encoder_fingerprint
from largeea.names.equal import favour_equal_names
from largeea.names.translation import lexicon_fingerprint, translate_names
from largeea.planning import Sizes, make_plan
from largeea.progress import note, warn
from largeea.randomness import child_seed
from largeea.rounds import confidence, self_training
from largeea.runs.folder import Run
from largeea.structure.channel import partition_graphs, train_batches
from largeea.structure.models import MODELS
from largeea.structure.partition import PARTITIONERS


@dataclass(frozen=True)
class Inputs:
    """Both graphs and what is known about pairs of their entities. Test links are never in here."""

    source: Handle[KnowledgeGraph]
    target: Handle[KnowledgeGraph]
    given: Handle[Arrays]
    """Seeds, forbidden and reviewed pairs: see `GivenPairs`."""
    within: bool = False
    """Whether both graphs are the same one, in which duplicates are searched."""
    rules: Handle[Arrays] | None = None
    """Rules that candidates obey: see `largeea.constraints`."""


@dataclass(frozen=True)
class Outcome:
    """What a run ends with."""

    inputs: Inputs
    given: Handle[Links]
    """The seeds that were given (`psi'`)."""
    seeds: Handle[Links]
    """Given seeds and pseudo-seeds."""
    fused: Matrix
    """`M`: the scores that the answer is drawn from."""
    answer: Handle[Arrays]
    parts: tuple[Handle[Any], ...]
    """All stages that a finished run holds."""

    @property
    def alignment(self) -> Alignment:
        """The answer with its graphs."""
        return Alignment.from_arrays(self.inputs.source.value, self.inputs.target.value, self.answer.value)


def run_method(inputs: Inputs, config: Config, run: Run) -> Outcome:
    """Go through all stages that the configuration asks for; what a folder has already is not done again."""
    check_plugins(config)
    if inputs.within:
        check_duplicates(inputs.source, config)
    start_cuda()
    tell_of_compilation()
    run.begin(config)
    scripts = foreign_scripts(inputs.source.value, inputs.target.value) if config.uses("names") else {}
    config = config.model_copy(update={"names": chosen_for(scripts, config.names)})
    config = within_limits(inputs, config, run, bool(scripts))
    stage, source, target = run.stage, inputs.source, inputs.target
    known = KnownPairs.of(stage, inputs.given, source, target, inputs.rules)
    seeds, corrections = known.seeds, known.corrections
    cardinality = cardinality_of(config, inputs.within)
    if inputs.within and corrections.forbidden is not None:
        forbidden = stage("forbidden-both-ways", both_ways, corrections.forbidden)
        corrections = replace(corrections, forbidden=forbidden)
    if len(known.same.value):
        seeds = stage("known-pairs", known_pairs, known.same, seeds)
    kinds = stage("kinds", matched_kinds, source, target, known.same)
    channels: dict[str, Matrix] = {}
    features: dict[str, Matrix] = {}
    augmented, names, likelihood, compared = seeds, None, None, None
    made_of: tuple[Handle[Any], ...] = ()
    if names_are_usable(inputs, known, config):
        rows = stage(
            "name-rows", name_rows, source, target, kinds, config.names.max_aliases,
            config.names.alias_predicates,
        )  # fmt: skip
        readings = name_readings(stage, rows, bool(scripts), config.names)
        channels["name"], features = name_channel(stage, rows, readings, config)  # M_n
        names = stage("equal-names", favour_equal_names, channels["name"], readings)
        if config.uses("sens"):
            vectors = name_vectors(stage, rows, config.names)
            compared = NameParts(readings, name_ngrams(stage, readings, config.names), vectors, config.names)
        if config.uses("augmentation"):  # DA
            allowed = corrections.allowed(stage, channels, "pseudo-seeds-")["name"]
            augmented = stage("seeds", augment, seeds, allowed, config.augmentation.margin)
    if config.uses("structure"):  # M_s
        channels["structure"] = structure_channel(stage, source, target, augmented, config)
    if config.uses("evidence"):  # beyond the paper
        trained = {kind: channel for kind, channel in channels.items() if kind == "structure"}
        material = gather(
            stage, source, target, kinds, seeds, names, compared, config, corrections, cardinality,
            bool(scripts),
        )  # fmt: skip
        if cuda_is_chosen() or stage.side_by_side:  # a GPU or nodes compare names meanwhile
            beside: list[Handle[Any] | None] = [features.get("strings"), material.edges, material.values]
            beside += [material.proposed] if stage.side_by_side else []  # a GPU would search two at a time
            stage.ahead(*filter(None, beside))
        rounds = self_training(material, trained)
        channels = rounds.channels
        made_of = (*filter(None, [names]), *rounds.parts, rounds.fused)
        likelihood, fused = confidence(material, trained, rounds)  # M
    else:
        channels = corrections.allowed(stage, channels)
        fused = stage("fused", fuse, channels, config.fusion.method, config.fusion.csls)  # M
    how = config.decision
    answer = stage(
        "alignment", decided_arrays, source, target, known.seeds, known.same, fused, channels, features,
        likelihood, how.threshold, how.doubtful, how.assignment, cardinality, known.further,
    )  # fmt: skip
    parts: list[Handle[Any]] = [source, target, inputs.given, known.seeds, known.same, augmented]
    parts += filter(None, [inputs.rules])
    parts += [*features.values(), *channels.values(), *made_of, fused, *filter(None, [likelihood]), answer]
    return Outcome(inputs, known.seeds, augmented, fused, answer, tuple(parts))


def name_readings(stage: Stages, rows: Handle[Arrays], foreign: bool, how: NamesConfig) -> Handle[Arrays]:
    """The names with translations: of those in `foreign` scripts, and by the user's glossary."""
    by_dictionaries = foreign and how.dictionaries
    if not (by_dictionaries or how.lexicon):
        return rows
    fingerprint = lexicon_fingerprint(by_dictionaries, how.lexicon)
    return stage("translated-names", translate_names, rows, by_dictionaries, how.lexicon, fingerprint)


def name_channel(
    stage: Stages, rows: Handle[Arrays], readings: Handle[Arrays], config: Config
) -> tuple[Matrix, dict[str, Matrix]]:
    """The name channel (`M_n`), and what it is made of: SENS (`M_se`) and STNS (`M_st`)."""
    how = config.names
    features: dict[str, Matrix] = {}
    if config.uses("sens"):
        features["semantic"] = semantic_feature(stage, rows, readings, config.names)
    if config.uses("strings"):
        random = child_seed(config.seed, "strings")
        features["strings"] = stage("strings", string_names, readings, how.top_k, how.theta, random)
    both = features.get("semantic"), features.get("strings")
    return stage("names", name_features, *both, how.string_weight, how.top_k), features


def semantic_feature(
    stage: Stages, rows: Handle[Arrays], readings: Handle[Arrays], how: NamesConfig
) -> Matrix:
    """SENS (`M_se`): by the n-grams of readings, by an encoder's vectors of names as written, or by both."""
    grams = readings, name_ngrams(stage, readings, how), how.top_k, how.discount_brackets
    if how.by_ngrams:
        return stage("semantic", ngram_similarity, *grams)
    vectors = name_vectors(stage, rows, how)
    assert vectors is not None
    search = how.top_k, how.metric, how.search
    if not how.ngram_weight:
        return stage("semantic", vector_similarity, rows, vectors, *search)
    by_vectors = stage("by-vectors", vector_similarity, rows, vectors, *search)
    by_ngrams = stage("by-ngrams", ngram_similarity, *grams)
    return stage("semantic", semantic_names, by_vectors, by_ngrams, how.ngram_weight, how.top_k)


def name_ngrams(stage: Stages, rows: Handle[Arrays], how: NamesConfig) -> Handle[Arrays]:
    """The n-gram vectors of all names."""
    return stage("ngrams", ngram_vectors, rows, how.shortest_gram, how.longest_gram, how.discount_brackets)


def name_vectors(stage: Stages, rows: Handle[Arrays], how: NamesConfig) -> Handle[Any] | None:
    """The encoder's vectors of all names; None where n-grams alone compare them."""
    if how.by_ngrams:
        return None
    weights = encoder_fingerprint(how.encoder, how.dtype)
    return stage("vectors", encode_names, rows, how.encoder, how.dtype, weights)


def structure_channel(
    stage: Stages,
    source: Handle[KnowledgeGraph],
    target: Handle[KnowledgeGraph],
    seeds: Handle[Links],
    config: Config,
) -> Matrix:
    """The structure channel (`M_s`): mini-batches, a model trained on each, its nearest entities."""
    random = child_seed(config.seed, "structure")
    partitioner = plugin_fingerprint(PARTITIONERS, config.partition.method)
    batches = stage("batches", partition_graphs, source, target, seeds, config.partition, random, partitioner)
    model = plugin_fingerprint(MODELS, config.structure.model)
    return stage("structure", train_batches, source, target, seeds, batches, config.structure, random, model)


def cardinality_of(config: Config, within: bool = False) -> Cardinality:
    """How many counterparts an entity may have, by the configuration; `within` one graph, several."""
    return Cardinality.WITHIN if within else Cardinality(config.decision.cardinality)


def known_pairs(same: Links, seeds: Links) -> Links:
    """Pairs with equal IRIs, with weight 1, and the seeds that do not contradict them."""
    free = ~np.isin(seeds.source, same.source) & ~np.isin(seeds.target, same.target)
    weight = np.ones(len(seeds), np.float32) if seeds.weight is None else seeds.weight
    weights = np.concatenate([np.ones(len(same), np.float32), weight[free]])
    return Links(np.concatenate([same.pairs, seeds.pairs[free]]), weights).canonical()


def within_limits(inputs: Inputs, config: Config, run: Run, foreign: bool) -> Config:
    """The configuration that fits into memory; an error if none does, a warning if it costs accuracy.

    `foreign` says whether the graphs have names in different scripts.
    """
    sizes = replace(Sizes.of(inputs.source.value, inputs.target.value), foreign=foreign)
    plan, adjusted = make_plan(sizes, config)
    plan.check()
    for adjustment in plan.adjustments:
        warn(adjustment)
    run.describe(plan=plan.to_plain())
    run.stage.side_by_side = not current().is_local and 2 * plan.peak.host <= plan.memory
    return adjusted


def check_plugins(config: Config) -> None:
    """Refuse an unknown model or partitioner, or a missing cluster, before hours have gone into names."""
    load_engine(current().engine).begin()
    if config.uses("structure"):
        MODELS.find(config.structure.model)
        PARTITIONERS.find(config.partition.method)


def check_duplicates(graph: Handle[KnowledgeGraph], config: Config) -> None:
    """Refuse to search duplicates where there can be none, or by a model that learns from two graphs."""
    if config.uses("structure"):
        raise UsageError(
            f"duplicates are searched without a structure model, but structure.model is "
            f"{config.structure.model!r}; leave it out, or align two graphs"
        )
    count = int(graph.value.linkable.sum())
    if count < 2:
        raise InputError(
            f"the graph has {count} entities that can be matched; duplicates need two at least. "
            "`largeea inspect` shows what is matched"
        )


def names_are_usable(inputs: Inputs, given: KnownPairs, config: Config) -> bool:
    """Whether there is a name channel; if not, structure has to do alone, and an error says if it cannot."""
    if config.uses("names") and not (config.uses("sens") or config.uses("strings")):
        raise UsageError("without sens and strings the name channel is empty; leave one of them in")
    nameless = [
        side
        for side, graph in (("source", inputs.source.value), ("target", inputs.target.value))
        if graph.size and not (graph.named & graph.linkable).any()
    ]
    if config.uses("names") and not nameless:
        return True
    with_evidence = config.uses("evidence")
    known = len(given.seeds.value) or len(given.same.value)
    if not (config.uses("structure") or (with_evidence and (known or literals_are_usable(inputs, config)))):
        if not config.uses("names"):
            raise UsageError("without names and without seeds there is nothing to align by")
        raise InputError(
            f"no entity of the {nameless[0]} graph has a name, so the name channel has nothing to compare; "
            "give names with --label PREDICATE or, for tables, --columns name=COLUMN, or let structure do it "
            "with seeds: --preset largeea-r --seeds FILE"
        )
    if nameless:
        note(f"no entity of the {nameless[0]} graph has a name: structure and literals decide alone")
    return False


def literals_are_usable(inputs: Inputs, config: Config) -> bool:
    """Whether both graphs have literals that evidence may compare."""
    how = config.evidence
    sides = inputs.source.value, inputs.target.value
    return how.literals and how.literal_weight > 0 and all(len(graph.attributes) for graph in sides)
