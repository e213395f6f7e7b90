"""The whole method on one page: names, seeds, structure, evidence, fusion, decision, as calls of stages.

`stage(name, function, *arguments)` gives the handle of a result. Its dependencies are its arguments; it is
computed when it is needed and not stored already (`largeea.execution.stages`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from largeea.config import Config, NamesConfig
from largeea.errors import InputError, UsageError
from largeea.evidence import (
    choose_anchors,
    evidence_edges,
    find_candidates,
    learn_agreement,
    neighbour_evidence,
    share_of_new,
    surroundings_evidence,
    without_seeds,
)
from largeea.execution.code import plugin_fingerprint
from largeea.execution.compilation import tell_of_compilation
from largeea.execution.stages import Handle, Stages
from largeea.graph import Arrays, KnowledgeGraph, Links
from largeea.matching.alignment import Alignment
from largeea.matching.calibration import seeds_to_check_with, seeds_to_learn_from
from largeea.matching.confidence import likelihood
from largeea.matching.decision import decided_arrays
from largeea.matching.fusion import fuse, match_one_to_one
from largeea.names.augment import augment
from largeea.names.channel import (
    encode_names,
    name_features,
    name_rows,
    ngram_similarity,
    semantic_names,
    string_names,
    vector_similarity,
)
from largeea.names.encoders import encoder_fingerprint
from largeea.names.semantic import NGRAM
from largeea.planning import Sizes, make_plan
from largeea.progress import note, warn
from largeea.randomness import child_seed
from largeea.runs import Run
from largeea.similarity import Similarity
from largeea.structure.channel import partition_graphs, train_batches
from largeea.structure.models import MODELS
from largeea.structure.partition import PARTITIONERS

Matrix = Handle[Similarity]


@dataclass(frozen=True)
class Inputs:
    """Both graphs and the seeds (`psi'`). Test links are never in here."""

    source: Handle[KnowledgeGraph]
    target: Handle[KnowledgeGraph]
    seeds: Handle[Links]


@dataclass(frozen=True)
class Outcome:
    """What a run ends with."""

    inputs: Inputs
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
    tell_of_compilation()
    run.begin(config)
    config = within_limits(inputs, config, run)
    stage, source, target = run.stage, inputs.source, inputs.target
    with_evidence = config.uses("evidence")
    seeds = inputs.seeds
    if with_evidence:  # whatever learns from seeds must not see those that confidence is checked with
        seeds = stage("seeds-to-learn-from", seeds_to_learn_from, inputs.seeds, config.seed)
    channels: dict[str, Matrix] = {}
    features: dict[str, Matrix] = {}
    augmented = seeds
    made_of: list[Handle[Any]] = []
    if names_are_usable(inputs, config):
        channels["name"], features = name_channel(stage, source, target, config)  # M_n
        if config.uses("augmentation"):  # DA
            augmented = stage("seeds", augment, seeds, channels["name"], config.augmentation.margin)
    if config.uses("structure"):  # M_s
        channels["structure"] = structure_channel(stage, source, target, augmented, config)
    if with_evidence:  # beyond the paper
        found, made_of = evidence_rounds(stage, source, target, channels.get("name"), seeds, config)
        channels |= found
        fused = one_to_one(stage, channels, config)  # M
        check = stage("seeds-to-check-with", seeds_to_check_with, inputs.seeds, config.seed)
        confidence = stage(
            "likelihood", likelihood, channels, evidence_weights(config), config.evidence.top_k,
            config.decision.temperature, config.decision.no_match_score,
            config.evidence.sinkhorn_iterations, check,
        )  # fmt: skip
    else:
        fused = stage("fused", fuse, channels, config.fusion.method, config.fusion.csls)  # M
        confidence = None
    how = config.decision
    answer = stage(
        "alignment", decided_arrays, source, target, inputs.seeds, fused, channels, features, confidence,
        how.threshold, how.min_precision, how.assignment,
    )  # fmt: skip
    parts: list[Handle[Any]] = [source, target, inputs.seeds, augmented, *features.values()]
    parts += [*channels.values(), *made_of, fused, *filter(None, [confidence]), answer]
    return Outcome(inputs, augmented, fused, answer, tuple(parts))


def name_channel(
    stage: Stages, source: Handle[KnowledgeGraph], target: Handle[KnowledgeGraph], config: Config
) -> tuple[Matrix, dict[str, Matrix]]:
    """The name channel (`M_n`), and what it is made of: SENS (`M_se`) and STNS (`M_st`)."""
    how = config.names
    rows = stage("name-rows", name_rows, source, target, how.max_aliases, how.alias_predicates)
    features: dict[str, Matrix] = {}
    if config.uses("sens"):
        features["semantic"] = semantic_feature(stage, rows, config.names)
    if config.uses("strings"):
        random = child_seed(config.seed, "strings")
        features["strings"] = stage("strings", string_names, rows, how.top_k, how.theta, random)
    both = features.get("semantic"), features.get("strings")
    return stage("names", name_features, *both, how.gamma, how.top_k), features


def semantic_feature(stage: Stages, rows: Handle[Arrays], how: NamesConfig) -> Matrix:
    """SENS (`M_se`): by n-grams, by the vectors of an encoder, or by both."""
    grams = how.top_k, how.shortest_gram, how.longest_gram, how.discount_brackets
    if how.encoder == NGRAM:
        return stage("semantic", ngram_similarity, rows, *grams)
    weights = encoder_fingerprint(how.encoder, how.dtype)
    vectors = stage("vectors", encode_names, rows, how.encoder, how.dtype, weights)
    search = how.top_k, how.metric, how.search
    if not how.ngram_weight:
        return stage("semantic", vector_similarity, rows, vectors, *search)
    by_vectors = stage("by-vectors", vector_similarity, rows, vectors, *search)
    by_ngrams = stage("by-ngrams", ngram_similarity, rows, *grams)
    return stage("semantic", semantic_names, by_vectors, by_ngrams, how.ngram_weight, how.top_k)


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


def evidence_rounds(
    stage: Stages,
    source: Handle[KnowledgeGraph],
    target: Handle[KnowledgeGraph],
    names: Matrix | None,
    seeds: Handle[Links],
    config: Config,
) -> tuple[dict[str, Matrix], list[Handle[Any]]]:
    """Self-training: names (or seeds) choose anchors, anchors give evidence, evidence chooses more anchors.

    Rounds go on until the anchors hardly change. Returned are what neighbours and surroundings say in the
    end, and what that was made of: the edges, the anchors of the last round, the agreement of relations.
    """
    how, random = config.evidence, child_seed(config.seed, "evidence")
    if names is not None and len(seeds.value):
        names = stage("names-without-seeds", without_seeds, names, seeds)
    known = {} if names is None else {"name": names}
    nothing = stage("no-evidence", no_evidence, source, target)
    found: dict[str, Matrix] = {"neighbours": nothing, "surroundings": nothing}
    edges = stage("edges", evidence_edges, source, target, how.literals)
    before, made_of = Links.none(), list[Handle[Any]]([edges])
    for number in range(how.rounds):
        channels = known if number == 0 else known | found
        matched = one_to_one(stage, channels, config) if channels else None
        anchors = stage(f"anchors-{number + 1}", choose_anchors, matched, seeds, how.margin)
        new = share_of_new(before, anchors.value)
        note(f"round {number + 1}: {len(anchors.value):,} anchors, {new:.1%} of them new")
        if not len(anchors.value) or (number and new < how.min_new_anchor_share):
            break
        agreement = stage("agreement", learn_agreement, edges, anchors)
        near = stage("neighbours", neighbour_evidence, edges, anchors, agreement, seeds, how.top_k)
        candidates = [near, *known.values()]
        if how.candidates_per_round:
            retrieved = stage(
                "candidates", find_candidates, edges, anchors, agreement, how.candidates_per_round,
                how.retrieval_sketches, how.label_width, random + number,
            )  # fmt: skip
            candidates.insert(1, retrieved)
        surroundings = stage(
            "surroundings", surroundings_evidence, edges, anchors, agreement, candidates, how.top_k,
            how.scoring_sketches, how.label_width, random + number,
        )  # fmt: skip
        found = {"neighbours": near, "surroundings": surroundings}
        before, made_of = anchors.value, [edges, anchors, agreement]
    return found, made_of


def one_to_one(stage: Stages, channels: dict[str, Matrix], config: Config) -> Matrix:
    """`M` with evidence: probabilities of a one-to-one matching, sharp, to rank and to choose anchors by."""
    how = config.evidence
    no_match_score = how.no_match_score_names if list(channels) == ["name"] else how.no_match_score
    return stage(
        "fused", match_one_to_one, channels, evidence_weights(config), how.top_k, how.temperature,
        no_match_score, how.sinkhorn_iterations,
    )  # fmt: skip


def evidence_weights(config: Config) -> dict[str, float]:
    """What each kind of evidence weighs; names and trained structure models weigh 1."""
    how = config.evidence
    return {"neighbours": how.neighbour_weight, "surroundings": how.surroundings_weight}


def no_evidence(source: KnowledgeGraph, target: KnowledgeGraph) -> Similarity:
    """What structure says where no anchor was found."""
    return Similarity.empty((source.size, target.size))


def within_limits(inputs: Inputs, config: Config, run: Run) -> Config:
    """The configuration that fits into memory; an error if none does, a warning if it costs accuracy."""
    plan, adjusted = make_plan(Sizes.of(inputs.source.value, inputs.target.value), config)
    plan.check()
    for adjustment in plan.adjustments:
        warn(adjustment)
    run.describe(plan=plan.to_plain())
    return adjusted


def check_plugins(config: Config) -> None:
    """Refuse an unknown model or partitioner before hours have gone into names."""
    if config.uses("structure"):
        MODELS.find(config.structure.model)
        PARTITIONERS.find(config.partition.method)


def names_are_usable(inputs: Inputs, config: Config) -> bool:
    """Whether there is a name channel; if not, structure has to do alone, and an error says if it cannot."""
    if config.uses("names") and not (config.uses("sens") or config.uses("strings")):
        raise UsageError("without sens and strings the name channel is empty; leave one of them in")
    nameless = [
        side
        for side, graph in (("source", inputs.source.value), ("target", inputs.target.value))
        if graph.size and not graph.named.any()
    ]
    if config.uses("names") and not nameless:
        return True
    if not (config.uses("structure") or (config.uses("evidence") and len(inputs.seeds.value))):
        if not config.uses("names"):
            raise UsageError("without names and without seeds there is nothing to align by")
        raise InputError(
            f"no entity of the {nameless[0]} graph has a name, so the name channel has nothing to compare; "
            "give names with --label PREDICATE or, for tables, --columns name=COLUMN, or let structure do it "
            "with seeds: --preset largeea-r --seeds FILE"
        )
    if nameless:
        note(f"no entity of the {nameless[0]} graph has a name: structure decides alone")
    return False
