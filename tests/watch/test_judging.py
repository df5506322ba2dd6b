"""The judgements by themselves, on series of figures: what raises an alarm, and above all what does not."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import pytest

from aifix.watching import here

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="module")
def judging() -> ModuleType:
    return here._load("judging")


@pytest.fixture
def judge(judging: ModuleType) -> Any:
    made = judging.Judge(lambda alarm: made.said.append((alarm.identity, alarm.line)))
    made.said = []
    return made


def lines(judge: Any) -> list[str]:
    return [line for _, line in judge.said]


def ids(judge: Any) -> list[str]:
    return [identity for identity, _ in judge.said]


def losses(judge: Any, values: list[float], site: str = "a") -> None:
    for step, value in enumerate(values):
        judge.loss(step, value, site)


NOISE = random.Random(7)  # noqa: S311 - the same figures every time
FALLING = [2.3 * math.exp(-step / 400) + 0.05 * NOISE.random() for step in range(2000)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param(FALLING, [], id="falling"),
        pytest.param(FALLING + [FALLING[-1] + 0.05 * NOISE.random() for _ in range(3000)], [], id="learnt, then standing"),
        pytest.param([2.3 + 0.4 * NOISE.gauss(0, 1) for _ in range(3000)], [], id="noise without a trend"),
        pytest.param([NOISE.gauss(0, 1) for _ in range(3000)], [], id="a policy's loss around nothing"),
        pytest.param([1e-6] * 3000, [], id="nothing left to learn"),
        pytest.param([2.3026] * 900, ["train.no-learning"], id="a guess that stays one"),
        pytest.param([0.7 * 1.05**step for step in range(300)], ["train.diverging"], id="growing without bound"),
        pytest.param([0.1 + 3.0 * (1 - math.exp(-step / 200)) for step in range(2000)], [], id="a critic's loss that rises to a level"),
        pytest.param([*FALLING[:1000], 500.0, *FALLING[1000:]], [], id="one spike"),
        pytest.param([-0.5 * 1.05**step for step in range(300)], [], id="a negative loss that grows"),
    ],
)
def test_losses(judge: Any, values: list[float], expected: list[str]) -> None:
    losses(judge, values)
    assert ids(judge) == expected


def test_a_loss_that_stands_while_the_rate_is_warmed_up_is_no_news(judge: Any) -> None:
    for step in range(900):
        judge.loss(step, 2.3026, "a")
        judge.rate(step * 1e-6)
    assert lines(judge) == []


def test_losses_that_play_against_each_other_are_left_alone(judge: Any) -> None:
    for step in range(1000):
        judge.loss(step, 0.7 * 1.01**step, "maker")
        judge.loss(step, 1.386, "judge")
    assert lines(judge) == []


def test_a_lost_loss_is_told_once_and_under_a_scaler_only_when_it_stays(judge: Any) -> None:
    judge.lost(4, math.inf, scaled=True)
    judge.loss(5, 1.0, "a")
    judge.lost(6, math.nan, scaled=True)
    assert lines(judge) == []
    judge.lost(7, math.nan, scaled=True)
    judge.lost(8, math.nan, scaled=True, origin=lambda: "out of layer 3 (LogBackward0)")
    judge.lost(9, math.nan, scaled=True)
    assert lines(judge) == ["watch: the loss is nan at step 8, first out of layer 3 (LogBackward0)"]


def gradients(judge: Any, totals: list[float], layers: int = 4, ratio: float = 1.0) -> None:
    for step, total in enumerate(totals):
        judge.gradients(step * 5, [(str(at), total * ratio ** (layers - 1 - at), True) for at in range(layers)])


@pytest.mark.parametrize(
    ("totals", "layers", "ratio", "expected"),
    [
        pytest.param([10 * math.exp(-step / 20) + 0.1 for step in range(200)], 4, 1.0, [], id="falling"),
        pytest.param([abs(NOISE.gauss(0, 1)) * 10 ** NOISE.uniform(-1, 1) for _ in range(300)], 4, 1.0, [], id="wild, within bounds"),
        pytest.param([1.0] * 30 + [5e4] + [1.0] * 30, 4, 1.0, [], id="one spike"),
        pytest.param([1.0] * 30 + [10.0**power for power in range(1, 9)], 4, 1.0, ["train.grad-nonfinite"], id="exploding"),
        pytest.param([1.0] * 30, 12, 0.5, [], id="a half a layer"),
        pytest.param([1.0] * 30, 12, 0.1, ["train.no-learning"], id="a tenth a layer"),
        pytest.param([1e-9] * 30, 12, 1.0, [], id="small everywhere: learnt"),
        pytest.param([1.0] * 30, 4, 0.001, [], id="not deep"),
        pytest.param([1.0, math.nan], 4, 1.0, ["train.grad-nonfinite"], id="nan"),
    ],
)
def test_gradients(judge: Any, totals: list[float], layers: int, ratio: float, expected: list[str]) -> None:
    gradients(judge, totals, layers, ratio)
    assert ids(judge) == expected


def test_the_layer_nearest_to_the_loss_got_the_nan_first(judge: Any) -> None:
    judge.gradients(3, [("body", math.nan, True), ("neck", math.nan, True), ("head", 0.1, True)])
    assert lines(judge) == ["watch: gradients are nan or inf at step 3, first in layer neck"]


def memory(judge: Any, used: list[float], left: float = 4e9, until: float | None = None) -> None:
    for at, value in enumerate(used):
        judge.memory("host", at * 10, at * 0.5, int(value * 1e6), left, until=until)


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        pytest.param([500.0] * 100, [], id="level"),
        pytest.param([500 + 400 * (1 - math.exp(-at / 8)) for at in range(100)], [], id="fills, and is full"),
        pytest.param([500 + 4000 * (1 - math.exp(-at / 60)) for at in range(300)], [], id="fills slowly"),
        pytest.param([500 + (at % 10) * 60 for at in range(100)], [], id="a saw"),
        pytest.param([500 + 0.2 * at for at in range(100)], [], id="a trickle"),
        pytest.param([500 + 8 * at for at in range(100)], ["train.memory-growth"], id="growing"),
        pytest.param([500 + 8 * at + 100 * NOISE.random() for at in range(400)], ["train.memory-growth"], id="growing with noise"),
    ],
)
def test_memory(judge: Any, used: list[float], expected: list[str]) -> None:
    memory(judge, used)
    assert ids(judge) == expected


def test_the_end_is_estimated(judge: Any) -> None:
    memory(judge, [500 + 10 * at for at in range(100)], left=2e9)  # 20 MB a second, 1 MB a step
    assert lines(judge)[0].startswith("watch: host memory grows by 976.56 KiB a step: ")
    assert ", nothing is left in about 2 min (step " in lines(judge)[0]  # 100 seconds


def test_growth_that_ends_with_the_first_epoch_or_in_weeks_is_none(judge: Any) -> None:
    memory(judge, [500 + 8 * at for at in range(100)], until=30.0)
    memory(judge, [500 + 8 * at for at in range(100)], left=1e15)
    assert lines(judge) == []


@pytest.mark.parametrize(
    ("waited", "seconds", "idle", "told"),
    [
        (0.08, 0.1, None, True),
        (0.03, 0.1, None, False),
        (0.0008, 0.001, None, False),
        (0.08, 0.1, False, False),
        (0.08, 0.1, True, True),
    ],
)
def test_input(judge: Any, waited: float, seconds: float, idle: bool | None, told: bool) -> None:
    for step in range(130):
        judge.input(step, waited, seconds, idle)
    assert lines(judge) == (
        ["watch: the input starves the model: 80 % of a step of 100 ms is waiting for data, over 60 steps up to step 119"] if told else []
    )


def test_weights_that_do_not_move(judge: Any) -> None:
    for step in range(0, 40, 5):
        judge.weights(step, moved=False, rate=1e-3, norm=1.0)
    judge.weights(40, moved=True, rate=1e-3, norm=1.0)
    for step in range(45, 95, 5):
        judge.weights(step, moved=False, rate=0.0, norm=0.0)  # no gradient: nothing has to move
    assert lines(judge) == []
    for step in range(100, 160, 5):
        judge.weights(step, moved=False, rate=0.0, norm=1.0)
    assert lines(judge) == ["watch: the weights do not move: 50 steps at learning rate 0"]


def test_the_loss_scale(judge: Any) -> None:
    for update, value in enumerate((32768.0, 16384.0, 32768.0, 8.0, 1.0)):
        judge.scale(update, value, 65536.0)
    assert lines(judge) == []
    judge.scale(9, 0.5, 65536.0)
    assert lines(judge) == ["watch: the loss scale is 0.5 at step 9, down from 65536"]


def test_a_scale_that_never_was_one_is_the_user_s_choice(judge: Any) -> None:
    judge.scale(1, 0.5, 0.5)
    assert lines(judge) == []


def test_every_alarm_s_line_is_known_to_the_rules() -> None:
    from aifix.watching.alarms import Alarm, diagnoses

    told = {
        "watch: the loss is nan at step 8": "train.nan-loss",
        "watch: the loss is -inf at step 8, first after layer 1 (DivBackward0)": "train.nan-loss",
        "watch: exploding gradients: norm 1e+08 at step 185, 1e+08 times its median 1; the largest in layer 0": "train.grad-nonfinite",
        "watch: gradients are nan or inf at step 3, first in layer neck": "train.grad-nonfinite",
        "watch: the loss diverges: 70.1 at step 99, after 0.7 at step 19": "train.diverging",
        "watch: vanishing gradients: norm 1e-11 in layer 0 against 1 in layer 11, from step 0 to 25": "train.no-learning",
        "watch: the loss stands still: 2.303 over 600 steps, between 2.303 and 2.303": "train.no-learning",
        "watch: the weights do not move: 50 steps at learning rate 0": "train.no-learning",
        "watch: the loss scale is 0.5 at step 9, down from 65536": "train.loss-scale",
        "watch: GPU 1 memory grows by 3.00 MiB a step: 1.10 GiB at step 300, nothing is left in about 2.1 h (step 9000)": "train.memory-growth",
        "watch: the input starves the model: 80 % of a step of 100 ms is waiting for data, over 60 steps up to step 59": "data.starved",
    }
    found = diagnoses([Alarm(line, line) for line in told])
    assert [one.id for one in found] == list(told.values())
    assert all(one.fixes for one in found)
