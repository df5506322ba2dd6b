"""The server of the browser's interface: loopback, its own page, its token, and nobody else."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("textual_serve", reason="textual-serve is missing")

from aiohttp import ClientSession, CookieJar
from aiohttp.test_utils import TestClient, TestServer
from tests.tui.conftest import RANKS

from aifix_tui.serve import HOST, GuardedServer, command, is_loopback, refusal

TOKEN = "secret"  # noqa: S105 - of the test
PORT = 8123
OWN = {"Host": f"127.0.0.1:{PORT}"}


def ask(path: str, headers: dict[str, str], host: str = HOST) -> tuple[int, str]:
    async def run() -> tuple[int, str]:
        server = GuardedServer("true", PORT, TOKEN, host)
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


def test_no_page_speaks_to_a_foreign_server() -> None:
    async def page(host: str, headers: dict[str, str]) -> str:
        async with TestClient(TestServer(await GuardedServer("true", PORT, TOKEN, host)._make_app())) as client:
            return await (await client.get(f"/?token={TOKEN}", headers=headers)).text()

    own = asyncio.run(page(HOST, OWN))
    assert "googleapis" not in own
    assert f"ws://127.0.0.1:{PORT}/ws" in own
    other = asyncio.run(page("0.0.0.0", {"Host": f"node7:{PORT}"}))  # noqa: S104 - it is not bound
    assert f"ws://node7:{PORT}/ws" in other
    assert "0.0.0.0" not in other  # noqa: S104


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/ws", "/ws?token=", "/download/x"])
def test_on_other_addresses_the_token_is_asked_for_as_well(path: str) -> None:
    elsewhere = {"Host": f"node7:{PORT}"}
    assert ask(path, elsewhere, "0.0.0.0")[0] == 403  # noqa: S104 - it is not bound
    assert ask(f"/?token={TOKEN}", elsewhere, "0.0.0.0")[0] == 200  # noqa: S104
    assert ask(f"/?token={TOKEN}", {**elsewhere, "Origin": "http://evil.example"}, "0.0.0.0")[0] == 403  # noqa: S104


@pytest.mark.parametrize(
    ("host", "token", "why_not"),
    [
        ("127.0.0.1", "", ""),
        ("localhost", "", ""),
        ("::1", "", ""),
        ("0.0.0.0", "", "needs a --token"),  # noqa: S104
        ("::", "", "needs a --token"),
        ("192.168.0.4", "", "needs a --token"),
        ("node7", "", "needs a --token"),
        ("127.0.0.1.example.org", "", "needs a --token"),
        ("0.0.0.0", "short", "at least 16 characters"),  # noqa: S104
        ("0.0.0.0", "0123456789abcdef", ""),  # noqa: S104
    ],
)
def test_other_addresses_need_a_token_that_was_chosen(host: str, token: str, why_not: str) -> None:
    assert why_not in refusal(host, token)
    assert bool(why_not) == bool(refusal(host, token))


def test_without_a_token_another_address_is_refused_with_one_line() -> None:
    environ = {name: value for name, value in os.environ.items() if name != "AIFIX_TOKEN"}
    words = [sys.executable, "-m", "aifix", "tui", "--serve", "--host", "0.0.0.0"]  # noqa: S104 - which is refused
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--token" in done.stderr


def test_loopback_is_told_by_address_and_not_by_spelling() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "localhost.example", "")))  # noqa: S104


def test_a_browser_gets_the_diagnosis(tmp_path: Path) -> None:
    """What a browser does: the page by its token, then the socket, through which the screens come."""
    (log := tmp_path / "ranks.log").write_text(RANKS)
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "aifix", "tui", "--serve", "--port", str(port), str(log)]
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            assert url.startswith(f"http://127.0.0.1:{port}/?token=")
            assert "CUDA out of memory" in asyncio.run(asyncio.wait_for(browse(url, port), 60))
        finally:
            process.terminate()


async def browse(url: str, port: int) -> str:
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
        async with session.get(url) as answer:
            assert answer.status == 200
            page = await answer.text()
            assert f"ws://127.0.0.1:{port}/ws" in page
        seen = b""
        async with session.ws_connect(f"ws://127.0.0.1:{port}/ws?width=80&height=24", headers={"Origin": f"http://127.0.0.1:{port}"}) as stream:
            async for message in stream:
                seen += message.data if isinstance(message.data, bytes) else b""
                if b"CUDA out of memory" in seen:
                    break
        return seen.decode(errors="replace")


def test_it_binds_to_loopback_and_quotes_the_log() -> None:
    server = GuardedServer("true", PORT, TOKEN)
    assert server.host == HOST == "127.0.0.1"
    assert shlex.split(command(Path("/tmp/a b;c.log")))[-1] == "/tmp/a b;c.log"
    assert shlex.split(command(None))[-1] == "tui"
