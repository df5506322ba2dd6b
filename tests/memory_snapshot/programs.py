"""Programs whose allocations are played to the allocator: what a training run does, well and ill, with the stacks that torch would record."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tests.memory_snapshot.allocator import GIB, MIB, SITE, Allocator, OutOfMemoryError, frame

if TYPE_CHECKING:
    from collections.abc import Callable

TRAIN = "/home/user/train.py"
MODEL = "/home/user/model.py"
MAIN = frame("<module>", TRAIN, 90)
MODULE = [frame("_call_impl", f"{SITE}/nn/modules/module.py", 1784), frame("_wrapped_call_impl", f"{SITE}/nn/modules/module.py", 1773)]
LAYERS = 6


def forward(layer: int) -> list[dict[str, Any]]:
    return [
        frame("forward", f"{SITE}/nn/modules/linear.py", 125),
        *MODULE,
        frame("forward", MODEL, 30 + layer),
        *MODULE,
        frame("step", TRAIN, 40),
        MAIN,
    ]


MOVE = [
    frame("convert", f"{SITE}/nn/modules/module.py", 1355),
    frame("_apply", f"{SITE}/nn/modules/module.py", 915),
    frame("to", f"{SITE}/nn/modules/module.py", 1369),
    MAIN,
]
STATE = [
    frame("_init_group", f"{SITE}/optim/adam.py", 180),
    frame("step", f"{SITE}/optim/adam.py", 235),
    frame("wrapper", f"{SITE}/optim/optimizer.py", 512),
    frame("step", TRAIN, 46),
    MAIN,
]
BATCH = [frame("to_device", TRAIN, 22), frame("step", TRAIN, 38), MAIN]
LOSS = [frame("cross_entropy", f"{SITE}/nn/functional.py", 3462), frame("step", TRAIN, 41), MAIN]
BACKWARD = [
    frame("_engine_run_backward", f"{SITE}/autograd/graph.py", 829),
    frame("backward", f"{SITE}/autograd/__init__.py", 353),
    frame("backward", f"{SITE}/_tensor.py", 648),
    frame("step", TRAIN, 44),
    MAIN,
]
KEPT = [frame("log_outputs", TRAIN, 55), frame("step", TRAIN, 48), MAIN]
GRAPH_POOL = (0, 1)


class Training:
    """A model of six layers with Adam."""

    def __init__(self, *, capacity: int = 24 * GIB, record_frames: bool = True, layer: int = 16 * MIB, activation: int = 12 * MIB) -> None:
        self.memory = Allocator(capacity, record_frames=record_frames)
        self.layer, self.activation = layer, activation
        self.parameters = [self.memory.malloc(layer, MOVE) for _ in range(LAYERS)]
        self.state: list[int] = []

    def step(self, *, batch: float = 1.0, keep: tuple[str, ...] = ()) -> None:
        """Do one step; `keep` names what it fails to let go: `loss`, `graph`, `output`."""
        memory = self.memory
        inputs = memory.malloc(int(4 * MIB * batch), BATCH)
        activations = [memory.malloc(int(self.activation * batch), forward(layer)) for layer in range(LAYERS)]
        loss = memory.malloc(4, LOSS)
        gradients = []
        for layer in reversed(range(LAYERS)):
            gradients.append(memory.malloc(self.layer, BACKWARD))
            if "graph" not in keep:
                memory.free(activations[layer], BACKWARD)
        if not self.state:
            self.state = [memory.malloc(self.layer, STATE) for _ in range(2 * LAYERS)]
        if "output" in keep:
            memory.malloc(3 * MIB, KEPT)
        for gradient in gradients:
            memory.free(gradient)
        if "graph" not in keep:
            memory.free(inputs)
        if not {"loss", "graph"} & set(keep):
            memory.free(loss)


def healthy() -> Allocator:
    training = Training()
    for _ in range(60):
        training.step()
    return training.memory


def kept_outputs() -> Allocator:
    """outputs.append(out) in every step."""
    training = Training()
    for _ in range(60):
        training.step(keep=("output",))
    return training.memory


def retained_graph() -> Allocator:
    """total_loss += loss: the graph of every step stays."""
    training = Training()
    for _ in range(60):
        training.step(keep=("graph",))
    return training.memory


def without_stacks() -> Allocator:
    training = Training(record_frames=False)
    for _ in range(60):
        training.step(keep=("output",))
    return training.memory


def too_large() -> Allocator:
    """A batch that does not fit, in the middle of a forward pass."""
    training = Training(capacity=1 * GIB)
    for _ in range(5):
        training.step()
    with contextlib.suppress(OutOfMemoryError):
        training.step(batch=16)
    return training.memory


def leak_to_the_end() -> Allocator:
    """A leak that ends the run."""
    training = Training(capacity=1 * GIB)
    with contextlib.suppress(OutOfMemoryError):
        for _ in range(1000):
            training.step(keep=("output",))
    return training.memory


def fragmented() -> Allocator:
    """Every second block of a full card is freed: half of it is free, and nothing large fits."""
    memory = Allocator(capacity=2 * GIB)
    blocks = [memory.malloc(5 * MIB, forward(at % LAYERS)) for at in range(400)]
    for block in blocks[::2]:
        memory.free(block)
    with contextlib.suppress(OutOfMemoryError):
        memory.malloc(256 * MIB, forward(0))
    return memory


def graphs() -> Allocator:
    """A CUDA graph's private pool beside ordinary memory."""
    training = Training()
    training.step()
    memory = training.memory
    memory.pool = GRAPH_POOL
    blocks = [memory.malloc(30 * MIB, forward(at)) for at in range(LAYERS)]
    for block in blocks[1:]:
        memory.free(block)
    memory.pool = (0, 0)
    training.step()
    return memory


PROGRAMS: dict[str, Callable[[], Allocator]] = {
    program.__name__: program for program in (healthy, kept_outputs, retained_graph, without_stacks, too_large, leak_to_the_end, fragmented, graphs)
}
