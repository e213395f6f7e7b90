"""Evidence beyond the paper, as calls of stages: rounds of self-training, then a trial for confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from largeea.config import Config, EvidenceConfig, NamesConfig
from largeea.evidence import (
    all_but,
    attribute_values,
    choose_anchors,
    evidence_edges,
    find_candidates,
    learn_agreement,
    literal_support,
    measure_names,
    measure_worth,
    neighbour_evidence,
    pairs_to_judge,
    propose_by_values,
    share_of_new,
    surroundings_evidence,
    without_seeds,
)
from largeea.execution.stages import Handle, Stages
from largeea.graph import Arrays, KnowledgeGraph, Links
from largeea.matching.confidence import likelihood
from largeea.matching.fusion import match_one_to_one
from largeea.matching.knockouts import knock_outs, spared
from largeea.names.equal import LEAST_IF_EQUAL
from largeea.names.nearby import NEARBY, with_nearby_names
from largeea.progress import note, warn
from largeea.randomness import child_seed
from largeea.similarity import Similarity

SETTLING = 0.8
"""Rounds end where the share of new anchors stays above this share of what it was, and their number stays."""
SEARCH_FROM = 0.1
"""Share of new anchors from which on candidates with similar surroundings are searched again."""
LEAST_WORTH = 0.05
"""Evidence that tells less is left out."""
Matrix = Handle[Similarity]
Channels = dict[str, Matrix]


@dataclass(frozen=True)
class NameParts:
    """What names are compared by, to compare those of other pairs."""

    rows: Handle[Arrays]
    ngrams: Handle[Arrays]
    vectors: Handle[Any] | None
    how: NamesConfig


@dataclass(frozen=True)
class Joined:
    """What joins the two graphs in a round: anchors, and which relations say the same."""

    anchors: Handle[Links]
    agreement: Handle[Similarity]


@dataclass(frozen=True)
class Material:
    """What evidence is drawn from in every round."""

    stage: Stages
    config: Config
    kinds: Handle[Arrays]
    edges: Handle[dict[str, Any]]
    known: Handle[Links]
    """Seeds and pairs with equal IRIs: anchors of every round, not to be found."""
    apart: Handle[Links]
    """Those known pairs whose entities have no scores at all."""
    names: Matrix | None
    compared: NameParts | None
    values: Handle[dict[str, Any]] | None
    proposed: Matrix | None
    """Candidates by rare literal values."""
    structured: bool
    """Whether both graphs have at least as many triples as entities."""
    sketches: int
    """That score candidates."""

    @property
    def random(self) -> int:
        """Seed of the randomness of the first round."""
        return child_seed(self.config.seed, "evidence")

    def with_apart(self, apart: Handle[Links], trial: str = "") -> Material:
        """The same without the scores of entities in these known pairs."""
        if not len(apart.value):
            return replace(self, apart=apart)
        names, proposed = (
            found and self.stage(f"{trial}{name}-without-seeds", without_seeds, found, apart)
            for name, found in (("names", self.names), ("values", self.proposed))
        )
        return replace(self, apart=apart, names=names, proposed=proposed)

    def names_with(self, joined: Joined | None, trial: str = "") -> Matrix | None:
        """The name channel with the names of targets that share a neighbour, as the graphs are joined."""
        compared, how = self.compared, self.config.evidence
        if self.names is None or compared is None or joined is None:
            return self.names
        ngram_weight = 0.0 if compared.vectors is None else compared.how.ngram_weight
        return self.stage(
            f"{trial}names-nearby", names_nearby, self.names, compared.rows, compared.ngrams,
            compared.vectors, self.edges, joined.anchors, joined.agreement, self.kinds, self.apart,
            NEARBY * how.top_k, how.nearby_names, compared.how.discount_brackets, ngram_weight,
            compared.how.string_weight,
        )  # fmt: skip

    @property
    def start(self) -> Channels:
        """What the first anchors are chosen by: names, or literal values where there are no names."""
        if self.names is not None:
            return {"name": self.names}
        return {} if self.proposed is None else {"literals": self.proposed}


@dataclass(frozen=True)
class Evidence:
    """What one round finds, given its anchors."""

    agreement: Handle[Similarity]
    names: Matrix | None
    """The name channel, with the names of nearby targets."""
    channels: Channels
    """What neighbours, surroundings and literals say."""
    candidates: list[Matrix]
    retrieved: tuple[Matrix, ...]
    """Those candidates that were found by similar surroundings, for later rounds too."""
    nearby: Joined | None
    """How the graphs were joined when the names of nearby targets were compared."""

    @property
    def with_names(self) -> Channels:
        """All channels."""
        return self.channels if self.names is None else {"name": self.names} | self.channels


@dataclass(frozen=True)
class Rounds:
    """What the rounds of self-training end with."""

    channels: Channels
    """Names, and what neighbours, surroundings and literals say."""
    weights: dict[str, float]
    fused: Matrix
    anchors: Handle[Links]
    names: Matrix | None
    nearby: Joined | None
    parts: tuple[Handle[Any], ...]
    """What the evidence was made of."""


def gather(
    stage: Stages,
    source: Handle[KnowledgeGraph],
    target: Handle[KnowledgeGraph],
    kinds: Handle[Arrays],
    known: Handle[Links],
    names: Matrix | None,
    compared: NameParts | None,
    config: Config,
) -> Material:
    """What evidence is drawn from: edges, names and, where both graphs have any, literals."""
    how = config.evidence
    edges = stage("edges", evidence_edges, source, target, how.literals)
    values = proposed = None
    if how.literals and how.literal_weight and all(len(graph.value.attributes) for graph in (source, target)):
        values = stage("attribute-values", attribute_values, source, target)
        proposed = stage("by-values", propose_by_values, values, kinds, how.top_k)
    structured = all(len(graph.value.triples) >= graph.value.size for graph in (source, target))
    sketches = how.sketches_for(source.value.size + target.value.size)
    channels = names, compared, values, proposed
    return Material(stage, config, kinds, edges, known, known, *channels, structured, sketches)


def self_training(everything: Material, trained: Channels) -> Rounds:
    """Names, literals or seeds choose anchors, anchors give evidence, evidence chooses more anchors.

    Rounds go on until the anchors hardly change. How much structure and literals count is measured on known
    pairs or on the pairs that names are sure of. `trained` are the channels of trained models, which are
    fused with evidence.
    """
    stage, how, known = everything.stage, everything.config.evidence, everything.known
    judged = stage("judged", pairs_to_judge, known, everything.random)
    material = everything.with_apart(stage("apart", all_but, known, judged))
    channels, weights = trained | not_known(material, material.start), dict[str, float]()
    before, new_before, parts = Links.none(), np.inf, list[Handle[Any]]([material.edges])
    anchors = first = known
    found: Evidence | None = None
    for number in range(how.rounds):
        matched = one_to_one(stage, channels, weights, how) if channels else None
        chosen = stage(f"anchors-{number + 1}", choose_anchors, matched, known, how.margin)
        new = share_of_new(before, chosen.value)
        note(f"round {number + 1}: {len(chosen.value):,} anchors, {new:.1%} of them new")
        growth = len(chosen.value) / max(len(before), 1) - 1
        if not len(chosen.value) or (
            number and have_settled(new, new_before, growth, how.min_new_anchor_share)
        ):
            break
        anchors, before, new_before = chosen, chosen.value, new
        first = first if number else anchors
        found = evidence_of(material, anchors, number, found, searching=new >= SEARCH_FROM)
        weights = base_weights(how)
        if found.names is not None:
            if not number:
                names_worth = stage(
                    "names-worth", measure_names, found.names, found.channels, found.candidates, judged,
                    material.random,
                )  # fmt: skip
            worth = stage(
                f"worth-{number + 1}", measure_worth, found.channels, found.names, weights, found.candidates,
                judged, first, material.random,
            )  # fmt: skip
            weights = weighed(weights, worth.value, float(names_worth.value["worth"][0]))
            if not weights["literals"]:
                material = replace(material, values=None)
        channels = trained | not_known(material, found.with_names)
        parts = [material.edges, anchors, found.agreement]
    if material.names is not None and material.structured and weights.get("surroundings") == 0:
        warn(
            "structure says nothing about the pairs that names are sure of, so names decide; if things with "
            "the same name need not be the same here, confidence is too high: check some links first"
        )
    names, nearby = (material.names, None) if found is None else (found.names, found.nearby)
    fused = one_to_one(stage, channels, weights, how)
    return Rounds(channels, weights, fused, anchors, names, nearby, tuple(parts))


def have_settled(new: float, new_before: float, growth: float, least: float) -> bool:
    """Whether hardly any anchor is new, or new ones only replace others.

    `new` and `new_before` are the shares of new anchors in this round and in the one before; `growth` is that
    of their number.
    """
    return new < least or (new > SETTLING * new_before and growth < least)


def not_known(material: Material, channels: Channels) -> Channels:
    """Channels without the entities of known pairs: what is left to be found."""
    known = material.known
    if not len(known.value):
        return channels
    return {
        kind: material.stage(f"{kind}-not-known", without_seeds, channel, known)
        for kind, channel in channels.items()
    }


def evidence_of(
    material: Material,
    anchors: Handle[Links],
    number: int,
    last: Evidence | None,
    searching: bool,
) -> Evidence:
    """What neighbours, surroundings, literals and the names of nearby targets say, given the anchors.

    Candidates are those of neighbours, names and literal values. When `searching`, there are new ones: those
    with the most similar surroundings, and those with the most similar names among all that share a
    neighbour. Else what the last round found serves again.
    """
    stage, how, edges = material.stage, material.config.evidence, material.edges
    agreement = stage("agreement", learn_agreement, edges, anchors)
    nearby, retrieved = (None, ()) if last is None else (last.nearby, last.retrieved)
    if searching and how.nearby_names:
        nearby = Joined(anchors, agreement)
    if searching and how.candidates_per_round:
        near = None if material.names is None else _neighbours(material, Joined(anchors, agreement))
        found = stage(
            "candidates", find_candidates, edges, anchors, agreement, material.kinds, near,
            how.candidates_per_round, how.retrieval_sketches, how.label_width, material.random + number,
        )  # fmt: skip
        retrieved = (found,)
    return _compared(material, Joined(anchors, agreement), number, retrieved, nearby)


def _neighbours(material: Material, joined: Joined, trial: str = "") -> Matrix:
    """What shared neighbours say."""
    return material.stage(
        f"{trial}neighbours", neighbour_evidence, material.edges, joined.anchors, joined.agreement,
        material.kinds, material.apart, material.config.evidence.top_k,
    )  # fmt: skip


def _compared(
    material: Material,
    joined: Joined,
    number: int,
    retrieved: tuple[Matrix, ...],
    nearby: Joined | None,
    trial: str = "",
) -> Evidence:
    """The evidence about all candidates, with the ones retrieved and the nearby ones."""
    stage, how, edges = material.stage, material.config.evidence, material.edges
    anchors, agreement = joined.anchors, joined.agreement
    near = _neighbours(material, joined, trial)
    names = material.names_with(nearby)
    candidates = [near, *retrieved, *filter(None, (names, material.proposed))]
    surroundings = stage(
        f"{trial}surroundings", surroundings_evidence, edges, anchors, agreement, candidates, how.top_k,
        material.sketches, how.label_width, material.random + number,
    )  # fmt: skip
    channels = {"neighbours": near, "surroundings": surroundings}
    if material.values is not None:
        channels["literals"] = stage(
            f"{trial}literals", literal_support, material.values, anchors, candidates, how.top_k,
            material.random + number,
        )  # fmt: skip
    return Evidence(agreement, names, channels, candidates, retrieved, nearby)


def names_nearby(
    names: Similarity,
    rows: Arrays,
    ngrams: Arrays,
    vectors: Arrays | None,
    edges: dict[str, Any],
    anchors: Links,
    agreement: Similarity,
    kinds: Arrays,
    apart: Links,
    nearby: int,
    per_source: int,
    *how: Any,
) -> Similarity:
    """The name channel with the names of up to `nearby` targets that share neighbours with each source.

    One stage, so that the matrix of all these pairs need not be stored. See `with_nearby_names`.
    """
    joined = neighbour_evidence(edges, anchors, agreement, kinds, apart, nearby)
    return with_nearby_names(names, rows, ngrams, vectors, joined, per_source, *how)


def confidence(everything: Material, trained: Channels, rounds: Rounds) -> Matrix:
    """The probability that each pair is right, learnt from a trial without some of the counterparts."""
    stage, config = everything.stage, everything.config
    knocked_out = stage("knock-outs", knock_outs, rounds.fused, everything.known, config.seed)
    trial = everything.with_apart(stage("trial-known", spared, everything.known, knocked_out), "trial-")
    if "literals" not in rounds.channels:
        trial = replace(trial, values=None)
    tried = trial.start
    if "surroundings" in rounds.channels:
        anchors = stage("trial-anchors", spared, rounds.anchors, knocked_out)
        joined = Joined(anchors, stage("trial-agreement", learn_agreement, trial.edges, anchors))
        apart = trial.names is not everything.names
        names = trial.names_with(rounds.nearby, "trial-") if apart else rounds.names
        trial = replace(trial, names=names, compared=None)
        pool = (rounds.channels["surroundings"],)
        found = _compared(trial, joined, config.evidence.rounds, pool, None, "trial-")
        tried = found.with_names
    return stage(
        "likelihood", likelihood, rounds.channels, rounds.fused, trained | tried, knocked_out,
        rounds.weights, config.evidence.top_k, config.decision.temperature, config.evidence.no_match_score,
        config.evidence.sinkhorn_iterations, LEAST_IF_EQUAL,
    )  # fmt: skip


def one_to_one(stage: Stages, channels: Channels, weights: dict[str, float], how: EvidenceConfig) -> Matrix:
    """`M` with evidence: probabilities of a one-to-one matching, sharp, to rank and to choose anchors by."""
    return stage(
        "fused", match_one_to_one, channels, weights, how.top_k, how.temperature, how.no_match_score,
        how.sinkhorn_iterations,
    )  # fmt: skip


def base_weights(how: EvidenceConfig) -> dict[str, float]:
    """What each kind of evidence weighs next to names if it tells everything."""
    return {
        "neighbours": how.neighbour_weight,
        "surroundings": how.surroundings_weight,
        "literals": how.literal_weight,
    }


def weighed(weights: dict[str, float], measured: Arrays, names: float) -> dict[str, float]:
    """The weights of all evidence, names included: each times its worth, as a share of the highest worth."""
    worth = {kind: float(share[0]) for kind, share in measured.items()} | {"name": names}
    kinds = {"structure": worth["surroundings"], "literals": worth.get("literals"), "names": names}
    told = ", ".join(f"{kind} {share:.0%}" for kind, share in kinds.items() if share is not None)
    note(f"what the evidence tells where another kind is sure: {told}")
    return {
        kind: weight * worth[kind] / max(worth.values()) if worth.get(kind, 0) >= LEAST_WORTH else 0.0
        for kind, weight in ({"name": 1.0} | weights).items()
    }
