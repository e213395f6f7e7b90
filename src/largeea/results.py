"""The answer of a run as files: links in each format, doubtful pairs, unmatched entities and so on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from largeea.formats.links import (
    CLUSTERS_FILE_NAME,
    DOUBTFUL_FILE_NAME,
    FORMATS,
    NOTHING,
    SAME_IRI_FILE_NAME,
    UNMATCHED_FILE_NAME,
    About,
    day_of,
    find_format,
    write_alignment,
    write_clusters,
    write_doubtful,
    write_same_iri,
    write_unmatched,
)
from largeea.formats.streams import in_parallel
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.reviews import Reviews, read_reviews
from largeea.runs.accounting import answers_add_up, counted_twice, linkable_entities
from largeea.runs.files import atomic_write
from largeea.runs.folder import Run
from largeea.runs.request import Request

Writers = dict[str, Callable[[IO[bytes]], Any]]
"""What writes each file, by the name of the file. A writer returns the counts of what it wrote."""


def write_results(
    alignment: Alignment,
    folder: Path,
    formats: Collection[str],
    predicate: str | None = None,
    about: About = NOTHING,
) -> list[str]:
    """Write the alignment in each format, doubtful pairs, unmatched entities and, if any, equal IRIs.

    Where an entity may have several counterparts, clusters are written, too. Returns the names of the files.
    What was written is counted: every entity that can be linked has to be in an accepted pair, in a doubtful
    pair, unmatched, or the same by its IRI; in one pair at most, unless it may have several counterparts.
    """
    writers: Writers = {
        find_format(name).file_name: partial(
            write_alignment, alignment, format=name, predicate=predicate, about=about
        )
        for name in formats
    }
    link_files = list(writers)
    writers |= _other_writers(alignment)
    for name in (SAME_IRI_FILE_NAME, CLUSTERS_FILE_NAME):
        if name not in writers:
            (folder / name).unlink(missing_ok=True)

    def written_to(name: str) -> Any:
        with atomic_write(folder / name) as file:
            return writers[name](file)

    written = dict(zip(writers, in_parallel(written_to, writers), strict=True))
    _check_counts(alignment, written, link_files)
    return list(writers)


def _other_writers(alignment: Alignment) -> Writers:
    """What writes the files that hold no accepted links."""
    writers: Writers = {
        DOUBTFUL_FILE_NAME: partial(write_doubtful, alignment),
        UNMATCHED_FILE_NAME: partial(write_unmatched, alignment),
    }
    if len(alignment.same):
        writers[SAME_IRI_FILE_NAME] = partial(write_same_iri, alignment)
    if alignment.cardinality is not Cardinality.ONE_TO_ONE:
        writers[CLUSTERS_FILE_NAME] = partial(write_clusters, alignment)
    return writers


def _check_counts(alignment: Alignment, written: Mapping[str, Any], link_files: Sequence[str]) -> None:
    linkable = linkable_entities(alignment.source, alignment.target)
    if alignment.cardinality is Cardinality.WITHIN:
        del linkable["target"]
    for name in link_files:
        answers_add_up(
            linkable,
            written[name].pairs,
            written[name].linked,
            doubtful=written[DOUBTFUL_FILE_NAME],
            unmatched=written[UNMATCHED_FILE_NAME],
            same=written.get(SAME_IRI_FILE_NAME, {"source": 0, "target": 0}),
            twice=counted_twice(alignment),
            single=[side for side in linkable if alignment.cardinality.is_single(side)],
        )


def formats_of(run: Run, wanted: Sequence[str]) -> list[str]:
    """The formats asked for, and those that the folder has from before: none is left with an old answer."""
    written = [*run.manifest.get("results", ()), *run.manifest.get("outdated", ())]
    kept = [name for name, format in FORMATS.items() if format.file_name in written and name not in wanted]
    return [*wanted, *kept]


def about_links(request: Request, run: Run) -> About:
    """What link files say about the links: when they were found, their licence, and who confirmed them."""
    assert run.folder is not None
    reviews = read_reviews(run.folder) if request.with_reviews else Reviews()
    return About(
        date=day_of(request.date, run.manifest["stages"]["alignment"]["finished"]),
        license=request.license,
        with_doubtful=request.with_doubtful,
        reviewers={
            pair: tuple(sorted(author for author, said in reviews.of(pair).items() if said == "same"))
            for pair in reviews.confirmed
        },
    )
