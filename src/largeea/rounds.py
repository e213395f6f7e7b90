"""Evidence beyond the paper, as calls of stages: rounds of self-training, then a trial for confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from largeea.config import EvidenceConfig
from largeea.evidence import (
    all_but,
    known_judges,
    measure_learnt,
    measure_names,
    measure_worth,
    share_of_new,
)
from largeea.execution.stages import Handle, Stages
from largeea.graph import Arrays, Links
from largeea.matching.cardinality import Cardinality
from largeea.matching.confidence import calibrate, likelihood, match_by_chances, next_to_rivals
from largeea.matching.fusion import match
from largeea.matching.knockouts import knock_outs, spared
from largeea.matching.lone_pairs import likelihood_by_anchors
from largeea.material import Channels, Joined, Material, Matrix, not_known
from largeea.names.differences import learn_from_reviews, shift_by_words, teach_something
from largeea.names.equal import LEAST_IF_EQUAL
from largeea.progress import note, warn
from largeea.round_evidence import Evidence, compare, evidence_of, names_with_nearby

SETTLING = 0.8
"""Rounds end where the share of new anchors stays above this share of what it was, and their number stays."""
SEARCH_FROM = 0.1
"""Share of new anchors from which on new candidates are searched again."""
ROUGH_SKETCHES = 4
"""Sketches that score candidates while many anchors are new: a round of all sketches follows."""
LEARN_FROM = 0.02
"""Share of new anchors from which on translations are learnt again, once they are worth it."""
TRIAL = 8
"""Number that the random labels of the trial are drawn by, as those of a round are by its number."""
LEAST_WORTH = 0.05
"""Evidence that tells less is left out."""


@dataclass(frozen=True)
class Rounds:
    """What the rounds of self-training end with."""

    channels: Channels
    """Names, and what neighbours, surroundings and literals say."""
    weights: dict[str, float]
    fused: Matrix
    anchors: Handle[Links]
    names: Matrix | None
    """The name channel of the last round, without the entities that are `apart`."""
    apart: Handle[Links]
    """Those known pairs whose entities had no scores."""
    nearby: Joined | None
    """How the graphs were joined when the names of nearby targets were compared."""
    names_worth: float
    """How much names tell, from 0 to 1."""
    parts: tuple[Handle[Any], ...]
    """What the evidence was made of."""


def self_training(everything: Material, trained: Channels) -> Rounds:
    """Names, literals or seeds choose anchors, anchors give evidence, evidence chooses more anchors.

    Rounds go on until the anchors hardly change. Where there are names, the first ones sketch surroundings
    roughly; the last one never does. How much structure and literals count is measured on known pairs or on
    the pairs that names are sure of. `trained` are the channels of trained models, which are fused with
    evidence.
    """
    stage, how, known = everything.stage, everything.config.evidence, everything.known
    trusted = everything.corrections.not_reviewed(stage, known)
    judged = stage("judged", known_judges, trusted, everything.kinds, everything.random)
    one_to_one = everything.cardinality is Cardinality.ONE_TO_ONE
    material = everything.with_apart(stage("apart", all_but, known, judged if one_to_one else known))
    channels, weights = trained | not_known(material, material.start), dict[str, float]()
    before, new_before, parts = Links.none(), np.inf, list[Handle[Any]]([material.edges])
    anchors = first = known
    found: Evidence | None = None
    names_worth = 0.0
    for_anchors = everything.cardinality.of_anchors
    rough = False
    for number in range(how.rounds):
        matched = fuse(stage, channels, weights, how, for_anchors) if channels else None
        chosen = material.choose(matched, number + 1)
        new = share_of_new(before, chosen.value)
        note(f"round {number + 1}: {len(chosen.value):,} anchors, {new:.1%} of them new")
        growth = len(chosen.value) / max(len(before), 1) - 1
        settled = number > 0 and have_settled(new, new_before, growth, how.min_new_anchor_share)
        if not len(chosen.value) or (settled and not rough):
            break
        anchors, before, new_before = chosen, chosen.value, new
        first = first if number else anchors
        searching, learning = new >= SEARCH_FROM, new >= LEARN_FROM
        others_follow = not (settled or stage.starts_from_earlier or number + 1 == how.rounds)
        rough = searching and others_follow and material.names is not None
        scored = replace(material, sketches=min(material.sketches, ROUGH_SKETCHES)) if rough else material
        found = evidence_of(scored, anchors, number, found, searching, learning, share_of_names(weights))
        weights = base_weights(how)
        if found.names is not None:
            if not number:
                allowed = material.corrections.allowed(stage, found.channels)
                measured = stage(
                    "names-worth", measure_names, found.names, allowed, found.candidates, judged,
                    material.random,
                )  # fmt: skip
                names_worth = float(measured.value["worth"][0])
            worth = stage(
                f"worth-{number + 1}", measure_worth, found.channels, found.names, weights, found.candidates,
                judged, first, material.random,
            )  # fmt: skip
            weights = weighed(weights, worth.value, names_worth)
            if not weights["literals"]:
                material = replace(material, values=None)
            if "learnt" in found.channels:
                learnt_worth = stage(
                    f"learnt-worth-{number + 1}", measure_learnt, found.channels["learnt"], found.names,
                    found.channels, found.candidates, judged, material.random,
                )  # fmt: skip
                tells = float(learnt_worth.value["worth"][0])
                if tells:
                    note(f"of what names leave open, translations learnt from anchors tell {tells:.0%}")
                    weights |= weighed_names(learnt_worth.value, worth.value, how.learnt_weight)
                else:
                    found = found.without_learnt
        channels = trained | not_known(material, found.with_names)
        parts = [material.edges, anchors, found.agreement, *found.channels.values()]
    if material.names is not None and material.structured and weights.get("surroundings") == 0:
        warn(
            "structure says nothing about the pairs that names are sure of, so names decide; if things with "
            "the same name need not be the same here, confidence is too high: check some links first"
        )
    names, nearby = (material.names, None) if found is None else (found.names, found.nearby)
    fused = fuse(stage, channels, weights, how, everything.cardinality)
    parts += filter(None, [material.itself])
    return Rounds(channels, weights, fused, anchors, names, material.apart, nearby, names_worth, tuple(parts))


def have_settled(new: float, new_before: float, growth: float, least: float) -> bool:
    """Whether hardly any anchor is new, or new ones only replace others.

    `new` and `new_before` are the shares of new anchors in this round and in the one before; `growth` is that
    of their number.
    """
    return new < least or (new > SETTLING * new_before and growth < least)


def confidence(everything: Material, trained: Channels, rounds: Rounds) -> tuple[Matrix, Matrix]:
    """The probability that each pair is right, learnt from a trial without some of the counterparts, and `M`.

    In the trial, nothing has been reviewed yet: it shows what pairs look like of which people have said
    since whether they are right. If that teaches something about the words in which names differ, pairs are
    matched once more by what is then known about them.
    """
    stage, config, corrections = everything.stage, everything.config, everything.corrections
    known, cardinality, how = everything.known, everything.cardinality, config.evidence
    if not (cardinality.one_source or cardinality.one_target):
        by_anchors = stage(
            "likelihood", likelihood_by_anchors, rounds.channels, rounds.anchors, rounds.weights, how.top_k,
            config.decision.temperature, how.no_match_score, LEAST_IF_EQUAL, corrections.reviewed,
            cardinality,
        )  # fmt: skip
        return by_anchors, rounds.fused
    knocked_out = stage("knock-outs", knock_outs, rounds.fused, known, config.seed, cardinality)
    left_out = knocked_out, corrections.reviewed
    if cardinality is Cardinality.ONE_TO_ONE:
        apart = stage("trial-known", spared, known, *left_out)
    else:
        apart = stage("apart", all_but, known, known)
    trial = everything.with_apart(apart, "trial-")
    if "literals" not in rounds.channels:
        trial = replace(trial, values=None)
    if "learnt" not in rounds.channels:
        trial = replace(trial, units=None)
    tried = trial.start
    if "surroundings" in rounds.channels:
        anchors = stage("trial-anchors", spared, rounds.anchors, *left_out)
        joined = trial.joined(anchors, "trial-")
        has_others = len(apart.value) or len(rounds.apart.value)
        names = names_with_nearby(trial, rounds.nearby, trial="trial-") if has_others else rounds.names
        pool = {"surroundings": rounds.channels["surroundings"]}
        taught = trial.translations(anchors, "trial-")
        found = compare(
            trial, anchors, joined, TRIAL, names, pool, taught, share_of_names(rounds.weights), "trial-"
        )
        tried = found.with_names
    tried = corrections.before_reviews(stage).allowed(stage, trained | tried, "trial-")
    matching = (
        rounds.weights, how.top_k, config.decision.temperature, how.no_match_score, how.sinkhorn_iterations,
        cardinality,
    )  # fmt: skip
    matched = stage("matched", match, rounds.channels, *matching)
    calibration = stage(
        "calibration", calibrate, tried, knocked_out, matching, LEAST_IF_EQUAL, corrections.reviewed,
        rounds.names_worth, rounds.channels, matched, known,
    )  # fmt: skip
    looks, learnt = (rounds.channels, matched), (calibration, LEAST_IF_EQUAL, cardinality)
    if everything.compared is not None and corrections.reviewed is not None:
        rows = everything.compared.rows
        lessons = stage("lessons", learn_from_reviews, rows, calibration, config.seed)
        if teach_something(lessons.value):
            alone = stage("likelihood-by-scores", likelihood, *looks, None, *learnt)
            shifted = stage("likelihood-by-words", shift_by_words, alone, rows, lessons)
            sharpness = how.temperature / config.decision.temperature
            again = how.top_k, sharpness, how.sinkhorn_iterations, cardinality
            fused = stage("matched-again", match_by_chances, shifted, *again)
            return stage("likelihood", next_to_rivals, shifted, fused, cardinality), fused
    return stage("likelihood", likelihood, *looks, rounds.fused, *learnt), rounds.fused


def fuse(
    stage: Stages,
    channels: Channels,
    weights: dict[str, float],
    how: EvidenceConfig,
    cardinality: Cardinality,
) -> Matrix:
    """`M` with evidence: probabilities of a matching, sharp, to rank and to choose anchors by."""
    return stage(
        "fused", match, channels, weights, how.top_k, how.temperature, how.no_match_score,
        how.sinkhorn_iterations, cardinality,
    )  # fmt: skip


def weighed_names(told: Arrays, measured: Arrays, factor: float) -> dict[str, float]:
    """The weights of names and of translated names, which share the weight of what both tell together.

    Names have the part that they tell now, alone, and translated names what they tell of the rest.
    """
    names, learnt, together = (float(told[kind][0]) for kind in ("names", "worth", "together"))
    weight = together / max(together, *(float(share[0]) for share in measured.values()))
    return {
        "name": weight * names / (names + learnt),
        "learnt": factor * weight * learnt / (names + learnt),
    }


def share_of_names(weights: dict[str, float]) -> float:
    """The share of names in the weight of all that names say."""
    return weights["name"] / (weights["name"] + weights["learnt"]) if weights.get("learnt") else 1.0


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
    note(f"worth of the evidence, measured on pairs that another kind is sure of: {told}")
    return {
        kind: weight * worth[kind] / max(worth.values()) if worth.get(kind, 0) >= LEAST_WORTH else 0.0
        for kind, weight in ({"name": 1.0} | weights).items()
    }
