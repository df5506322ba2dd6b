"""Active probes against a real torch on the CPU."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.probes.parts import case, here

from aifix.probes import active, nvml

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.probes.finding import Case

pytestmark = pytest.mark.slow

MODELS = '''
import torch
from torch import nn


class Scale(nn.Module):
    """Reaches values that fp16 cannot hold."""

    def forward(self, x):
        return x * 3e5


class Divide(nn.Module):
    def forward(self, x):
        return x / (x - x)


def layers(special):
    torch.manual_seed(0)
    return nn.Sequential(*[nn.Linear(16, 16) for _ in range(7)], special, nn.Linear(16, 16))


def overflow():
    return layers(Scale())


def broken():
    return layers(Divide())


class Between(nn.Module):
    """Its layers are finite; what it does between them is not."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        return self.second(torch.log(-self.first(x).abs() - 1))


class After(Between):
    def forward(self, x):
        return self.second(self.first(x)) / 0.0


def between():
    return nn.Sequential(nn.Linear(16, 16), Between())


def after():
    return nn.Sequential(nn.Linear(16, 16), After())


def vanishing():
    torch.manual_seed(0)
    layers = [nn.Linear(32, 32, bias=False) for _ in range(20)]
    for layer in layers:
        nn.init.orthogonal_(layer.weight)
    return nn.Sequential(*[part for layer in layers for part in (layer, nn.Sigmoid())])


