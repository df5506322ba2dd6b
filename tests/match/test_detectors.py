"""Detectors: what no single line says."""

from __future__ import annotations

import math

import pytest

from aifix.match.detectors import flat_loss, grad_norm, nan_loss
from aifix.model import Line


def lines(*texts: str) -> list[Line]:
    return [Line(number, text) for number, text in enumerate(texts, 1)]


def test_a_loss_that_stays_at_ln_k_with_accuracy_at_chance_has_learnt_nothing() -> None:
    log = lines(*(f"epoch {epoch} loss {math.log(10) + 0.0005 * (epoch % 3):.4f} acc 0.1004" for epoch in range(8)))
    found = flat_loss(log)
    assert found
    assert found[0].captures["classes"] == "10"
    assert found[0].captures["accuracy"] == "0.1004"


def test_vanished_gradients_beside_a_loss_that_stands_still() -> None:
    found = flat_loss(lines(*(f"step {step} | loss: 5.2133 | grad_norm: 3.1e-09" for step in range(6))))
    assert found[0].captures["grad_norm"] == "3.1e-09"


@pytest.mark.parametrize(
    "texts",
    [
        [f"epoch {e} loss {2.3 * 0.8**e:.4f} acc {0.1 + 0.08 * e:.3f}" for e in range(8)],
        [f"epoch {e} loss 0.0121 acc 0.991" for e in range(8)],
        ["loss 2.303", "loss 2.302"],
        [f"step {s} loss 1.8342 lr 0.0" for s in range(9)],
    ],
    ids=["falling", "converged", "too short", "flat, but not at a guess"],
)
def test_a_run_that_learns_or_tells_too_little_is_left_alone(texts: list[str]) -> None:
    assert flat_loss(lines(*texts)) == []


@pytest.mark.parametrize(
    "texts",
    [
        [f"step: {s} loss: {x} accuracy:0.6{s % 10}" for s, x in enumerate(["0.6773", "2.4587", "5.3353", "1.0234", *["0.6931"] * 12])],
        [f"60000/60000 [====] - 9s - loss: {x} - acc: 0.6448" for x in ("5.7178", *["5.7257"] * 7)],
        [f"Epoch {e}: train loss 0.8712, val_loss: 0.8713, val_acc: 71.43%" for e in range(8)],
        [f"Test set: Average loss: 2.3026, Accuracy: 980/10000 ({e}%)" for e in range(6)],
        [f"epoch {e} cost: 1.3863 accuracy: 0.2500" for e in range(6)],
        [f"iter {i} loss: {4.1 + 0.3 * (i % 3):.3f} grad_norm: 0.000" for i in range(12)],
        [f"{{'loss': 0.0, 'grad_norm': 0.0, 'learning_rate': 1e-05, 'epoch': 0.{i}}}" for i in range(1, 10)],
        [f"[Epoch {e}] val accuracy: 10.00%" for e in range(7)],
    ],
    ids=["fell to ln 2", "saturated", "frozen", "MNIST", "cost", "no gradients", "nought", "accuracy only"],
)
def test_other_ways_of_learning_nothing_in_other_loggers(texts: list[str]) -> None:
    assert flat_loss(lines(*texts))


@pytest.mark.parametrize(
    "texts",
    [
        [f"[{e}/200] D loss: 0.6931 G loss: 0.6931" for e in range(12)],
        [f"epoch {e} d_loss: 0.6931 acc: 0.5000" for e in range(12)],
        [f"{{'loss': 0.6931, 'grad_norm': 2.1, 'rewards/margins': 0.0, 'epoch': 0.0{i}}}" for i in range(8)],
        [f"epoch {e} loss: 0.0003 acc: 1.0000" for e in range(12)],
        [f"epoch {e} loss: {x} acc: {a}" for e, (x, a) in enumerate([("1.90", "0.31"), ("0.91", "0.72"), ("0.52", "0.85"), *[("0.41", "0.88")] * 3])],
        [f"epoch {e} val_acc: 0.5000" for e in range(4)],
        [f"epoch {e} val_acc: 0.9{e}00" for e in range(8)],
        [f"{{'loss': {2.1 - 0.1 * i:.2f}, 'grad_norm': 0.0}}" for i in range(10)],
        [f"Resumed from step {s}: loss: 0.2131 lr: 1e-7" for s in range(10)],
        [f"step {s} loss=0.69 acc=0.5{s}" for s in range(9)],
    ],
    ids=["GAN", "discriminator", "DPO", "learnt", "plateau", "short", "rising", "norm not logged", "resumed", "coarse"],
)
def test_runs_that_stand_still_for_other_reasons_are_left_alone(texts: list[str]) -> None:
    assert flat_loss(lines(*texts)) == []


