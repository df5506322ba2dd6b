"""The interface in a browser: on loopback, and on other addresses only where a token was chosen; never for who does not hold the token."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import re
import secrets
import shlex
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from aiohttp import web
from textual_serve.server import Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HOST = "127.0.0.1"
COOKIE = "aifix"
NAMES = {"127.0.0.1", "localhost", "::1"}
SHORTEST = 16
"""Characters that a token needs where others can reach the port."""
FOREIGN = re.compile(rb"<link\b[^>]*fonts\.googleapis\.com[^>]*>")
"""The page's font from a foreign server; the browser's own does as well, and nobody is told."""


def is_loopback(host: str) -> bool:
    """Tell whether an address is this machine's alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class GuardedServer(Server):
    """Serves to who holds the token. The interface opens files and runs commands, so other users and other pages' scripts are kept out."""

    def __init__(self, command: str, port: int, token: str, host: str = HOST) -> None:
        """Bind to an address.

        Args:
            command: what a session runs.
            port: the port.
            token: what the address must carry the first time; a cookie carries it after that.
            host: the address to listen on.

        """
        super().__init__(command, host=host, port=port, title="aifix", public_url=f"http://{_bracketed(host)}:{port}")
        self.token = token
        self.open = not is_loopback(host)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse names that are not this machine's (DNS rebinding), other pages' scripts, and who does not know the token.

        On an address that others reach, the names are not known; there the token, which no foreign page can send, stands alone.
        """
        if not self.open and urlsplit(f"//{request.host}").hostname not in NAMES:
            raise web.HTTPForbidden(text="aifix answers to 127.0.0.1 only")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="aifix answers to its own page only")
        if request.path.startswith("/static/"):
            return await handler(request)
        given = request.query.get("token", "") or request.cookies.get(self._cookie, "")
        if not secrets.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode()):
            raise web.HTTPForbidden(text="open the address that aifix printed: it carries a token")
        response = await handler(request)
        if not response.prepared:
            response.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict")
            response.headers["Referrer-Policy"] = "no-referrer"
            if isinstance(response, web.Response) and isinstance(response.body, bytes) and request.path == "/":
                response.body = self._own(response.body, request.host)
        return response

    def _own(self, page: bytes, host: str) -> bytes:
        """Let a page speak to the name by which it was asked for, and to nobody else."""
        page = FOREIGN.sub(b"", page)
        if not re.fullmatch(r"[\w.:\[\]-]+", host):
            return page
        plain = self.public_url.partition(":")[2].encode()
        return page.replace(b"http:" + plain, f"http://{host}".encode()).replace(b"ws:" + plain, f"ws://{host}".encode())

    @property
    def _cookie(self) -> str:
        return f"{COOKIE}-{self.port}"

    async def on_startup(self, app: web.Application) -> None:
        """Print the address once the port is had; this is called before that."""
        del app
        said = f"aifix: open {self.public_url}/?token={quote(self.token)}\naifix: Ctrl-C ends it"
        if self.open:
            said = (
                f"aifix: serving on {self.host}:{self.port} to who holds the token: http://<this machine>:{self.port}/?token=…\n"
                "aifix: it opens files and runs commands as you, and nothing is encrypted on the way: only for networks that you trust\n"
                "aifix: Ctrl-C ends it"
            )
        asyncio.get_running_loop().call_later(0.2, functools.partial(print, said, flush=True))

    def initialize_logging(self) -> None:
        """Keep quiet."""


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def command(log: Path | None) -> str:
    """Give the command line of a session."""
    words = [sys.executable, "-m", "aifix", "tui", *([str(log.absolute())] if log is not None else [])]
    return shlex.join(words)


def refusal(host: str, token: str) -> str:
    """Say why an address is not served; empty when it is."""
    if is_loopback(host):
        return ""
    if not token:
        return f"--host {host} lets other machines open files and run commands as you; it needs a --token that you choose"
    if len(token) < SHORTEST:
        return f"the token of --host {host} must have at least {SHORTEST} characters; `openssl rand -hex 16` makes one"
    return ""


def serve(log: Path | None, port: int, host: str = HOST, token: str = "") -> int:
    """Serve until Ctrl-C.

    Args:
        log: the log that every session opens.
        port: the port.
        host: the address to listen on; any but loopback needs a token.
        token: what the address must carry; on loopback one is made.

    Returns:
        0; 2 when the address is refused, or the port cannot be had.

    """
    why_not = refusal(host, token)
    if why_not:
        print(f"aifix: {why_not}", file=sys.stderr)
        return 2
    server: Any = GuardedServer(command(log), port, token or secrets.token_urlsafe(16), host)
    try:
        server.serve()
    except OSError as error:
        print(f"aifix: {host} port {port} cannot be had: {error.strerror or error}", file=sys.stderr)
        return 2
    return 0
