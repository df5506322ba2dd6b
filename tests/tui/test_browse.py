from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.tui.pilot import drive, shown, until
from textual.widgets import OptionList

from aifix_tui.app import AifixApp

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


async def opened(pilot: Pilot[None]) -> None:
    await pilot.press("b")
    await until(pilot, lambda: pilot.app.current_mode == "browse" and "6 diagnoses and 2 articles" in shown(pilot, "#count"))


def test_families_and_pages(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        rules = shown(pilot, "#rules")
        assert "cuda: CUDA runtime, memory, libraries" in rules
        assert "Two versions of one package" in rules
        await until(pilot, lambda: "CUDA out of memory" in shown(pilot, "#page-text"))
        page = shown(pilot, "#page-text")
        assert "“CUDA out of memory. Tried to allocate”" in page
        assert "aifix probe gpu.memory" in page
        assert 'when: log("llama")' in page

    drive(AifixApp(), flow)


def test_search_as_you_type(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("slash", *"colective timout")
        await until(pilot, lambda: "A collective timed out" in shown(pilot, "#page-text"))
        assert pilot.app.screen.query_one("#rules", OptionList).options[0].id == "dist.nccl-timeout"
        await pilot.press("down")
        assert pilot.app.screen.query_one("#rules").has_focus
        await pilot.press("slash", *"zzzzqqqq")
        await until(pilot, lambda: "nothing like it" in shown(pilot, "#count"))
        await pilot.press("escape")
        await until(pilot, lambda: "6 diagnoses and" in shown(pilot, "#count"))

    drive(AifixApp(), flow)


def test_links_are_followed_and_one_goes_back(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        assert "may cause: dist.child-failed" in shown(pilot, "#links")
        assert "special case: cuda.oom-fragmentation" in shown(pilot, "#links")
        pilot.app.screen.query_one("#links").focus()
        await pilot.press("enter")
        await until(pilot, lambda: "The launcher reports a failed rank" in shown(pilot, "#page-text"))
        assert "may be caused by: cuda.oom" in shown(pilot, "#links")
        await pilot.press("backspace")
        await until(pilot, lambda: "CUDA out of memory" in shown(pilot, "#page-text"))

    drive(AifixApp(), flow)


def test_a_page_is_copied_from(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("c", "enter")
        await until(pilot, lambda: pilot.app.clipboard.startswith("python train.py"))

    drive(AifixApp(), flow)


def test_an_article_is_searched_with_the_rules_and_read(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("slash", *"alocator")
        await until(pilot, lambda: "How the caching allocator counts memory" in shown(pilot, "#rules"))
        await pilot.press("slash", *" memory")  # the slash is typed here
        await until(pilot, lambda: "¶" in shown(pilot, "#rules") and "cuda.oom" in shown(pilot, "#rules"))
        assert "diagnos" in shown(pilot, "#count")
        assert "1 article" in shown(pilot, "#count")

    drive(AifixApp(), flow)


def test_articles_and_rules_lead_to_each_other(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await until(pilot, lambda: "read: ¶ How the caching allocator counts memory" in shown(pilot, "#links"))
        pilot.app.screen.query_one("#links").focus()
        await pilot.press("end", "enter")
        await until(pilot, lambda: "¶ How the caching allocator counts memory" in shown(pilot, "#page-text"))
        links = shown(pilot, "#links")
        assert "about: cuda.oom  CUDA out of memory" in links
        assert "see also: ¶ Which rank failed first" in links
        body: Any = pilot.app.screen.query_one("#article-text")
        await until(pilot, lambda: body.query("MarkdownFence"))
        body.post_message(body.LinkClicked(body, "who-failed-first.md"))
        await until(pilot, lambda: "¶ Which rank failed first" in shown(pilot, "#page-text"))
        body.post_message(body.LinkClicked(body, "rule:npm.version-conflict"))
        await until(pilot, lambda: "Two versions of one package" in shown(pilot, "#page-text"))
        assert not body.display
        for title in ("Which rank failed first", "How the caching allocator", "CUDA out of memory"):
            await pilot.press("backspace")
            await until(pilot, lambda title=title: title in shown(pilot, "#page-text"))  # type: ignore[misc]

    drive(AifixApp(), flow)


def test_articles_alone_and_their_code(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("a")
        await until(pilot, lambda: shown(pilot, "#count") == "6 diagnoses" and "¶" not in shown(pilot, "#rules"))
        await pilot.press("a")
        await until(pilot, lambda: shown(pilot, "#rules").count("¶") == 2 and "cuda.oom" not in shown(pilot, "#rules"))
        await until(pilot, lambda: "Which rank" in shown(pilot, "#page-text"))
        await pilot.press("down")
        await until(pilot, lambda: "How the caching" in shown(pilot, "#page-text"))
        await pilot.press("c", "enter")
        await until(pilot, lambda: pilot.app.clipboard == "torch.cuda.memory_summary()")
        await pilot.press("a")
        await until(pilot, lambda: "6 diagnoses and 2 articles" in shown(pilot, "#count"))

    drive(AifixApp(), flow)
