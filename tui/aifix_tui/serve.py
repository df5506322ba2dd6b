"""The interface in a browser of this machine: on loopback only, and only for who holds the token of the printed address."""

from __future__ import annotations

import asyncio
import functools
import secrets
import shlex
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HOST = "127.0.0.1"
COOKIE = "aifix"
NAMES = {"127.0.0.1", "localhost"}


class LoopbackServer(Server):
    """Serves to this machine alone. The interface opens files, so other users and other pages' scripts are kept out too."""

    def __init__(self, command: str, port: int, token: str) -> None:
        """Bind to loopback.

        Args:
            command: what a session runs.
            port: the port.
            token: what the address must carry the first time; a cookie carries it after that.

        """
        super().__init__(command, host=HOST, port=port, title="aifix")
        self.token = token

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse names that are not this machine's (DNS rebinding), other pages' scripts, and who does not know the token."""
        if urlsplit(f"//{request.host}").hostname not in NAMES:
            raise web.HTTPForbidden(text="aifix answers to 127.0.0.1 only")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="aifix answers to its own page only")
        if request.path.startswith("/static/"):
            return await handler(request)
        given = request.query.get("token", "") or request.cookies.get(self._cookie, "")
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="open the address that aifix printed: it carries a token")
        response = await handler(request)
        if not response.prepared:
            response.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict")
        return response

    @property
    def _cookie(self) -> str:
        return f"{COOKIE}-{self.port}"

    async def on_startup(self, app: web.Application) -> None:
        """Print the address once the port is had; this is called before that."""
        del app
        said = f"aifix: open {self.public_url}/?token={self.token}\naifix: Ctrl-C ends it"
        asyncio.get_running_loop().call_later(0.2, functools.partial(print, said, flush=True))

    def initialize_logging(self) -> None:
        """Keep quiet."""


def command(log: Path | None) -> str:
    """Give the command line of a session."""
    words = [sys.executable, "-m", "aifix", "tui", *([str(log.absolute())] if log is not None else [])]
    return shlex.join(words)


def serve(log: Path | None, port: int) -> int:
    """Serve until Ctrl-C.

    Args:
        log: the log that every session opens.
        port: the port on 127.0.0.1.

    Returns:
        0; 2 when the port cannot be had.

    """
    server: Any = LoopbackServer(command(log), port, secrets.token_urlsafe(16))
    try:
        server.serve()
    except OSError as error:
        print(f"aifix: port {port} cannot be had: {error.strerror or error}", file=sys.stderr)
        return 2
    return 0
