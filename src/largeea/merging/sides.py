"""The statements of one graph of a run, from its input files or from the stored graph, and their account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from largeea.formats import ReadOptions, recognise
from largeea.formats.rdf import read_rdf
from largeea.formats.rejects import Rejects
from largeea.graph import KnowledgeGraph
from largeea.merging.statements import StatementLines, StatementStream, write_graph


@dataclass(frozen=True)
class SideAccount:
    """What became of the statements of one graph: `read + derived` are all others together.

    `malformed` statements are listed in the run's `rejects.tsv`. `duplicates`, `folded` and `derived` count
    what the run changed before it stored the graph; they are 0 if the input files were read.
    """

    from_files: bool
    read: int
    written: int
    malformed: int = 0
    duplicates: int = 0
    folded: int = 0
    derived: int = 0
    without_tag: int = 0
    """Statements among those written whose malformed language tag or datatype was left out."""

    def __post_init__(self) -> None:
        before, after = (
            self.read + self.derived,
            sum((self.written, self.malformed, self.duplicates, self.folded)),
        )
        if before != after:
            raise RuntimeError(
                f"statements were lost or written twice: {before:,} read, {after:,} accounted for"
            )

    def check_statements(self, before: int) -> None:
        """Raise `RuntimeError` unless the run read as many well-formed statements."""
        now = self.read - self.malformed
        if now != before:
            raise RuntimeError(f"{now:,} statements were read now, but {before:,} by the run")

    def to_json(self) -> dict[str, int | bool]:
        """The counts by name."""
        return asdict(self)


def write_files(
    files: Sequence[Path], options: ReadOptions, rejects: Rejects, lines: StatementLines
) -> SideAccount:
    """Write all statements of RDF files, as the run read them."""
    stream, malformed, repaired = StatementStream(lines), len(rejects), rejects.repaired_count
    for number, file in enumerate(files):
        scope = f"{number}." if len(files) > 1 else ""
        read_rdf(file, options.format or recognise(file), stream, rejects, scope)
    return SideAccount(
        from_files=True,
        read=stream.scanned - stream.skipped,
        written=lines.written,
        malformed=len(rejects) - malformed,
        without_tag=rejects.repaired_count - repaired + lines.without_language,
    )


def write_stored(graph: KnowledgeGraph, lines: StatementLines) -> SideAccount:
    """Write all statements of a stored graph; one that was made in memory has no counts of its reading."""
    write_graph(graph, lines)
    counts = graph.counts
    if not counts.statements:
        return SideAccount(False, lines.written, lines.written, without_tag=lines.without_language)
    return SideAccount(
        from_files=False,
        read=counts.statements + counts.rejected,
        written=lines.written,
        malformed=counts.rejected,
        duplicates=counts.duplicates,
        folded=counts.folded,
        derived=counts.derived,
        without_tag=lines.without_language,
    )
