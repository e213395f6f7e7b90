"""`largeea review`: review the pairs of a finished run in the browser."""

from __future__ import annotations

import getpass
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.web.review import review

EXAMPLES = """
**Examples**

`largeea review run`

`largeea review run --author "Ada Lovelace" --port 8123`

`largeea resume run --with-reviews`
"""
_LONGEST_AUTHOR = 200


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    port: Annotated[int, typer.Option(help="Port to listen on; 0: a free one.", min=0, max=65535)] = 0,
    author: Annotated[
        str | None, typer.Option(help="Your name, or orcid:…; default: your login name.")
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Whether to open the page in a browser.")
    ] = True,
) -> None:
    """Review the pairs of a run in the browser; decisions are stored in its reviews.tsv."""
    name = (getpass.getuser() if author is None else author).strip()
    if not name or len(name) > _LONGEST_AUTHOR:
        raise UsageError(f"--author {name!r}: give a name of 1 to {_LONGEST_AUTHOR} characters")

    def announce(address: str) -> None:
        screen.result(f"Open this address to review {run}; Ctrl-C stops the server.\n{address}")
        if open_page:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    review(run, name, port, announce)
