"""What reviews bring: the F1 of a run before and after simulated reviews of some of its pairs.

    python benchmarks/reviews.py PAIR_FOLDER ... [--reviews 200] [--batches 1 4] [--order doubt new]
        [--rivals 0 9] [--seeds 1] [--set KEY=VALUE ...]

PAIR_FOLDER is a benchmark folder, or one with the files `source.*`, `target.*` and `reference.*`. The
reference answers for the person who reviews, and judges; the method sees only what was reviewed. The links of
a benchmark folder cover a part of the graphs: pairs of which neither end is linked are then neither reviewed
nor judged.

The order `doubt` is that of the review app: pairs with the confidence nearest to the threshold first. `new`
puts off doubtful pairs that differ in the same words as those before. With 9 `rivals`, the person chooses
the right target if it is one of the first 9 other candidates of the source, as the app allows; that counts
as one review.

`alone` is the F1 of the first answer with just the reviewed pairs corrected, `after` that of a run with the
reviews: the difference is what they bring beyond themselves. With several batches, the run is repeated after
each of them, and the next pairs are those that it doubts. Which pairs are knocked out for confidence is
drawn at random and changes F1, so the table shows means over some seeds, and two standard errors of the
difference between `after` and `alone`, which are paired.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from judged import print_table
from largeea.api import align_files
from largeea.cli.groups import Method
from largeea.config import Config
from largeea.evaluation import evaluate, with_a_linked_end
from largeea.finished import FinishedRun
from largeea.formats import pair_folder, read
from largeea.formats.links import read_links, resolve
from largeea.formats.links.corrections import joined_links
from largeea.graph import Links
from largeea.matching.alignment import Alignment
from questions import questions_first

HEADER = "subject_id\tpredicate_id\tpredicate_modifier\tobject_id\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--reviews", nargs="+", type=int, default=[200], help="how many pairs are reviewed")
    parser.add_argument("--batches", nargs="+", type=int, default=[1], help="how often the run is repeated")
    parser.add_argument("--order", nargs="+", choices=ORDERS, default=["doubt"])
    parser.add_argument("--rivals", nargs="+", type=int, default=[0], help="other candidates to choose from")
    parser.add_argument("--seeds", type=int, default=1, help="how many runs the figures are means of")
    parser.add_argument("--set", nargs="+", default=[], help="settings, as for largeea align")
    parser.add_argument("--runs", type=Path, help="folder that keeps the runs; default: a temporary one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    config = Method(set=options.set).make()
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        for folder in options.folders:
            for seed in range(config.seed, config.seed + options.seeds):
                runs = (options.runs or Path(temporary)) / folder.name / str(seed)
                seeded = config.model_copy(update={"seed": seed})
                for asked in product(options.order, options.reviews, options.batches, options.rivals):
                    results.append(measure(folder, seeded, *asked, runs))
    print(json.dumps(results, indent=2)) if options.json else show(results)


def measure(
    folder: Path, config: Config, order: str, count: int, batches: int, rivals: int, runs: Path
) -> dict[str, Any]:
    """Align; then review some pairs in this order and align again, for each batch."""
    source, target, reference = files_of(folder)
    align_files(source, target, runs / "before", config=config, formats=["tsv"])
    run = FinishedRun(runs / "before")
    before, (truth, partial) = run.alignment, truth_of(run.alignment, folder, reference)
    after_run, verdicts = runs / "after", runs / "reviews.sssom.tsv"
    shutil.rmtree(after_run, ignore_errors=True)
    shutil.copytree(runs / "before", after_run)
    right, wrong, reviews = Links.none(), Links.none(), 0
    for batch in range(batches):
        share = count * (batch + 1) // batches - count * batch // batches
        pairs = reviewed_pairs(run.alignment, ORDERS[order](run), truth, partial, share)
        is_right = pairs.are_in(truth)
        no_pairs = pairs.take(~is_right)
        chosen = Links(np.array(list(right_rivals(run, no_pairs, truth, rivals)), np.int32).reshape(-1, 2))
        right = joined_links([right, pairs.take(is_right), chosen])
        wrong, reviews = joined_links([wrong, no_pairs]), reviews + len(pairs)
        write_reviews(before, right, wrong, verdicts)
        align_files(source, target, after_run, seeds=verdicts, config=config, formats=["tsv"])
        run = FinishedRun(after_run)
    answers = {"before": before, "alone": corrected(before, right, wrong), "after": run.alignment}
    asked = {"order": order, "reviews": reviews, "batches": batches, "rivals": rivals, "right": len(right)}
    figures = {name: judged(answer, truth, partial) for name, answer in answers.items()}
    return {"folder": folder.name} | asked | figures


def by_news(run: FinishedRun) -> np.ndarray:
    """Positions of the pairs that were found, doubtful ones that tell something new first."""
    order = questions_first(run.alignment, run.reviewed)
    return order[~run.alignment.given[order]]


def by_doubt(run: FinishedRun) -> np.ndarray:
    """Positions of the pairs that were found, those with the confidence nearest to the threshold first."""
    answer = run.alignment
    threshold = answer.confidence[answer.accepted & ~answer.given].min(initial=1)
    order = np.argsort(np.abs(answer.confidence - threshold), kind="stable")
    return order[~answer.given[order]]


def right_rivals(run: FinishedRun, wrong: Links, truth: Links, most: int) -> Iterator[tuple[int, int]]:
    """The right pair of each source that is among its first candidates besides that of the wrong pair."""
    for source, shown in wrong.pairs.tolist():
        others = [target for target in run.fused.row(source)[0].tolist() if target != shown][:most]
        pairs = Links(np.array([(source, target) for target in others], np.int32).reshape(-1, 2))
        yield from map(tuple, pairs.take(pairs.are_in(truth)).pairs[:1].tolist())


def files_of(folder: Path) -> tuple[Path, Path | None, Path | None]:
    """Source, target and reference; only the folder itself if it is a benchmark folder."""
    if pair_folder(folder):
        return folder, None, None
    source, target, reference = (next(folder.glob(f"{part}.*")) for part in ("source", "target", "reference"))
    return source, target, reference


def truth_of(alignment: Alignment, folder: Path, reference: Path | None) -> tuple[Links, bool]:
    """The true links by the ids of the answer, and whether they cover only a part of the graphs."""
    if reference is not None:
        return resolve(read_links(reference), alignment.source, alignment.target), False
    pair = read(folder)
    found = (
        ours.find(theirs.entities.take(ids))
        for ours, theirs, ids in (
            (alignment.source, pair.source, pair.links.source),
            (alignment.target, pair.target, pair.links.target),
        )
    )
    return Links(np.column_stack(list(found))), True


def reviewed_pairs(alignment: Alignment, order: np.ndarray, truth: Links, partial: bool, count: int) -> Links:
    """The first pairs, in this order, that the truth can judge."""
    pairs = Links(alignment.pairs[order])
    if partial:
        pairs = pairs.take(np.isin(pairs.source, truth.source) | np.isin(pairs.target, truth.target))
    return Links(pairs.pairs[:count])


def write_reviews(alignment: Alignment, right: Links, wrong: Links, place: Path) -> None:
    """Write the verdicts as an SSSOM file, wrong pairs with the modifier `Not`."""
    rows = (
        f"{alignment.source.entities[int(one)]}\towl:sameAs\t{modifier}\t"
        f"{alignment.target.entities[int(other)]}\n"
        for links, modifier in ((right, ""), (wrong, "Not"))
        for one, other in links.pairs
    )
    place.write_text(HEADER + "".join(rows))


def corrected(alignment: Alignment, right: Links, wrong: Links) -> Alignment:
    """The answer with the right pairs, and without the wrong ones and those that right ones contradict."""
    taken = np.isin(alignment.pairs[:, 0], right.source) | np.isin(alignment.pairs[:, 1], right.target)
    kept = alignment.accepted & ~taken & ~Links(alignment.pairs).are_in(wrong)
    pairs = np.concatenate([right.pairs, alignment.pairs[kept]])
    confidence = np.concatenate([np.ones(len(right), np.float32), alignment.confidence[kept]])
    decided = pairs, confidence, np.ones(len(pairs), bool)
    return Alignment(alignment.source, alignment.target, *decided, same=alignment.same)


def judged(alignment: Alignment, truth: Links, partial: bool) -> dict[str, float]:
    """Precision, recall, F1 and calibration error of the accepted pairs, reviewed ones included."""
    figures = evaluate(with_a_linked_end(alignment, truth) if partial else alignment, truth)["alignment"]
    return {name: round(value, 4) for name, value in figures.items()} | {"accepted": len(alignment)}


def show(results: list[dict[str, Any]]) -> None:
    """Print the means over all seeds as a table."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in results:
        asked = tuple(one[name] for name in ("folder", "order", "reviews", "batches", "rivals"))
        groups.setdefault(asked, []).append(one)
    figures = "before", "alone", "after", "gain alone", "gain after", "difference", "ratio"
    errors = "ECE before", "ECE after"
    asked_for = "folder", "order", "reviews", "batches", "rivals", "seeds", "right"
    print_table((*asked_for, *figures, *errors), [row_of(*group) for group in groups.items()])


def row_of(asked: tuple[Any, ...], seeds: list[dict[str, Any]]) -> list[str]:
    """The figures of one kind of review."""
    before, alone, after = (
        np.array([one[name]["f1"] for one in seeds]) for name in ("before", "alone", "after")
    )
    beyond = after - alone
    error = f" ± {2 * beyond.std(ddof=1) / np.sqrt(len(seeds)):.4f}" if len(seeds) > 1 else ""
    gains = alone.mean() - before.mean(), after.mean() - before.mean()
    return [
        *map(str, asked),
        str(len(seeds)),
        f"{np.mean([one['right'] for one in seeds]):.0f}",
        *(f"{f1.mean():.4f}" for f1 in (before, alone, after)),
        *(f"{gain:+.4f}" for gain in gains),
        f"{beyond.mean():+.4f}{error}",
        f"{gains[1] / gains[0]:.2f}" if gains[0] else "",
        *(f"{np.mean([one[name]['ece'] for one in seeds]):.3f}" for name in ("before", "after")),
    ]


ORDERS = {"new": by_news, "doubt": by_doubt}

if __name__ == "__main__":
    main()
