"""End to end in a browser: headless Chromium against `--serve` opens a log and reads the diagnosis; driven by its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("textual_serve", reason="textual-serve is missing")

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType
from tests.tui.conftest import RANKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is missing")]
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1200,800",
    "--remote-debugging-port=0",
)
PATIENCE = 60.0
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class Page:
    """A page of the browser, by the DevTools protocol: https://chromedevtools.github.io/devtools-protocol/."""

    def __init__(self, stream: ClientWebSocketResponse) -> None:
        self._stream = stream
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self.received = ""
        """What came through the page's own sockets, without escapes."""
        self.asked: list[str] = []
        """The addresses that the page asked for."""

    async def call(self, method: str, **given: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        await self._stream.send_json({"id": number, "method": method, "params": given})
        while number not in self._answers:
            await self._take()
        answer = self._answers.pop(number)
        assert "error" not in answer, (method, answer)
        result: dict[str, Any] = answer["result"]
        return result

    async def _take(self) -> None:
        message = await self._stream.receive()
        assert message.type == WSMsgType.TEXT, "the browser is gone"
        said = json.loads(message.data)
        if "id" in said:
            self._answers[said["id"]] = said
        elif said["method"] == "Network.webSocketFrameReceived":
            response = said["params"]["response"]
            data = base64.b64decode(response["payloadData"]).decode("utf-8", "replace") if response["opcode"] == 2 else response["payloadData"]
            self.received += ESCAPES.sub("", data)
        elif said["method"] == "Network.requestWillBeSent":
            self.asked.append(said["params"]["request"]["url"])

    async def until(self, words: str) -> None:
        """Wait until the page has received some words."""
        try:
            async with asyncio.timeout(PATIENCE) if hasattr(asyncio, "timeout") else contextlib.nullcontext():
                while words not in self.received:
                    await self._take()
        except TimeoutError:
            pytest.fail(f"{words!r} never came; last came {' '.join(self.received.split())[-600:]!r}")

    async def evaluate(self, expression: str) -> Any:
        return (await self.call("Runtime.evaluate", expression=expression))["result"].get("value")

    async def holds(self, expression: str) -> None:
        while not await self.evaluate(expression):  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.1)

    async def type(self, text: str) -> None:
        for character in text:
            if character == "\r":
                key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
            else:
                key = {"key": character, "text": character}
            await self.call("Input.dispatchKeyEvent", type="keyDown", **key)
            await self.call("Input.dispatchKeyEvent", type="keyUp", **{name: value for name, value in key.items() if name != "text"})


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Serve without a log; gives the address."""
    (tmp_path / "ranks.log").write_text(RANKS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "AIFIX_HOME": str(tmp_path / "home")}
    words = [sys.executable, "-m", "aifix", "tui", "--serve", "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environ, cwd=tmp_path) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.terminate()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Path]:
    """Start the browser with a profile of its own; gives the file in which it names its port."""
    assert CHROMIUM is not None
    profile = tmp_path / "profile"
    with subprocess.Popen([CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"], stderr=subprocess.DEVNULL) as process:
        yield profile / "DevToolsActivePort"
        process.terminate()


async def session(port_file: Path, url: str, log: Path) -> None:
    while not (port_file.exists() and port_file.read_text().count("\n")):  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.1)
    port = port_file.read_text().split("\n", 1)[0]
    async with ClientSession() as client:
        pages: list[dict[str, Any]] = []
        while not pages:
            with contextlib.suppress(OSError):
                async with client.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    pages = [one for one in await answer.json() if one["type"] == "page"]
        async with client.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as stream:
            page = Page(stream)
            await page.call("Network.enable")
            await page.call("Runtime.enable")
            await page.call("Page.navigate", url=url)
            await page.until("What killed the run?")
            await page.holds("document.body.classList.contains('-first-byte') && !!document.querySelector('.xterm-helper-textarea')")
            await page.evaluate("document.querySelector('.xterm-helper-textarea').focus()")
            await page.type(f"/{log.name}\r")
            await page.until("% sure")
            assert "CUDA out of memory" in page.received
            assert "rank 1" in page.received
            await page.type("f")
            await page.until("Halve the batch")
            width, height = await page.evaluate("document.querySelector('.xterm-screen').clientWidth"), await page.evaluate("window.innerHeight")
            assert width > 600
            assert height > 400
            host = url.split("/")[2]
            foreign = [one for one in page.asked if not one.startswith((f"http://{host}/", "about:", "data:", "chrome"))]
            assert foreign == []


def test_a_log_is_opened_and_its_diagnosis_read(served: str, browser: Path, tmp_path: Path) -> None:
    asyncio.run(asyncio.wait_for(session(browser, served, tmp_path / "ranks.log"), 3 * PATIENCE))
