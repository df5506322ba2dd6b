"""The server of the browser's interface: loopback, its own page, its token, and nobody else."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

import pytest

pytest.importorskip("textual_serve", reason="textual-serve is missing")

from aiohttp.test_utils import TestClient, TestServer

from aifix_tui.serve import HOST, LoopbackServer, command

TOKEN = "secret"  # noqa: S105 - of the test
PORT = 8123
OWN = {"Host": f"127.0.0.1:{PORT}"}


def ask(path: str, headers: dict[str, str]) -> tuple[int, str]:
    async def run() -> tuple[int, str]:
        server = LoopbackServer("true", PORT, TOKEN)
        async with TestClient(TestServer(await server._make_app())) as client:
            answer = await client.get(path, headers=headers)
            return answer.status, answer.headers.get("Set-Cookie", "")

    return asyncio.run(run())


def test_the_token_opens_and_leaves_a_cookie() -> None:
    status, cookie = ask(f"/?token={TOKEN}", OWN)
    assert status == 200
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert ask("/", {**OWN, "Cookie": f"aifix-{PORT}={TOKEN}"})[0] == 200


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/ws", "/download/x"])
def test_without_the_token_nothing_is_served(path: str) -> None:
    assert ask(path, OWN)[0] == 403


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Host": "192.168.0.4:8123"}, {**OWN, "Origin": "http://evil.example"}, {**OWN, "Origin": "null"}],
)
def test_other_names_and_other_pages_are_refused(headers: dict[str, str]) -> None:
    assert ask(f"/?token={TOKEN}", headers)[0] == 403
    assert ask(f"/ws?token={TOKEN}", headers)[0] == 403


def test_it_binds_to_loopback_and_quotes_the_log() -> None:
    server = LoopbackServer("true", PORT, TOKEN)
    assert server.host == HOST == "127.0.0.1"
    assert shlex.split(command(Path("/tmp/a b;c.log")))[-1] == "/tmp/a b;c.log"
    assert shlex.split(command(None))[-1] == "tui"
