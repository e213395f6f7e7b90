"""`largeea merge`: one graph from both graphs of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.merging import Canonical, Merged, Provenance, merge_run
from largeea.merging.sides import SideAccount

EXAMPLES = """
**Examples**

`largeea merge run -o merged.nt.zst`

`largeea merge run -o merged.nt --canonical target --threshold 0.9`

`largeea merge run -o merged.nq.gz --keep-both --provenance graphs`
"""


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="File of the merged graph: .nt, .ttl or .nq, plain or compressed."
        ),
    ],
    canonical: Annotated[
        Canonical, typer.Option(help="The graph whose IRIs are used for linked entities.")
    ] = "source",
    keep_both: Annotated[
        bool, typer.Option("--keep-both", help="Keep both IRIs and add a statement that links them.")
    ] = False,
    threshold: Annotated[
        float, typer.Option(help="Leave out accepted links with a lower confidence.", min=0, max=1)
    ] = 0.0,
    provenance: Annotated[
        Provenance | None,
        typer.Option(help="graphs: a named graph for each input (.nq); prov: statements about the merge."),
    ] = None,
    source_base: Annotated[
        str,
        typer.Option(help="IRI prefix of source ids that are not IRIs; also names the graph of the source."),
    ] = "urn:largeea:source:",
    target_base: Annotated[
        str,
        typer.Option(help="IRI prefix of target ids that are not IRIs; also names the graph of the target."),
    ] = "urn:largeea:target:",
    json: options.Json = False,
) -> None:
    """Write one graph from both graphs of a run, joined by its accepted links; list conflicting values."""
    merged = merge_run(
        run,
        output,
        canonical=canonical,
        keep_both=keep_both,
        threshold=threshold,
        provenance=provenance,
        bases=(source_base, target_base),
    )
    screen.json(merged.to_json()) if json else _show(merged)


def _show(merged: Merged) -> None:
    rows: list[tuple[str, ...]] = [
        (name, _count(ours), _count(theirs))
        for name, ours, theirs in zip(_ACCOUNT, _figures(merged.source), _figures(merged.target), strict=True)
        if ours or theirs or name in ("read", "written")
    ]
    screen.table("Statements", rows, ("", "source", "target"))
    for side, account in (("source", merged.source), ("target", merged.target)):
        if not account.from_files:
            screen.note(f"the {side} is not RDF; its statements come from the graph that the run has stored")
        if account.without_tag:
            screen.note(f"{side}: {account.without_tag:,} literals lost a malformed language tag or datatype")
    screen.result(f"links used: {merged.links:,}")
    if merged.link_statements:
        screen.result(f"statements about links: {merged.link_statements:,}")
    if merged.provenance_statements:
        screen.result(f"statements about the merge: {merged.provenance_statements:,}")
    screen.result(f"{merged.written:,} statements written to {merged.output}")
    if merged.conflicts_file is not None:
        screen.result(f"conflicts: {merged.conflicts:,}, listed in {merged.conflicts_file}")
    else:
        screen.result("conflicts: none")


_ACCOUNT = ("read", "malformed", "duplicates", "folded", "derived", "written")


def _figures(account: SideAccount) -> list[int]:
    return [getattr(account, name) for name in _ACCOUNT]


def _count(number: int) -> str:
    return f"{number:,}"