@pytest.mark.parametrize(
    ("text", "component"),
    [
        ("Epoch [1][150/5808]  lr: 1.000e-02, loss_cls: 0.4, loss_bbox: nan, loss: nan", "loss_bbox"),
        ("{'loss': nan, 'grad_norm': nan, 'learning_rate': 4.9e-05, 'epoch': 0.3}", "loss"),
        ("iter 210: train_loss=NaN", "train_loss"),
        ("200/200 - 3s - loss: nan - accuracy: 0.1000", "loss"),
        ("step 12 | loss inf | lr 0.1", "loss"),
    ],
)
def test_a_loss_printed_as_nan_or_inf_is_found_in_any_logger_style(text: str, component: str) -> None:
    found = nan_loss(lines("step 1 loss 2.0", text))
    assert [detection.line for detection in found] == [1]
    assert found[0].captures["component"] == component


@pytest.mark.parametrize("text", ["loss: 0.31 finance: ok", "logging_nan_inf_filter=True", "loss_info: 3", "nan check in the loss: off"])
def test_words_that_only_look_like_nan_are_not_taken(text: str) -> None:
    assert nan_loss(lines(text)) == []


def test_the_step_and_the_rate_are_read_beside_the_first_nan() -> None:
    captures = nan_loss(lines("[epoch 1][iter 400] lr: 0.1 loss: nan"))[0].captures
    assert captures["step"] in {"epoch 1", "epoch 1][iter 400"}
    assert captures["learning_rate"] == "0.1"


@pytest.mark.parametrize(
    ("norms", "found"),
    [
        (["0.9", "1.2", "nan", "nan", "nan"], True),
        (["inf", "nan", "1.1", "1.0", "0.9"], False),
        (["0.9", "1.1", "1.0", "1.2", "5.1e+06", "8.8e+07"], True),
        (["0.9", "1.1", "0.8", "1.2", "1500.2", "4200.0"], True),
        (["3.1", "12.9", "8.1", "15.0", "5.2"], False),
    ],
)
def test_gradient_norms_that_stay_nonfinite_or_explode(norms: list[str], *, found: bool) -> None:
    detections = grad_norm(lines(*(f"step {step} loss 2.1 grad_norm: {norm} lr 1e-4" for step, norm in enumerate(norms))))
    assert bool(detections) is found
    if found:
        assert detections[0].captures["learning_rate"] == "1e-4"


def test_another_loop_that_learns_in_the_same_log_and_lines_of_all_ranks_hide_nothing() -> None:
    healthy = [f"step {i} loss {2.0 / (1 + i / 50):.4f} lr 3.0e-04" for i in range(300)]
    stuck = [f"epoch {e}: loss: 2.3026 acc: 0.1000" for e in range(8)]
    assert flat_loss(lines(*healthy)) == []
    assert flat_loss(lines(*healthy, *stuck))[0].line >= 300
    assert flat_loss([Line(number, text, rank=number % 4 + 1) for number, text in enumerate(stuck)])


def test_the_rise_of_a_loss_before_it_is_no_number_is_told() -> None:
    rising = [f"epoch {at} loss {10.0**at:.1f}" for at in range(5)]
    assert nan_loss(lines(*rising, "epoch 5 loss nan"))[0].captures["last_loss"] == "10000.0"
    assert nan_loss(lines(*rising, "epoch 5 loss nan"))[0].captures["least_loss"] == "1.0"
    assert "last_loss" not in nan_loss(lines("epoch 0 loss 2.0", "epoch 1 loss nan"))[0].captures
