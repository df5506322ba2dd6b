"""Texts filled with the log's values, without holes."""

from __future__ import annotations

import pytest

from aifix.reason import expressions, templates
from aifix.reason.templates import MissingError, TemplateError

NAMES = {"batch": 128, "gpu": 0}


def look_up(expression: str) -> str:
    return str(expressions.evaluate(expression, NAMES))


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("batch {batch} to {batch // 2}", "batch 128 to 64"),
        ("CUDA out of memory[[ on GPU {gpu}]]", "CUDA out of memory on GPU 0"),
        ("CUDA out of memory[[ on GPU {card}]]", "CUDA out of memory"),
        ("batch_size=[[{rows}||half of it]]", "batch_size=half of it"),
        ("{rows||some} rows", "some rows"),
        ('{{"overrides": {{"react": "18"}}}}', '{"overrides": {"react": "18"}}'),
        ("m = [[1, 2], [3, 4]]", "m = [[1, 2], [3, 4]]"),
        ("x[[ a {batch}[[ and {rows}]]]]", "x a 128"),
        ("x[[ {rows} [[{batch}]] || none at all]].", "x none at all."),
        ("a[[{batch}]]", "a128"),
        ("find . -name x && . file", "find . -name x && . file"),
    ],
)
def test_placeholders_options_and_braces(template: str, text: str) -> None:
    assert templates.fill(template, look_up) == text


def test_a_required_value_that_is_unknown_is_said() -> None:
    with pytest.raises(MissingError):
        templates.fill("batch {rows}", look_up)


def test_prose_drops_the_sentences_that_would_have_a_hole() -> None:
    text = "The batch is {batch}. The card holds {capacity}. Lower it.\n\nSecond {rows} paragraph."
    assert templates.prose(text, look_up) == "The batch is 128. Lower it."


@pytest.mark.parametrize("template", ["a {batch", "a } b", "{a b}"])
def test_malformed_templates_are_refused_with_the_reason(template: str) -> None:
    with pytest.raises(TemplateError):
        templates.parse(template)


def test_holes_tell_which_values_must_be_known() -> None:
    assert templates.holes("{a}[[ {b}||{c}]]{d||x}") == [("a", True), ("b", False), ("c", False), ("d", False)]


def test_the_longest_reading_of_a_text_counts_one_alternative_and_no_condition() -> None:
    assert templates.longest("one[[ two {a}{only_if(has('b'))}||three and four]]") == len("one" + "three and four")
    assert templates.longest("{a||another} value") == len("another value")


def test_a_sentence_whose_last_value_ends_one_ends_once() -> None:
    known = {"reason": "closed by peer.", "more": "and so on..."}
    assert (
        templates.prose("It says: {reason}. It goes on {more}. See x/../y.", known.__getitem__)
        == "It says: closed by peer. It goes on and so on... See x/../y."
    )
