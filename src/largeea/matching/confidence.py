"""Confidence: the probability that each pair is right, calibrated with knock-outs instead of labels."""

from __future__ import annotations

import numpy as np

from largeea.execution.jobs import over_rows
from largeea.graph import Arrays, Bool, Float32, Float64, Links
from largeea.matching.cardinality import Cardinality
from largeea.matching.chance_kernels import VARIABLES, describe, fill_chances, lower_by_rivals
from largeea.matching.forbidden import without_pairs
from largeea.matching.fusion import Channels, Matching, match
from largeea.matching.knockouts import knocked_out_pairs, left_alone, taken_away
from largeea.matching.mixture import Labelled, Mixture, fit_mixture
from largeea.matching.sums import Masks
from largeea.progress import note, warn
from largeea.similarity import Similarity
from largeea.similarity.columns import column_sums

LEAST_WRONG = 10
"""With fewer wrong pairs, there are too few for a mixture; with fewer entities whose counterpart was taken
away, there is nothing to learn from at all."""
MOST_DOUBTED, LEAST_WEIGHT = 0.5, 0.02
"""Share of knocked-out pairs in doubt from which on doubts are believed in full, and the least that a wrong
pair counts."""
MOST_FITS, SETTLED, FEW_DOUBTS = 10, 0.02, 0.1
"""Fits of the mixture at most, the change of weights below which they have settled, and the mean doubt below
which doubts count for next to nothing."""
MOST_WRONG = 0.8
"""Share of wrong pairs among the best ones above which a run warns."""
LEAST_CHANCE = 1e-7
"""Probabilities nearer to 0 or 1 have the log odds of this one."""
MOST_PAIRS = 50_000
"""Found pairs, and as many wrong ones, that the mixture is fitted to."""


def calibrate(
    trial: Channels,
    knocked_out: Arrays,
    matching: Matching,
    equal_names: float,
    reviewed: Links | None,
    names_worth: float = 0.0,
    channels: Channels | None = None,
    matched: Similarity | None = None,
    known: Links | None = None,
) -> Arrays:
    """Return what tells right pairs from wrong ones here: the `slopes` and the `intercept` of a mixture.

    `trial` holds the channels without the anchors in `knocked_out`. In the trial, entities whose counterpart
    was taken away are matched like all others: their pairs are surely wrong. A mixture (`fit_mixture`) tells
    them from the other pairs by their scores and by the probability of the matching. Its chances hold for
    entities with and without a counterpart. With too few wrong pairs to learn from, there are no slopes, but
    chances of pairs above some scores (`_chances_by_few`). `matching` is how channels are matched.
    Main names are equal above the score `equal_names`.

    Some of the knocked-out pairs were wrong themselves: the `channels` of the run itself, how they `matched`,
    and names, by how much they tell (`names_worth`), say which (`_fit_to_knock_outs`). `known` pairs are
    right.

    `reviewed` are pairs that people have called right (weight 1) or wrong (0). In the trial, nothing is known
    about them yet: it shows what they look like, with nothing taken away. Then they are taken out, and the
    mixture is fitted to what is left, together with what people say of those among the best pairs. Others
    were hardly looked at unless they are right. Those among the best pairs are returned, too: the `reviewed`
    pairs, int32 `[n, 2]`, whether they are `right`, and their `log_odds` by the mixture.
    """
    allowed = Cardinality(matching[-1])
    shape = next(iter(trial.values())).shape
    gone, alone = taken_away(knocked_out, shape), left_alone(knocked_out, shape)
    there = ~gone[0], ~gone[1]
    labelled, judged = None, Links.none()
    if reviewed is not None:
        tried = match(trial, *matching)
        judged = reviewed.take(reviewed.are_in(allowed.best_pairs(tried)))
        labelled = Labelled(_variables(trial, tried, equal_names, judged), _is_right(judged))
        trial, there = _without_reviewed(trial, there, reviewed, alone)
    tried = match(trial, *matching, masks=there)
    pairs = allowed.best_pairs(tried)
    is_wrong = alone[0][pairs.source] | alone[1][pairs.target]
    if is_wrong.sum() < LEAST_WRONG or is_wrong.all():
        scores = lowered(tried, trial).score_of(pairs)
        others = min(int((mask & ~left).sum()) for mask, left in zip(there, alone, strict=True))
        lonely = int(alone[0].sum() + alone[1].sum())
        few = _chances_by_few(scores[~is_wrong], scores[is_wrong], lonely, others)
        return {"slopes": np.empty(0), "intercept": np.zeros(1)} | few
    some = [_some(pairs.take(mask)) for mask in (~is_wrong, is_wrong)]
    found, wrong = (_variables(trial, tried, equal_names, links) for links in some)
    if channels is None or matched is None:
        mixture = fit_mixture(found, wrong, labelled)
    else:
        behind = knocked_out_pairs(knocked_out, some[1], shape)
        before = _variables(channels, matched, equal_names, behind)
        is_known = behind.are_in(known or Links.none())
        mixture = _fit_to_knock_outs(found, wrong, before, is_known, labelled, names_worth)
    note(f"by {len(wrong):,} knock-outs, {mixture.wrong_share:.1%} of the best pairs are wrong")
    if mixture.wrong_share > MOST_WRONG and reviewed is None:
        warn(
            f"{mixture.wrong_share:.0%} of the best pairs seem to be wrong: most entities have no "
            "counterpart here, and confidence may be too high; check some accepted pairs, or set "
            "decision.threshold to 0.9"
        )
    calibration: Arrays = {"slopes": mixture.slopes, "intercept": np.array([mixture.intercept])}
    if labelled is not None:
        log_odds = labelled.variables @ mixture.slopes + mixture.intercept
        calibration |= {"reviewed": judged.pairs, "right": labelled.right, "log_odds": log_odds}
    return calibration