class Steep(nn.Module):
    """Forward stays within [-1, 1], backward grows at every layer."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(32, 32, bias=False) for _ in range(8)])
        for layer in self.layers:
            nn.init.orthogonal_(layer.weight)

    def forward(self, x):
        for layer in self.layers:
            x = torch.sin(12 * layer(x))
        return x


def steep():
    torch.manual_seed(0)
    return Steep()


def dead():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
    nn.init.constant_(model[0].bias, -100.0)
    return model


def sound():
    return nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))


class Data:
    classes = list("abcde")

    def __init__(self, bad=True):
        self.bad = bad

    def __len__(self):
        return 64

    def __getitem__(self, index):
        if self.bad and index == 7:
            raise OSError("truncated")
        x = torch.zeros(3, 8, 9 if self.bad and index == 5 else 8)
        if self.bad and index == 9:
            x[0, 0, 0] = float("nan")
        return x, 5 if self.bad and index == 42 else index % 5


def bad():
    return Data()


def good():
    return Data(bad=False)


def unpicklable():
    data = Data(bad=False)
    data.transform = lambda x: x
    return data
'''


@pytest.fixture
def ask(torch_python: str, tmp_path: Path):  # type: ignore[no-untyped-def]  # noqa: ANN201
    (tmp_path / "mine.py").write_text(MODELS)
    machine = here(python=torch_python, cwd=str(tmp_path), environ=dict(os.environ))

    def make(**options: object) -> Case:
        return case(machine, options={"timeout": 90.0, **options})

    return make


def test_layer_7_overflows_in_fp16_and_not_in_bf16(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.layers(ask(model="mine:overflow"))
    assert found.status == "confirmed"
    assert found.summary.startswith("in fp16 7 (Scale, the 8th layer to run)")
    assert active.OVERFLOW in found.summary
    assert found.data["fp32"]["first"] is None
    assert found.data["bf16"]["first"] is None


def test_a_nan_in_fp32_is_laid_to_its_layer(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.layers(ask(model="mine:broken"))
    assert found.status == "confirmed"
    assert "in fp32 7 (Divide" in found.summary


def test_code_between_and_after_the_layers_is_laid_to_its_module(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    between = active.layers(ask(model="mine:between")).summary
    assert "1.second (Linear, the 3rd layer to run) is the first that yields" in between
    assert "code between the layers after 1.first made it" in between
    after = active.layers(ask(model="mine:after")).summary
    assert "the code of 1 (After) itself yields" in after


@pytest.mark.parametrize(("model", "word"), [("vanishing", "vanish"), ("steep", "explode")])
def test_gradients_that_vanish_or_explode_by_layer(ask, model: str, word: str) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.layers(ask(model=f"mine:{model}", shape="32"))
    assert found.status == "confirmed", found
    assert f"the gradients {word} on their way back" in found.summary
    assert "a layer" in found.summary


def test_a_dead_layer_is_told_and_proves_nothing(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.layers(ask(model="mine:dead"))
    assert found.status == "inconclusive"
    assert "3 parameters get a gradient of exactly 0" in found.summary
    assert found.data["gradients"]["zero"] == ["0.weight", "0.bias", "2.weight"]


def test_a_sound_model_and_its_gradients(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.layers(ask(model="mine:sound", shape="256"))
    assert found.status == "refuted"
    assert len(found.data["gradients"]["by_parameter"]) == 4


def test_memory_divides_as_arithmetic_says(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.model_memory(ask(model="mine:sound", batch=32, optimizer="adam", budget=4 << 20))
    data = found.data
    weights = 4 * (256 * 512 + 512 + 512 * 10 + 10)
    assert data["parameters"] == data["gradients"] == weights
    assert weights * 2 <= data["optimizer"] <= weights * 2 + 100
    assert data["input"] == 32 * 256 * 4
    assert data["activations"] >= 32 * 512 * 4
    assert data["largest_measured"] == data["largest_by_line"]
    assert data["smallest_too_large"] == data["largest_measured"] + 1
    assert data["largest_measured"] * data["per_sample"] + data["steady"] <= 4 << 20


def test_bad_samples_are_named_by_their_index(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.samples(ask(dataset="mine:bad"))
    assert found.status == "confirmed"
    indices = {kind: [item["index"] for item in listed] for kind, listed in found.data["bad"].items()}
    assert indices["label"] == [42]
    assert indices["shape"] == [5]
    assert indices["nonfinite"] == [9]
    assert indices["unreadable"] == [7]


def test_a_sound_dataset_and_a_worker_by_spawn(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.samples(ask(dataset="mine:good"))
    assert found.status == "refuted", found
    assert found.data["worker_seconds"] > 0


def test_a_dataset_that_spawn_cannot_pickle(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.samples(ask(dataset="mine:unpicklable"))
    assert found.status == "confirmed"
    assert "cannot be pickled" in found.summary


def test_two_real_ranks_reduce_over_gloo(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.allreduce(ask())
    assert found.status == "refuted", found
    assert found.data["world"] == 2


def test_a_rank_that_skips_a_collective_ends_in_an_answer(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.allreduce(ask(skip=True, timeout=25.0))
    assert found.status == "confirmed"
    assert "all-reduce of 4 bytes" in found.summary


def test_a_missing_factory_is_a_sentence(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    assert "mine has no nothing" in active.layers(ask(model="mine:nothing")).summary
    assert "names no factory" in active.layers(ask(model="mine")).summary
    assert "'3xx' is no shape" in active.layers(ask(model="mine:sound", shape="3xx")).summary


def test_kernels_without_a_gpu_say_what_is_missing(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.kernels(ask())
    assert found.status in {"not-available", "refuted", "confirmed"}
    assert "torch" in found.summary or "kernels" in found.summary


@pytest.mark.gpu
def test_kernels_run_on_a_real_card(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    found = active.kernels(ask())
    if found.status == "not-available":
        pytest.skip(found.summary)
    assert found.status == "refuted"


def test_options_that_are_missing_are_asked_for() -> None:
    for probe in (active.samples, active.layers, active.model_memory):
        assert probe(case(here())).status == "not-run"


def test_no_torch_is_an_answer(bare: Path, tmp_path: Path) -> None:
    machine = here(python=str(bare / "bin/python"), cwd=str(tmp_path), environ=dict(os.environ))
    for probe, options in ((active.kernels, {}), (active.layers, {"model": "a:b"}), (active.allreduce, {})):
        found = probe(case(machine, options={"timeout": 30.0, **options}))
        assert found.status == "not-available", found


@pytest.mark.gpu
def test_memory_on_a_real_card_is_the_allocators(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    if active.kernels(ask()).status == "not-available":
        pytest.skip("no card, or a torch without CUDA")
    data = active.model_memory(ask(model="mine:sound", batch=256, budget=256 << 20)).data
    weights = 4 * (256 * 512 + 512 + 512 * 10 + 10)
    assert (data["device"], data["parameters"]) == ("cuda", weights)
    assert data["peak"] >= data["parameters"] + data["optimizer"] + data["input"]
    assert data["activations"] >= data["saved_for_backward"] > 0
    assert data["largest_measured"] > 0


@pytest.mark.gpu
def test_two_real_cards_reduce_over_nccl(ask) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    if len(nvml.read().gpus) < 2:
        pytest.skip("needs two cards")
    found = active.allreduce(ask())
    assert found.status == "refuted", found
    assert found.data["nccl"]["backend"] == "nccl"


@pytest.mark.parametrize(
    ("content", "classes", "kinds"),
    [
        ("x,label\n1,0\n2,1\n3,7\n", 3, {"label": [2]}),
        ("x,label\n1,0\n2,-1\n", 2, {"label": [1]}),
        ("x,label\n1,0\nnan,1\n,1\n", 2, {"nonfinite": [1, 2]}),
        ("x,label\n1,0\n2,1,9\n", 2, {"fields": [1]}),
        ("x,label\n1,cat\n2,dog\n", 2, {}),
        ("x\ty\n1\t0\n", 2, {}),
    ],
)
def test_bad_rows_of_a_table_by_index(tmp_path: Path, content: str, classes: int, kinds: dict[str, list[int]]) -> None:
    """No torch is needed: the standard library reads tables."""
    name = "data.tsv" if "\t" in content else "data.csv"
    (tmp_path / name).write_text(content)
    found = active.samples(case(here(cwd=str(tmp_path), environ=dict(os.environ)), options={"dataset": name, "classes": classes, "timeout": 60.0}))
    assert {kind: [item["index"] for item in listed] for kind, listed in found.data["bad"].items()} == kinds
    assert found.status == ("confirmed" if kinds else "refuted"), found


def test_truncated_and_foreign_images_of_a_folder(tmp_path: Path) -> None:
    """Without a decoder by the marks at both ends; with Pillow by decoding."""
    pixel = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"
    )
    for path, data in {"a/fine.png": pixel, "a/cut.png": pixel[:40], "b/page.jpg": b"<html>", "b/none.png": b"", "b/notes.txt": b"x"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    found = active.samples(case(here(cwd=str(tmp_path), environ=dict(os.environ)), options={"dataset": str(tmp_path), "timeout": 60.0}))
    assert found.status == "confirmed"
    assert sorted(item["index"] for item in found.data["bad"]["unreadable"]) == ["a/cut.png", "b/none.png", "b/page.jpg"]
    assert found.data["read"] == 4
