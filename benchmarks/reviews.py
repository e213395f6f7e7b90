"""What reviews bring: the F1 of a run before and after simulated reviews of some of its pairs.

    python benchmarks/reviews.py PAIR_FOLDER ... [--reviews 200] [--batches 1 4] [--order doubt change]
        [--seeds 1] [--set KEY=VALUE ...]

PAIR_FOLDER is a benchmark folder, or one with the files `source.*`, `target.*` and `reference.*`. The
reference answers for the person who reviews, and judges; the method sees only what was reviewed. The links of
a benchmark folder cover a part of the graphs: pairs of which neither end is linked are then neither reviewed
nor judged.

`alone` is the F1 of the first answer with just the reviewed pairs corrected, `after` that of a run with the
reviews: the difference is what they bring beyond themselves. With several batches, the run is repeated after
each of them, and the next pairs are those that it doubts. Which pairs are knocked out for confidence is
drawn at random and changes F1 as much as that, so the table shows means over some seeds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from judged import print_table
from largeea.api import align_files
from largeea.cli.options import make_config
from largeea.config import Config
from largeea.evaluation import evaluate, with_a_linked_end
from largeea.finished import FinishedRun
from largeea.formats import pair_folder, read
from largeea.formats.links import read_links, resolve
from largeea.formats.links.corrections import joined_links
from largeea.graph import Links
from largeea.matching.alignment import Alignment
from largeea.matching.forbidden import among

HEADER = "subject_id\tpredicate_id\tpredicate_modifier\tobject_id\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--reviews", nargs="+", type=int, default=[200], help="how many pairs are reviewed")
    parser.add_argument("--batches", nargs="+", type=int, default=[1], help="how often the run is repeated")
    parser.add_argument("--order", nargs="+", choices=ORDERS, default=list(ORDERS))
    parser.add_argument("--seeds", type=int, default=1, help="how many runs the figures are means of")
    parser.add_argument("--set", nargs="+", default=[], help="settings, as for largeea align")
    parser.add_argument("--runs", type=Path, help="folder that keeps the runs; default: a temporary one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    config = make_config("default", None, options.set, None, None, None, None)
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        for folder in options.folders:
            for seed in range(config.seed, config.seed + options.seeds):
                runs = (options.runs or Path(temporary)) / folder.name / str(seed)
                seeded = config.model_copy(update={"seed": seed})
                for order, count, batches in product(options.order, options.reviews, options.batches):
                    results.append(measure(folder, seeded, order, count, batches, runs))
    print(json.dumps(results, indent=2)) if options.json else show(means(results))


def measure(folder: Path, config: Config, order: str, count: int, batches: int, runs: Path) -> dict[str, Any]:
    """Align; then review some pairs in this order and align again, for each batch."""
    source, target, reference = files_of(folder)
    align_files(source, target, runs / "before", config=config, formats=["tsv"])
    before = after = FinishedRun(runs / "before").alignment
    truth, partial = truth_of(before, folder, reference)
    after_run, verdicts = runs / "after", runs / "reviews.sssom.tsv"
    shutil.rmtree(after_run, ignore_errors=True)
    shutil.copytree(runs / "before", after_run)
    right, wrong = Links.none(), Links.none()
    for batch in range(batches):
        share = count * (batch + 1) // batches - count * batch // batches
        pairs = reviewed_pairs(after, ORDERS[order](after), truth, partial, share)
        is_right = among(pairs, truth)
        right = joined_links([right, pairs.take(is_right)])
        wrong = joined_links([wrong, pairs.take(~is_right)])
        write_reviews(before, right, wrong, verdicts)
        align_files(source, target, after_run, seeds=verdicts, config=config, formats=["tsv"])
        after = FinishedRun(after_run).alignment
    answers = {"before": before, "alone": corrected(before, right, wrong), "after": after}
    asked = {"order": order, "reviews": len(right) + len(wrong), "batches": batches, "right": len(right)}
    figures = {name: judged(answer, truth, partial) for name, answer in answers.items()}
    return {"folder": folder.name} | asked | figures


def by_doubt(alignment: Alignment) -> np.ndarray:
    """Positions of the pairs that were found, those with the confidence nearest to the threshold first."""
    threshold = alignment.confidence[alignment.accepted & ~alignment.given].min(initial=1)
    return best_first(alignment, -np.abs(alignment.confidence - threshold))


def by_change(alignment: Alignment) -> np.ndarray:
    """Positions of the pairs that were found, those first whose review likely changes the answer."""
    confidence = alignment.confidence
    return best_first(alignment, np.where(alignment.accepted, 1 - confidence, confidence))


def best_first(alignment: Alignment, gain: np.ndarray) -> np.ndarray:
    """Positions of the pairs that were found, highest gain first."""
    order = np.argsort(-gain, kind="stable")
    return order[~alignment.given[order]]


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
    kept = alignment.accepted & ~taken & ~among(Links(alignment.pairs), wrong)
    pairs = np.concatenate([right.pairs, alignment.pairs[kept]])
    confidence = np.concatenate([np.ones(len(right), np.float32), alignment.confidence[kept]])
    decided = pairs, confidence, np.ones(len(pairs), bool)
    return Alignment(alignment.source, alignment.target, *decided, same=alignment.same)


def judged(alignment: Alignment, truth: Links, partial: bool) -> dict[str, float]:
    """Precision, recall, F1 and calibration error of the accepted pairs, reviewed ones included."""
    figures = evaluate(with_a_linked_end(alignment, truth) if partial else alignment, truth)["alignment"]
    return {name: round(value, 4) for name, value in figures.items()} | {"accepted": len(alignment)}


def means(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The means over all seeds."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in results:
        groups.setdefault((one["folder"], one["order"], one["reviews"], one["batches"]), []).append(one)
    return [
        group[0]
        | {"right": round(np.mean([one["right"] for one in group]))}
        | {
            name: {kind: np.mean([one[name][kind] for one in group]) for kind in ("f1", "ece")}
            for name in ("before", "alone", "after")
        }
        for group in groups.values()
    ]


def show(results: list[dict[str, Any]]) -> None:
    """Print the figures as a table."""
    rows = [
        [
            *(str(one[name]) for name in ("folder", "order", "reviews", "batches", "right")),
            *(f"{one[name]['f1']:.4f}" for name in ("before", "alone", "after")),
            *(f"{one[name]['f1'] - one['before']['f1']:+.4f}" for name in ("alone", "after")),
            *(f"{one[name]['ece']:.3f}" for name in ("before", "after")),
        ]
        for one in results
    ]
    figures = "before", "alone", "after", "gain alone", "gain after", "ECE before", "ECE after"
    print_table(("folder", "order", "reviews", "batches", "right", *figures), rows)


ORDERS = {"doubt": by_doubt, "change": by_change}

if __name__ == "__main__":
    main()
