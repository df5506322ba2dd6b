"""What every probe script shares: the request, the answer, limits. Standard library only, Python 3.8 and later.

Scripts are run by the target's interpreter, apart from aifix: a request in AIFIX_REQUEST, answers as JSON lines appended to
the file AIFIX_ANSWERS, so that a script that hangs or dies has still said how far it came.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import sys
import traceback
from typing import Any, Callable, Dict

Request = Dict[str, Any]


def say(**fields: Any) -> None:
    """Append one answer."""
    with open(os.environ["AIFIX_ANSWERS"], "a", encoding="utf-8") as stream:
        stream.write(json.dumps(_plain(fields), default=str) + "\n")


def stage(name: str) -> None:
    """Say what comes next."""
    say(stage=name)


def _plain(value: Any) -> Any:
    """Make a value plain JSON: nan and inf become texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


class Refusal(Exception):  # noqa: N818 - it is an answer, not an error
    """The script cannot answer, and says why in a sentence."""


def main(function: Callable[[Request], None]) -> None:
    """Run a script's function; whatever it raises is said in one sentence with its place."""
    here = os.path.dirname(os.path.abspath(__file__))
    # the user's modules first, ours last: a spawned worker imports this file again
    sys.path[:] = [os.getcwd(), *[entry for entry in sys.path if os.path.abspath(entry or ".") != here], here]
    request = json.loads(os.environ["AIFIX_REQUEST"])
    _restrain(request.get("memory_limit"))
    try:
        function(request)
    except Refusal as refusal:
        say(error=str(refusal))
    except BaseException as error:
        say(error=sentence(error), kind=type(error).__name__, place=place(error))


def _restrain(limit: Any) -> None:
    """Let the kernel end this process before any other, and bound its memory."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
            stream.write("1000")
    except OSError:
        pass
    if limit:
        try:
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (int(limit), resource.getrlimit(resource.RLIMIT_DATA)[1]))
        except (ImportError, ValueError, OSError, AttributeError):
            pass


def sentence(error: BaseException) -> str:
    """Say an exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:600]}" if text else type(error).__name__


def place(error: BaseException) -> str:
    """Give file and line of the innermost frame outside of installed packages and this folder."""
    here = os.path.dirname(os.path.abspath(__file__))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(here)]
    own = [frame for frame in frames if "site-packages" not in frame.filename and not frame.filename.startswith("<")]
    chosen = (own or frames)[-1:]
    return f"{chosen[0].filename}:{chosen[0].lineno}" if chosen else ""


def load(spec: str) -> Any:
    """Import what `pkg.module:name` or `path/file.py:name` names, and call it when it can be called without arguments."""
    module_name, colon, name = spec.rpartition(":")
    if not colon:
        raise Refusal(f"{spec!r} names no factory: write it as pkg.module:factory or file.py:factory")
    if module_name.endswith(".py"):
        path = os.path.abspath(module_name)
        found = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
        if found is None or found.loader is None or not os.path.exists(path):
            raise Refusal(f"there is no file {path}")
        sys.path.insert(0, os.path.dirname(path))
        module = importlib.util.module_from_spec(found)
        sys.modules[found.name] = module
        found.loader.exec_module(module)
    else:
        module = importlib.import_module(module_name)
    try:
        value = getattr(module, name)
    except AttributeError:
        raise Refusal(f"{module_name} has no {name}") from None
    return value


def build(spec: str) -> Any:
    """Import a factory and call it; what is no class or function is given as it is."""
    value = load(spec)
    return value() if isinstance(value, type) or (callable(value) and not hasattr(value, "forward")) else value


def need_torch() -> Any:
    """Import torch, or say that this interpreter has none."""
    stage("import torch")
    try:
        import torch
    except ImportError as error:
        raise Refusal("torch cannot be imported by {}: {}".format(sys.executable, " ".join(str(error).split())[:300])) from None
    return torch


def built(torch: Any, request: Request) -> Any:
    """Give the model that the request names, the same one every time, and the batch that its factory made with it (None without)."""
    torch.manual_seed(0)
    stage("build the model {}".format(request["model"]))
    model = build(str(request["model"]))
    return model if isinstance(model, tuple) else (model, None)


def batch_of(torch: Any, request: Request, size: int, model: Any = None) -> Any:
    """Make a batch: by the factory or shape that was given, or fitting the model's first layer."""
    wanted = str(request.get("shape") or "")
    if ":" in wanted and "<" not in wanted:
        made = load(wanted)
        try:
            return made(size) if callable(made) else made
        except TypeError:
            return made()
    shape, _, kind = wanted.partition(":")
    parts = [part.strip() for part in shape.replace(",", "x").split("x")] if shape.strip() else []
    if not all(part.isdigit() and int(part) for part in parts):
        raise Refusal(f"'{shape}' is no shape: write the sizes of one sample, as 3x224x224")
    numbers = [int(part) for part in parts]
    if not numbers and model is not None:
        numbers, kind = _guess(torch, model)
    if not numbers:
        raise Refusal("the shape of one sample is not known: give it as --input 3x224x224 (or --input 128:int<32000 for token numbers)")
    generator = torch.Generator().manual_seed(0)
    if kind.startswith("int"):
        return torch.randint(0, int(kind.partition("<")[2] or 2), (size, *numbers), generator=generator)
    return torch.randn(size, *numbers, generator=generator)


def _guess(torch: Any, model: Any) -> Any:
    """Guess the shape of one sample from the first layer that has one."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            return [module.in_features], ""
        if isinstance(module, torch.nn.Embedding):
            return [32], f"int<{module.num_embeddings}"
        if isinstance(module, torch.nn.Conv2d):
            return [module.in_channels, 64, 64], ""
        if isinstance(module, torch.nn.Conv1d):
            return [module.in_channels, 256], ""
    return [], ""


def tensors_in(torch: Any, value: Any) -> list[Any]:
    """Give the tensors in what a model takes or gives."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [item for part in value.values() for item in tensors_in(torch, part)]
    if isinstance(value, (tuple, list)):
        return [item for part in value for item in tensors_in(torch, part)]
    return []


def run_model(model: Any, batch: Any) -> Any:
    """Call a model on a batch: a tensor, a tuple of arguments or a dictionary of them."""
    if isinstance(batch, dict):
        return model(**batch)
    return model(*batch) if isinstance(batch, (tuple, list)) else model(batch)


def loss_of(torch: Any, output: Any) -> Any:
    """Give a number to run backward from: the output's own loss, or the mean square of its tensors."""
    if getattr(output, "loss", None) is not None:
        return output.loss
    found = []
    waiting = [output]
    while waiting:
        item = waiting.pop()
        if isinstance(item, torch.Tensor):
            if item.is_floating_point() and item.requires_grad:
                found.append(item.float().pow(2).mean())
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, (tuple, list)):
            waiting.extend(item)
    if not found:
        raise Refusal("the model's output has no tensor to run backward from")
    return sum(found[1:], found[0])