def likelihood(
    channels: Channels,
    matched: Similarity,
    fused: Similarity | None,
    calibration: Arrays,
    equal_names: float,
    cardinality: str = Cardinality.ONE_TO_ONE,
) -> Similarity:
    """Return the probability that each candidate pair is right, `[sources, targets]`, by `calibrate`.

    `matched` are the channels, matched as in the trial. The probability is lowered where two candidates that
    compete are equally good in `fused`, the sharp matching that ranks pairs; without one, it says nothing
    about competitors.
    """
    if not len(calibration["slopes"]):
        return _by_few(matched, lowered(matched, channels), calibration)
    chances, names = np.empty(len(matched), np.float32), channels.get("name", matched)
    over_rows(
        fill_chances, matched.shape[0], matched.indptr, matched.indices, matched.scores,
        names.indptr, names.indices, names.scores, np.float32(names.floor), equal_names,
        calibration["slopes"], float(calibration["intercept"][0]), chances,
    )  # fmt: skip
    found = Similarity(matched.shape, matched.indptr, matched.indices, chances)
    return found if fused is None else next_to_rivals(found, fused, cardinality)


def next_to_rivals(
    chances: Similarity, fused: Similarity, cardinality: str = Cardinality.ONE_TO_ONE
) -> Similarity:
    """The probabilities, lowered where two candidates that compete are equally good in a sharp matching."""
    allowed, sharp = Cardinality(cardinality), fused.scores_on(chances)
    of_target = np.zeros(chances.shape[1])
    if allowed.one_source:
        of_target = column_sums(chances.indptr, chances.indices, sharp, chances.shape[1])
    scores = np.empty(len(chances), np.float32)
    over_rows(
        lower_by_rivals, chances.shape[0], chances.indptr, chances.indices, chances.scores, sharp,
        allowed.one_target, of_target, scores,
    )  # fmt: skip
    return Similarity(chances.shape, chances.indptr, chances.indices, scores)


def match_by_chances(
    chances: Similarity,
    top_k: int,
    temperature: float,
    iterations: int,
    cardinality: str = Cardinality.ONE_TO_ONE,
) -> Similarity:
    """Return `M` by the probability of each pair, whatever it competes with: that of a matching by its odds.

    At the `temperature` 1, a matching is as likely as the product of the odds of its pairs.
    """
    kept = np.clip(chances.scores.astype(np.float64), LEAST_CHANCE, 1 - LEAST_CHANCE)
    log_odds = np.log(kept / (1 - kept)).astype(np.float32)
    floor = float(np.log(LEAST_CHANCE)) - 1
    odds = Similarity(chances.shape, chances.indptr, chances.indices, log_odds, floor)
    return match({"odds": odds}, {}, top_k, temperature, 0.0, iterations, cardinality)


def _fit_to_knock_outs(
    found: Float64,
    wrong: Float64,
    before: Float64,
    is_known: Bool,
    labelled: Labelled | None,
    names_worth: float,
) -> Mixture:
    """Fit a mixture in which a wrong pair counts by the chance that the knocked-out pair behind it was right.

    If it was right, what is left is the best wrong pair of an entity, as it should be. If it was wrong
    itself, what is left is only the second best. `before[n, variables]` are those of the pairs that were
    knocked out, as the run itself has them. Names say which of these pairs to doubt, as far as they tell
    pairs apart here, and then the mixture itself, until the weights settle. `is_known` pairs are right.

    In the end, doubts are believed the more, the more pairs are in doubt. Where few are, these pairs are best
    left in: entities without a counterpart are those whose wrong pairs are to be told apart, and they differ
    from entities that have one.
    """
    most = np.ones(len(wrong))
    if wrong.shape[1] > 1:
        by_name = fit_mixture(found[:, 1:], wrong[:, 1:])
        most -= names_worth * (1 - by_name.chance(before[:, 1:].T)) * ~is_known
    weights, mixture = np.maximum(most, LEAST_WEIGHT), None
    for _ in range(MOST_FITS):
        mixture = fit_mixture(found, wrong, labelled, weights=weights, begin=mixture)
        doubts = (1 - mixture.chance(before.T)) * ~is_known
        last, weights = weights, np.maximum(np.minimum(most, 1 - doubts), LEAST_WEIGHT)
        if doubts.mean() < FEW_DOUBTS or np.abs(weights - last).max() < SETTLED:
            break
    doubts = 1 - weights
    believed = min(1.0, float(doubts.mean()) / MOST_DOUBTED) ** 4
    return fit_mixture(found, wrong, labelled, weights=1 - believed * doubts, begin=mixture)


