"""The sections of a report about the answer: counts, confidence, evidence, rounds, unmatched entities."""

from __future__ import annotations

from largeea.report import charts, figures
from largeea.report.page import (
    counted,
    escaped,
    number,
    paragraph,
    section,
    share,
    shown,
    side_by_side,
    table,
)
from largeea.report.stored import StoredRun

Reliability = list[dict[str, float]]
"""Bins of confidence: `confidence` (mean), `right` (share) and `count`, as `largeea evaluate` gives them."""


def summary(run: StoredRun) -> str:
    """Return the answer in a few sentences, then in numbers."""
    found = figures.Overview.of(run)
    more = []
    if found.given:
        more.append(f"{counted(found.given, 'accepted pair was', 'accepted pairs were')} given, not found.")
    if found.same_iri:
        more.append(
            f"{counted(found.same_iri, 'entity is', 'entities are')} the same because their IRIs are equal."
        )
    if found.mean_confidence is not None and run.is_calibrated:
        right = share(found.mean_confidence)
        more.append(f"By their confidence, about {right} of the accepted pairs that were found are right.")
    tiles = {"accepted pairs": found.accepted, "doubtful pairs": found.doubtful}
    if run.is_within:
        tiles["without duplicates"] = found.unmatched[0]
    else:
        names = zip(run.names_of_graphs, found.unmatched, strict=True)
        tiles |= {f"of {name} without counterpart": many for name, many in names}
    tiles |= {"with equal IRIs": found.same_iri} if found.same_iri else {}
    counts = "".join(
        f"<div><dt>{shown(name)}</dt><dd>{number(many)}</dd></div>" for name, many in tiles.items()
    )
    intro = paragraph(_in_a_sentence(run, found), "summary") + (paragraph(" ".join(more)) if more else "")
    return f'{intro}<dl class="counts">{counts}</dl>\n'


def _in_a_sentence(run: StoredRun, found: figures.Overview) -> str:
    ours, theirs = map(shown, run.names_of_graphs)
    has = "has" if found.matched == 1 else "have"
    of_all = f" ({share(found.matched / found.linkable[0])})" if found.linkable[0] else ""
    doubtful = f"{counted(found.doubtful, 'pair is', 'pairs are')} doubtful"
    all_ours, alone = (
        counted(many, "entity", "entities") for many in (found.linkable[0], found.unmatched[0])
    )
    beginning = f"Of {all_ours} of {ours}, {number(found.matched)} {has}"
    if run.is_within:
        verb = "has" if found.unmatched[0] == 1 else "have"
        return f"{beginning} a duplicate{of_all}; {doubtful}; {alone} {verb} none."
    return (
        f"{beginning} a counterpart in {theirs}{of_all}; {doubtful}; {alone} of {ours} and "
        f"{number(found.unmatched[1])} of {theirs} have no counterpart."
    )


def confidence(run: StoredRun, reliability: Reliability | None) -> str:
    """Return the histogram of confidence and, where links are known, its calibration."""
    alignment = run.alignment
    if not len(alignment.pairs):
        return section(
            "Confidence", paragraph("The answer holds no pairs.", "quiet"), identifier="confidence"
        )
    bins = {
        "accepted": figures.confidence_bins(
            alignment.confidence, alignment.accepted & ~run.is_given
        ).tolist(),
        "doubtful": figures.confidence_bins(alignment.confidence, ~alignment.accepted).tolist(),
    }
    threshold = figures.accept_threshold(run)
    mark = None if threshold is None else charts.Mark(threshold, f"accepted from {threshold:.2f}")
    edges = [f"{place / figures.BINS:.1f}" for place in range(figures.BINS + 1)]
    title = "Pairs by confidence"
    given = int(run.is_given.sum())
    caption = (
        "Confidence is the probability that a pair is right."
        if run.is_calibrated
        else "Confidence is the mean of the scores of all channels; it is not a probability."
    )
    caption += f" {counted(given, 'given pair')} with confidence 1: not counted." if given else ""
    if threshold is not None and (alignment.confidence[~alignment.accepted] >= threshold).any():
        caption += " Pairs that are not each other's best stay doubtful at any confidence."
    drawn = charts.columns(title, edges, bins, stacked=True, below="confidence", mark=mark, edges=True)
    parts = side_by_side(charts.figure(title, caption, drawn, tuple(bins)), _calibration(reliability))
    return section("Confidence", parts, identifier="confidence")


