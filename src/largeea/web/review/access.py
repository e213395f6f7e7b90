"""Who may use the review app: those who know its token, from its own page."""

from __future__ import annotations

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from largeea.web.guards import App, Message, Receive, Scope, Send, header, refuse

TOKEN_HEADER = "x-largeea-token"


class Access:
    """Refuses requests without the token with 403, and writes from foreign pages.

    The token is in the address that the command prints (`/?token=…`). That page sets a cookie, which no other
    site can use and no script can read. A program may send the token in a header instead. A write needs the
    origin of this server, or no origin and the token in the header. Files of the page itself need no token.
    """

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._token = token
        self._cookie = f"largeea-review-{hashlib.sha256(token.encode()).hexdigest()[:8]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if it is allowed."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not scope["path"].startswith("/static/") and not self._knows_token(scope):
            await refuse(
                send, 403, "this address needs the token that the command `largeea review` has printed"
            )
        elif scope["method"] not in ("GET", "HEAD") and not self._is_own_page(scope):
            await refuse(send, 403, "writes are only accepted from the page of this server")
        else:
            await self._app(scope, receive, self._setting_cookie(send) if scope["path"] == "/" else send)

    def _knows_token(self, scope: Scope) -> bool:
        given = [header(scope, TOKEN_HEADER) or "", self._from_cookie(scope)]
        if scope["path"] == "/":
            given += parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return any(self._is_token(one) for one in given)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _from_cookie(self, scope: Scope) -> str:
        try:
            cookies = SimpleCookie(header(scope, "cookie") or "")
        except CookieError:
            return ""
        return cookies[self._cookie].value if self._cookie in cookies else ""

    def _is_own_page(self, scope: Scope) -> bool:
        origin = header(scope, "origin")
        if origin is None and not any(name == b"origin" for name, _ in scope["headers"]):
            return self._is_token(header(scope, TOKEN_HEADER) or "")
        return origin == f"http://{header(scope, 'host')}"

    def _setting_cookie(self, send: Send) -> Send:
        value = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"set-cookie", value.encode())]
            await send(message)

        return with_cookie
