"""`aifix kb` as it is called."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from aifix.commands.main import cli


def call(*arguments: str, columns: str = "100") -> Result:
    return CliRunner(env={"COLUMNS": columns, "NO_COLOR": "1"}).invoke(cli, ["kb", *arguments], prog_name="aifix")


def test_bare_it_says_what_it_can_and_lists_the_articles() -> None:
    done = call()
    assert done.exit_code == 0
    assert "aifix kb [OPTIONS]" in done.output
    assert "cuda-allocator" in done.output


def test_a_search_names_articles_and_rules_best_first() -> None:
    done = call("search", "cuda", "allocatr")
    assert done.exit_code == 0
    assert done.output.splitlines()[0].startswith("cuda-allocator  How the CUDA caching allocator counts memory  (article)")
    assert "aifix kb show NAME" in done.output


def test_a_search_as_json() -> None:
    done = call("search", "nccl timeout", "--format", "json", "--most", "3")
    answer = json.loads(done.stdout)
    assert (answer["schema"], answer["query"], len(answer["found"])) == ("aifix.kb-search/1", "nccl timeout", 3)
    assert set(answer["found"][0]) == {"kind", "name", "title", "summary", "score", "snippet"}
    assert not any(character in done.stdout for character in "\x02\x03")


def test_only_one_kind() -> None:
    assert {one["kind"] for one in json.loads(call("search", "memory", "--only", "rules", "-f", "json").stdout)["found"]} == {"rule"}


def test_nothing_found_ends_with_1_and_says_so() -> None:
    done = call("search", "zzzzqqqq")
    assert done.exit_code == 1
    assert "nothing in the handbook" in done.stderr
    assert json.loads(call("search", "zzzzqqqq", "-f", "json").stdout)["found"] == []


def test_an_article_is_shown_with_its_rules_and_references() -> None:
    done = call("show", "device-side-assert")
    assert done.exit_code == 0
    assert "Reading a device-side assert" in done.output
    assert "cuda.device-assert-label" in done.output
    assert "https://docs.pytorch.org" in done.output
    assert "\x1b" not in done.output


def test_a_rule_is_shown_as_a_page_that_names_its_articles() -> None:
    done = call("show", "cuda.oom")
    assert done.exit_code == 0
    for part in (
        "CUDA out of memory",
        "The message",
        "What it means",
        "How to tell",
        "Fixes, in the order",
        "Checks of this machine",
        "cuda-allocator",
    ):
        assert part in done.output


def test_what_is_meant_to_be_copied_is_never_wrapped() -> None:
    done = call("show", "device-side-assert", columns="60")
    assert any("Assertion `t >= 0 && t < n_classes` failed." in line and "Loss.cu:250" in line for line in done.output.splitlines())
    assert max(len(line) for line in done.output.splitlines() if not line.startswith("    ")) <= 60


@pytest.mark.parametrize(("name", "near"), [("cuda.om", "cuda.oom"), ("cuda-alocator", "cuda-allocator")])
def test_an_unknown_name_is_answered_with_near_ones(name: str, near: str) -> None:
    done = call("show", name)
    assert done.exit_code == 2
    assert near in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_pages_as_json() -> None:
    article = json.loads(call("show", "cuda-allocator", "-f", "json").stdout)
    assert article["schema"] == "aifix.article/1"
    assert "cuda.oom" in article["rules"]
    rule = json.loads(call("show", "cuda.oom", "-f", "json").stdout)
    assert "cuda-allocator" in rule["articles"]


def test_articles_are_listed_by_topic() -> None:
    listed = json.loads(call("list", "-f", "json").stdout)["articles"]
    assert len(listed) >= 30
    assert "body" not in listed[0]
    memory = json.loads(call("list", "--topic", "memory", "-f", "json").stdout)["articles"]
    assert 0 < len(memory) < len(listed)
    assert call("list", "--topic", "none-such").exit_code == 2


def test_rules_show_names_the_articles_and_stays_yaml() -> None:
    done = CliRunner().invoke(cli, ["rules", "show", "cuda.oom"])
    assert "\n# read: aifix kb show cuda-allocator" in done.output


def test_why_and_the_verbose_report_name_the_articles() -> None:
    message = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"
    verbose = CliRunner(env={"COLUMNS": "100"}).invoke(cli, ["explain", "--verbose", message])
    assert "read: aifix kb show training-memory" in verbose.output
    assert "read: aifix kb show" not in CliRunner().invoke(cli, ["explain", message]).output
    why = CliRunner(env={"COLUMNS": "100"}).invoke(cli, ["why", "-", "--no-probe"], input=message + "\n")
    assert "aifix kb show training-memory" in why.output