def _calibration(bins: Reliability | None) -> str:
    """Return the share of right pairs by confidence, or how to get it."""
    title = "Calibration"
    if not bins:
        advice = (
            "No reference links were given. To see how often pairs are right at each confidence: "
            "<code>largeea report RUN --links FILE</code>"
        )
        if bins is not None:
            advice = "No pair has an entity in one of the reference links, so none can be judged."
        return f"<div><h3>{title}</h3>{paragraph(advice, 'quiet')}</div>"
    points = [(row["confidence"], row["right"], int(row["count"])) for row in bins]
    caption = (
        "Each point is a bin of confidence; a larger one holds more pairs. On the line, the share "
        "that is right equals the confidence; below it, confidence is too high. Only pairs with an entity in "
        "a reference link are judged."
    )
    return charts.figure(title, caption, charts.reliability(title, points))


def evidence(run: StoredRun) -> str:
    """Return what each kind of evidence decides, and how much it weighs."""
    found, sample = figures.deciding_evidence(run)
    pairs = int((run.alignment.accepted & ~run.is_given).sum())
    if not found:
        return ""
    title = "Pairs decided by each kind of evidence"
    caption = "A kind decides an accepted pair if its weight times its score for the pair is the highest."
    rows = [(one.kind, float(one.decided), share(one.decided / pairs)) for one in found]
    drawn = charts.figure(title, caption, charts.bars(title, rows, whole=float(pairs)))
    header = ["evidence", "weight", "decides", "chooses alone"]
    lines = [
        [escaped(one.kind), f"{one.weight:.2f}", number(one.decided), _maybe(one.alone)] for one in found
    ]
    if any(one.worth is not None for one in found):
        header.insert(1, "worth")
        for one, line in zip(found, lines, strict=True):
            line.insert(1, _maybe(one.worth))
    of = "all" if sample == pairs else f"a sample of {sample:,} of the"
    caption = (
        f"Chooses alone: share of {of} accepted pairs whose target is the only best candidate of the source "
        "by this kind of evidence."
    )
    if len(header) > 4:
        caption += (
            " Worth: how much of the uncertainty it removes, measured on pairs that another kind is sure of; "
            "it decides the weight."
        )
    learnt = table("Weights of the evidence", header, lines) + paragraph(caption, "quiet")
    return section("Evidence", side_by_side(drawn, f"<div>{learnt}</div>"), identifier="evidence")


def rounds(run: StoredRun) -> str:
    """Return the number of anchors in each round of self-training."""
    found = figures.anchors_by_round(run)
    if not found:
        return ""
    title = "Anchors per round"
    caption = "Anchors are pairs taken to be the same in a round; the next evidence is drawn from them."
    rows = [
        (f"round {place}", float(many), f"{charts.compact(many)} ({new:.0%} new)")
        for place, (many, new) in enumerate(found, start=1)
    ]
    return section(
        "Rounds",
        side_by_side(charts.figure(title, caption, charts.bars(title, rows))),
        identifier="rounds",
    )


def unmatched(run: StoredRun) -> str:
    """Return the numbers of unmatched entities by reason."""
    reasons = figures.unmatched_reasons(run.alignment)
    if not any(map(sum, reasons.values())):
        return section(
            "Without counterpart", paragraph("Every entity is in a pair.", "quiet"), identifier="unmatched"
        )
    names = [*run.graphs]
    rows = [[escaped(reason), *map(number, counts[: len(names)])] for reason, counts in reasons.items()]
    content = table("Entities without counterpart, by reason", ["reason", *names], rows)
    return section("Without counterpart", content, identifier="unmatched")


def _maybe(value: float | None) -> str:
    return "\u2013" if value is None else share(value)