def _without_reviewed(
    channels: Channels, masks: Masks, reviewed: Links, alone: Masks
) -> tuple[Channels, Masks]:
    """Channels without the pairs that are wrong, and masks without the entities of those that are right.

    Entities that are left alone stay: nothing shows better what wrong pairs look like than a confirmed pair
    that was knocked out. Of the pairs that nobody confirmed, some are wrong before they are knocked out.
    """
    right, wrong = reviewed.take(_is_right(reviewed)), reviewed.take(~_is_right(reviewed))
    left = masks[0].copy(), masks[1].copy()
    left[0][right.source] &= alone[0][right.source]
    left[1][right.target] &= alone[1][right.target]
    return {kind: without_pairs(channel, wrong) for kind, channel in channels.items()}, left


def _is_right(reviewed: Links) -> Bool:
    assert reviewed.weight is not None
    return reviewed.weight > 0


def _chances_by_few(found: Float32, wrong: Float32, lonely: int, others: int) -> Arrays:
    """Return ascending scores of found pairs, and the least share of right pairs among those above each.

    For too few wrong pairs to fit a mixture. Of the `lonely` entities, whose counterpart was taken away, some
    are in a `wrong` pair; so often would each of the others be in one if it had no counterpart either. What
    this leaves is right at least, as in a search with decoys (Elias, Gygi, Nature Methods 4, 2007). Fewer
    than `LEAST_WRONG` lonely entities say nothing.
    """
    thresholds = np.sort(found) if lonely >= LEAST_WRONG else np.empty(0, np.float32)
    above = len(thresholds) - np.arange(len(thresholds))
    wrong_above = len(wrong) - np.searchsorted(np.sort(wrong), thresholds)
    wrong_share = (wrong_above + 1) / (lonely + 2) * others / above
    return {"thresholds": thresholds, "chances": 1 - np.minimum.accumulate(np.minimum(wrong_share, 1))}


def _by_few(matched: Similarity, by_scores: Similarity, calibration: Arrays) -> Similarity:
    """Return the chances by `_chances_by_few`, or those `by_scores` alone where these are higher."""
    chances = np.append(calibration["chances"], 0)  # the last is that of scores below all thresholds
    place = np.searchsorted(calibration["thresholds"], by_scores.scores, side="right") - 1
    scores = np.maximum(by_scores.scores, matched.scores * chances[place].astype(np.float32))
    return Similarity(matched.shape, matched.indptr, matched.indices, scores)


def lowered(matched: Similarity, channels: Channels) -> Similarity:
    """Matching probabilities, lowered where neither names nor neighbours agree well.

    For graphs too small for a mixture: without competitors, any candidate has a high probability. Names and
    neighbours are two witnesses: a pair is unlikely as far as both fail.
    """
    agreed = [channels[kind].scores_on(matched) for kind in ("name", "neighbours") if kind in channels]
    if not agreed:
        return matched
    failed = np.prod([1 - np.clip(scores, 0, 1) for scores in agreed], axis=0)
    scores = matched.scores * (1 - failed) ** 2
    return Similarity(matched.shape, matched.indptr, matched.indices, scores)


def _variables(channels: Channels, matched: Similarity, equal_names: float, links: Links) -> Float64:
    """What the mixture knows of some pairs, `[n, variables]`; see `chance_kernels.VARIABLES`.

    Structure counts through the matching alone: wrong pairs that are anchors support each other, so that
    their structural scores are higher than those of knocked-out pairs.
    """
    chances = matched.score_of(links)
    named = "name" in channels
    names = channels["name"].score_of(links) if named else chances
    variables = np.empty((len(links), VARIABLES if named else 1))
    describe(chances, names, equal_names, variables)
    return variables


def _some(links: Links) -> Links:
    """At most `MOST_PAIRS` of the links, evenly spread."""
    step = max(1, -(-len(links) // MOST_PAIRS))
    return links.take(np.arange(0, len(links), step))
