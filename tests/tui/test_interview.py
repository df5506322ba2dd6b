from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aifix_tui.handbook import Handbook
from aifix_tui.interview import SURE, Interview, Question, entropy, information

if TYPE_CHECKING:
    from aifix.rulebase.base import Base


@pytest.fixture
def talk(small_base: Base) -> Interview:
    return Interview(Handbook(small_base))


def answer_for(talk: Interview, rule_id: str) -> bool:
    """Answer the next question as somebody would who met this failure; false when there is none."""
    question = talk.question()
    if question is None:
        return False
    if question.probes:
        named = {use.id for use in talk.book.rules[rule_id].probes}
        talk.looked(question, {asked: "confirmed" if asked[0] in named else "refuted" for asked in talk.asked_of(question)}, "looked")
        return True
    row = question.table[rule_id]
    talk.answer(question, question.options[row.index(max(row))].key)
    return True


def test_weights_are_probabilities(talk: Interview) -> None:
    assert sum(talk.weights().values()) == pytest.approx(1)
    assert all(weight > 0 for weight in talk.weights().values())


def test_the_question_that_tells_most_is_asked(talk: Interview) -> None:
    question = talk.question()
    assert question is not None
    weights = talk.weights()
    assert question.gain > 0
    for other in talk._fixed:
        assert information(other, weights) <= question.gain + 1e-9


def test_rows_of_the_tables_sum_to_one(talk: Interview) -> None:
    for question in talk._fixed:
        for rule_id, row in question.table.items():
            assert sum(row) == pytest.approx(1), (question.id, rule_id)


@pytest.mark.parametrize("rule_id", ["cuda.oom", "dist.nccl-timeout", "npm.version-conflict", "tensor.device-mismatch"])
def test_true_answers_lead_to_the_rule(talk: Interview, rule_id: str) -> None:
    for _ in range(12):
        if not answer_for(talk, rule_id):
            break
    assert rule_id in [candidate for candidate, _ in talk.candidates()[:2]]


def test_an_answer_shrinks_the_list_and_back_restores_it(talk: Interview) -> None:
    before = talk.weights()
    assert answer_for(talk, "npm.version-conflict")
    assert entropy(talk.weights().values()) < entropy(before.values())
    assert talk.back() is not None
    assert talk.weights() == before
    assert talk.back() is None


def test_a_skipped_question_changes_nothing_and_is_not_asked_again(talk: Interview) -> None:
    before = talk.weights()
    question = talk.question()
    assert question is not None
    talk.answer(question, None)
    assert talk.weights() == before
    following = talk.question()
    assert following is None or following.id != question.id


def test_words_of_the_message_decide(talk: Interview) -> None:
    talk.words = "watchdog caught colective timeout"
    assert talk.candidates()[0][0] == "dist.nccl-timeout"
    assert talk.candidates()[0][1] >= SURE
    assert talk.question() is None


def test_words_that_nothing_knows_change_nothing(talk: Interview) -> None:
    before = talk.weights()
    talk.words = "zzzzqqqq"
    assert talk.weights() == before


def test_a_slip_does_not_rule_out(talk: Interview) -> None:
    question = next(one for one in talk._fixed if one.id == "family")
    talk.answer(question, "npm")
    talk.words = "cuda out of memory tried to allocate"
    assert "cuda.oom" in [candidate for candidate, _ in talk.candidates()]


def test_the_shipped_base_is_told_apart_in_few_questions() -> None:
    """Somebody who answers right gets there: the rule leads in at least 9 of 10 cases, after no more than 6 questions in the mean."""
    from aifix import api

    book = Handbook(api.rule_base())
    asked: list[int] = []
    first = 0
    targets = list(book.rules)[::8]
    for rule_id in targets:
        talk = Interview(book)
        count = 0
        while count < 15 and answer_for(talk, rule_id):
            count += 1
        asked.append(count)
        first += talk.candidates()[0][0] == rule_id
    assert first >= 0.9 * len(targets)
    assert sum(asked) / len(asked) <= 6


# ------------------------------------------------------------ what this machine says


@pytest.fixture
def shipped() -> Interview:
    from aifix import api

    return Interview(Handbook(api.rule_base()))


def look(talk: Interview) -> Question:
    """Answer as somebody who knows nothing but the family, until a look at the machine is offered."""
    for _ in range(15):
        question = talk.question()
        assert question is not None
        if question.probes:
            return question
        talk.answer(question, "cuda" if question.id == "family" else None)
    pytest.fail("no look was offered")


def test_to_who_cannot_answer_a_look_at_the_machine_is_offered(shipped: Interview) -> None:
    question = look(shipped)
    assert question.gain > 0
    assert question.gain == pytest.approx(sum(information(one, shipped.weights()) for one in shipped._probes if one.id in question.probes))
    assert {probe for probe, _ in shipped.asked_of(question)} == set(question.probes)


@pytest.mark.parametrize(("verdict", "rises"), [("confirmed", True), ("refuted", False)])
def test_a_verdict_moves_the_rules_that_name_the_probe(shipped: Interview, verdict: str, *, rises: bool) -> None:
    question = look(shipped)
    asked = shipped.asked_of(question)
    named = {rule_id for _, rule_id in asked}
    before = sum(shipped.weights()[rule_id] for rule_id in named)
    shipped.looked(question, dict.fromkeys(asked, verdict), "looked")
    after = sum(shipped.weights()[rule_id] for rule_id in named)
    assert (after > before) == rises
    following = shipped.question()
    assert following is None or not set(following.probes) & set(question.probes)
    assert shipped.back() is not None
    assert sum(shipped.weights()[rule_id] for rule_id in named) == pytest.approx(before)


def test_what_tells_nothing_moves_nothing(shipped: Interview) -> None:
    question = look(shipped)
    before = shipped.weights()
    shipped.looked(question, dict.fromkeys(shipped.asked_of(question), "not-available"), "looked")
    assert shipped.weights() == pytest.approx(before)


def test_of_a_failure_elsewhere_this_machine_is_not_asked(shipped: Interview) -> None:
    look(shipped)
    shipped.elsewhere = True
    for _ in range(15):
        question = shipped.question()
        if question is None:
            break
        assert not question.probes
        shipped.answer(question, None)


def test_tables_of_probes_are_probabilities_with_the_rules_ratios(shipped: Interview) -> None:
    assert {one.id for one in shipped._probes} >= {"gpu.memory", "torch.build", "deps.python"}
    assert not {one.id for one in shipped._probes} & {"cuda.kernels", "host.port"}  # one runs something, the other needs a port
    for question in shipped._probes:
        for row in question.table.values():
            assert sum(row) == pytest.approx(1)
            assert min(row) > 0
