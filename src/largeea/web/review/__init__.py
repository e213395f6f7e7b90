"""The review app: goes through the pairs of a finished run in a browser, by single keys."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

from largeea.web.serving import require_web, serve


def review(
    folder: Path, author: str, port: int = 0, announce: Callable[[str], None] = lambda address: None
) -> None:
    """Serve the review app of a finished run on this machine until Ctrl-C or SIGTERM.

    `announce` is called with the address to open; it holds the token without which nothing is served.
    """
    require_web()
    from largeea.web.review.app import make_app
    from largeea.web.review.session import Session

    token = secrets.token_urlsafe(24)
    app = make_app(Session(folder, author), token)
    serve(app, port=port, announce=lambda url: announce(f"{url}/?token={token}"))
