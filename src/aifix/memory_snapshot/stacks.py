"""The stacks of allocations, each kept once, and what kind of memory each allocated."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aifix.intake.tracebacks import foremost, is_user

Kind = Literal["parameters", "gradients", "optimizer", "activations", "input", "communication", "workspace", "other", "unknown"]
KINDS: tuple[Kind, ...] = ("parameters", "gradients", "optimizer", "activations", "input", "communication", "workspace", "other", "unknown")
FRAMES = 200
"""Frames kept of a stack."""
MOST = 200_000
"""Different stacks that are told apart; those beyond count as without a stack."""
TEXT = 1000

_NOISE_FUNCTIONS = (
    "unwind::unwind",
    "CapturedTraceback::gather",
    "gather_with_cpp",
    "_start",
    "__libc_start",
    "PyEval_",
    "PyObject_",
    "_PyObject_",
    "PyFunction_",
)
_NOISE_FILES = (
    "core/boxing",
    "/Register",
    "/Redispatch",
    "pythonrun.c",
    "Modules/main.c",
    "Objects/call.c",
    "Objects/methodobject.c",
    "ceval.c",
    "cpython/abstract.h",
)
"""Frames that tell nothing, as `torch.cuda._memory_viz` leaves them out."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One frame; `user` tells the user's code from a library's."""

    file: str
    line: int
    function: str
    user: bool


class Stack(msgspec.Struct, frozen=True):
    """A stack, innermost frame first, and the kind of memory that it allocates."""

    frames: tuple[Frame, ...]
    kind: Kind

    @property
    def place(self) -> Frame | None:
        """The innermost frame of the user's own code; the innermost of all where none is."""
        return foremost(self.frames)


NO_STACK = Stack((), "unknown")


class Stacks:
    """All stacks of a snapshot by number; 0 is the one that is not known."""

    def __init__(self) -> None:
        self.all: list[Stack] = [NO_STACK]
        self._by_list: dict[int, int] = {}
        self._by_frames: dict[tuple[int, ...], int] = {}
        self._by_value: dict[tuple[Frame, ...], int] = {(): 0}
        self._frames: dict[int, Frame | None] = {}

    def number(self, frames: Any) -> int:
        """Give the number of a stack as it stands in the snapshot, where equal frames are mostly the same object."""
        if not isinstance(frames, list) or not frames:
            return 0
        found = self._by_list.get(id(frames))
        if found is None:
            key = tuple(map(id, frames[:FRAMES]))
            found = self._by_frames.get(key)
            if found is None:
                found = self._by_frames[key] = self._new(frames)
            self._by_list[id(frames)] = found
        return found

    def _new(self, frames: list[Any]) -> int:
        kept = tuple(frame for one in frames[:FRAMES] if (frame := self._frame(one)) is not None)
        found = self._by_value.get(kept)
        if found is None:
            if len(self.all) >= MOST:
                return 0
            found = self._by_value[kept] = len(self.all)
            self.all.append(Stack(kept, kind_of(kept)))
        return found

    def _frame(self, frame: Any) -> Frame | None:
        if id(frame) in self._frames:
            return self._frames[id(frame)]
        found = None
        if isinstance(frame, dict):
            file, function, line = frame.get("filename"), frame.get("name"), frame.get("line")
            file = file[:TEXT] if isinstance(file, str) else ""
            function = function[:TEXT] if isinstance(function, str) else ""
            if not (any(part in function for part in _NOISE_FUNCTIONS) or any(part in file for part in _NOISE_FILES)):
                user = is_user(file, function) and file.endswith((".py", ">")) and "??" not in file
                found = Frame(file, line if isinstance(line, int) and 0 <= line < 1 << 31 else 0, function, user)
        self._frames[id(frame)] = found
        return found

    def settle(self) -> None:
        """Forget the objects that the stacks came from: they are about to go, and others may take their places in memory."""
        self._by_list.clear()
        self._by_frames.clear()
        self._frames.clear()


_OPTIMIZERS = (
    "/torch/optim/",
    "/deepspeed/ops/adam",
    "/deepspeed/runtime/zero/",
    "/bitsandbytes/optim/",
    "/apex/optimizers/",
    "/transformer_engine/pytorch/optimizers/",
)
_BACKWARD_FILES = ("/torch/autograd/__init__.py", "/torch/autograd/graph.py", "/torch/_tensor.py")
_BACKWARD_CPP = ("torch::autograd::Engine", "torch::autograd::AccumulateGrad", "torch::autograd::generated", "evaluate_function")
_COMMUNICATION = ("/torch/distributed/", "/deepspeed/comm/")
_COMMUNICATION_CPP = ("c10d::", "ncclComm", "ProcessGroupNCCL")
_INPUT = ("/torch/utils/data/", "/datasets/", "/torchvision/transforms/", "/webdataset/", "data_loader.py", "dataloader.py", "collate")
_LOADING = (
    "/torch/serialization.py",
    "/safetensors/",
    "/torch/nn/init.py",
    "/torch/nn/parameter.py",
    "modeling_utils.py",
    "/accelerate/utils/modeling.py",
)
_MODULE = "/torch/nn/modules/module.py"
_MOVING = frozenset({"_apply", "to", "cuda", "convert", "to_empty", "half", "bfloat16", "float", "load_state_dict", "_load_from_state_dict", "load"})
_WORKSPACE = ("Workspace", "workspace", "cudnn_frontend", "getCurrentCUDABlasHandle", "CuDNNHandle", "cublasLt")


def kind_of(frames: tuple[Frame, ...]) -> Kind:
    """Tell what kind of memory a stack allocates, by the library code in it.

    A guess by names, as good as the stack: state that an optimizer makes in its step is told by its file, a gradient by autograd's entry, a parameter
    by the module's constructor, its move to the device, or a loader; what a module computes is an activation.
    """
    if not frames:
        return "unknown"
    files = [frame.file.replace("\\", "/") for frame in frames]
    functions = [frame.function for frame in frames]
    if any(part in file for file in files for part in _OPTIMIZERS):
        return "optimizer"
    if any(part in function for function in functions for part in _WORKSPACE):
        return "workspace"
    if any(part in function for function in functions for part in _COMMUNICATION_CPP) or any(
        part in file for file in files[:8] for part in _COMMUNICATION
    ):
        return "communication"
    in_module = any(
        file.endswith(_MODULE) and function in {"_call_impl", "_wrapped_call_impl"} for file, function in zip(files, functions, strict=True)
    )
    backward = any(
        file.endswith(_BACKWARD_FILES) and function in {"backward", "_engine_run_backward", "grad"}
        for file, function in zip(files, functions, strict=True)
    ) or any(part in function for function in functions for part in _BACKWARD_CPP)
    if backward:
        recomputed = in_module and any(file.endswith("/torch/utils/checkpoint.py") for file in files)
        return "activations" if recomputed else "gradients"
    if any(part in file for file in files for part in _LOADING) or any(
        file.endswith(_MODULE) and function in _MOVING for file, function in zip(files, functions, strict=True)
    ):
        return "parameters"
    if any("/torch/nn/modules/" in file and function in {"__init__", "reset_parameters"} for file, function in zip(files, functions, strict=True)):
        return "parameters"
    if in_module or any(function == "forward" for function in functions) or any("/torch/nn/functional.py" in file for file in files):
        return "activations"
    if any(part in file for file in files for part in _INPUT) or any(function in {"pin_memory", "to_device", "collate_fn"} for function in functions):
        return "input"
    if any("torch::" in function or "at::" in function for function in functions) and not any(frame.user for frame in frames):
        return "unknown"
    return "other"
