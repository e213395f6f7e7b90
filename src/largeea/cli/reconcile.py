"""`largeea reconcile`: serve a graph to OpenRefine and other clients of the reconciliation API."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from largeea.cli.grouping import with_groups
from largeea.cli.groups import Reading
from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.finished import FinishedRun
from largeea.formats import ReadOptions, read
from largeea.formats.scope import in_scope
from largeea.graph import KnowledgeGraph, Pair
from largeea.matching.alignment import Alignment
from largeea.progress import step
from largeea.runs.manifest import MANIFEST
from largeea.web.serving import require_web, serve

if TYPE_CHECKING:
    from largeea.web.reconcile.answers import Reconciler

EXAMPLES = """
**Examples**

`largeea reconcile thesaurus.ttl`

`largeea reconcile run --port 8000`

`largeea reconcile places.csv --columns subject=id,name=label --public-url https://example.org/places`
"""
_ANY_ADDRESS = ("0.0.0.0", "::")


@with_groups
def command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="GRAPH_OR_RUN",
            help="Graph: a file, folder or pattern. Of a pair folder or a finished run, the target graph is "
            "served. Accepted links of a run are used too.",
        ),
    ],
    *,
    reading: Reading,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0: a free one.", min=0, max=65535)] = 0,
    public_url: Annotated[
        str | None,
        typer.Option(
            help="Address at which clients reach the service, if it is behind a proxy.", metavar="URL"
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Maximum number of queries in a request.", min=1)] = 500,
) -> None:
    """Serve a graph as a reconciliation service (W3C API 0.2), for OpenRefine and other clients.

    The service only reads. It answers every web page that asks it, and runs until Ctrl-C.
    """
    require_web()
    from largeea.web.reconcile import Settings, make_app

    if public_url is not None and not _is_web_address(public_url):
        raise UsageError(f"--public-url {public_url}: it must begin with http:// or https:// and name a host")
    if host in _ANY_ADDRESS and public_url is None:
        raise UsageError(f"--host {host} needs --public-url: only the host that it names is served to others")
    settings = Settings(
        f"LargeEA: {path.name}", public_url, batch_size, hosts=(f"[{host}]" if ":" in host else host,)
    )
    serve(make_app(_prepare(path, reading.make()), settings), host, port, announce=_announce)


def _prepare(path: Path, options: ReadOptions) -> Reconciler:
    """Read the graph and index it."""
    from largeea.web.reconcile.answers import Reconciler, warm_up
    from largeea.web.reconcile.run_links import RunLinks

    with step("read"):
        graph, alignment = read_served(path, options)
    with step("index"):
        reconciler = Reconciler(graph, None if alignment is None else RunLinks(alignment))
        warm_up(reconciler)
    screen.note(f"{int(graph.linkable.sum()):,} entities")
    return reconciler


def read_served(path: Path, options: ReadOptions) -> tuple[KnowledgeGraph, Alignment | None]:
    """The graph to serve, and the answer of the run that it comes from."""
    if (path / MANIFEST).is_file():
        run = FinishedRun(path)
        return run.target, run.alignment
    found = read(path, options)
    graph = found.target if isinstance(found, Pair) else found
    return in_scope(graph, graph, options.match)[0], None


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _announce(url: str) -> None:
    screen.result(f"Reconciliation service: {url}/")
    screen.note("Add this address in OpenRefine: Reconcile > Start reconciling > Add standard service.")
