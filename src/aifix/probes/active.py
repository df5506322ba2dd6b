"""The active probes: they run scripts in the target interpreter, and judge what these say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aifix.probes import memory, nvml, runner
from aifix.probes.disk import absolute
from aifix.probes.finding import Case, Finding, absent, confirmed, not_run, refuted, unclear
from aifix.reason.expressions import size

if TYPE_CHECKING:
    from aifix.probes.runner import Answer

COURSE = 4.0
"""Powers of ten between the relative gradients of the first and the last layers from which they explode or vanish: fp16 spans twelve in all."""
HUGE = 1e6
"""Norm of all gradients, of a loss that is the mean square of the outputs, from which they are too large for any usual learning rate."""
SAFE_SHARE = 0.5
"""Share of the free host memory that a measuring script may take."""
OVERFLOW = "overflow in fp16 that bf16 would not have"
KINDS = {
    "label": "labels out of range",
    "shape": "samples of another shape",
    "nonfinite": "samples with nan, inf or no value",
    "unreadable": "samples that cannot be read",
    "none": "samples that are None",
    "fields": "lines with another number of fields",
    "pickle": "the dataset cannot be pickled, which spawned workers need",
    "worker": "a spawned worker does not start",
}


def kernels(case: Case) -> Finding:
    """Run small work on every GPU."""
    answer = _ask(case, "kernels", {})
    bad = _unusable(answer)
    if bad is not None:
        return bad
    said = answer.said
    version = f"torch {said.get('version')}"
    if answer.how != "answered":
        return confirmed(f"{_how(answer)} during: {answer.stage}", said, _tail(answer))
    reading = nvml.of(case.machine)
    if not said.get("built") and not said.get("hip"):
        if reading.gpus:
            return confirmed(f"{version} was built without CUDA, and the driver has {len(reading.gpus)} GPUs: the build is to blame", said)
        return absent(f"{version} was built without CUDA, and there is no GPU here", said)
    if not said.get("available"):
        blame = "the driver is to blame" if reading.problem else "the driver itself answers, so the process's environment or the build is to blame"
        return confirmed(
            f"CUDA does not start in {version}: {said.get('reason') or 'no device'} ({blame})", said, [reading.problem] if reading.problem else []
        )
    failures = [f"GPU {one['device']} {name}: {error}" for one in said.get("devices", ()) for name, error in one["steps"].items() if error]
    for one in said.get("devices", ()):
        sm = one["capability"][0] * 10 + one["capability"][1]
        known = [int(name.rsplit("_", 1)[1].rstrip("af")) for name in said.get("architectures", ()) if name.startswith("sm_")]
        if known and not any(number // 10 == sm // 10 and number <= sm for number in known):
            failures.insert(0, f"{version} has no code for {one['name']} (sm_{sm}): the build is to blame")
    if failures:
        return confirmed(failures[0], said, failures[1:])
    names = ", ".join(one["name"] for one in said.get("devices", ()))
    return refuted(f"kernels, matrix products and a convolution run on {names}", said)


def allreduce(case: Case) -> Finding:
    """Let two ranks reduce over gloo, and over NCCL where there are two GPUs."""
    gpus = len(nvml.of(case.machine).gpus)
    found = _allreduce(case, "gloo")
    if found.status != "refuted" or gpus < 2:
        return found
    nccl = _allreduce(case, "nccl")
    data = {"gloo": found.data, "nccl": nccl.data}
    if nccl.status != "refuted":
        return Finding(nccl.status, nccl.summary, data, (*nccl.evidence, found.summary))
    return refuted(f"{found.summary}; {nccl.summary}", data)


def _allreduce(case: Case, backend: str) -> Finding:
    limit = float(case.options.get("timeout", 60.0))
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    answer = _ask(case, "allreduce", {"backend": backend, "limit": limit, "skip": bool(case.options.get("skip"))}, launcher=launcher)
    if answer.how in {"crashed", "answered"} and "No module named 'torch'" in answer.stderr:
        return absent(f"torch is not installed in {case.machine.target.python}")
    bad = _unusable(answer)
    if bad is not None:
        return bad
    if answer.how == "answered" and answer.said.get("done") and not answer.error:
        best = max(answer.said["measured"], key=lambda item: int(item["bytes"]))
        speed = f"{size(best['bytes'])} in {best['seconds'] * 1000:.1f} ms, {size(best['bytes_per_second'])}/s"
        return refuted(f"two ranks reduce over {backend}: {speed}", answer.said)
    if answer.how == "answered" or answer.error:
        return confirmed(f"{answer.error or _how(answer)} (during: {answer.stage})", answer.said, _tail(answer))
    return confirmed(f"{_how(answer)} during: {answer.stage or 'the start of two ranks by torchrun'}", answer.said, _tail(answer))


def samples(case: Case) -> Finding:
    """Read a dataset."""
    dataset = str(case.options.get("dataset", ""))
    if not dataset:
        return not_run("it reads a dataset: name one with --dataset pkg.module:factory, a csv file or a folder of images")
    if ":" not in dataset:
        dataset = absolute(case, dataset)
    request = {"dataset": dataset, "classes": case.options.get("classes"), "samples": case.options.get("samples", 2000)}
    answer = _ask(case, "samples", request)
    bad = _unusable(answer)
    if bad is not None:
        return bad
    said, counts = answer.said, answer.said.get("counts", {})
    evidence = [
        f"{kind} {item['index'] if item['index'] is not None else ''}: {item['detail']}".replace(" :", ":")
        for kind, listed in said.get("bad", {}).items()
        for item in listed[:5]
    ]
    read = f"{said.get('read', 0):,} of {said['length']:,} samples" if said.get("length") else f"{said.get('read', 0):,} samples"
    if counts:
        parts = []
        for kind, count in counts.items():
            indices = [str(item["index"]) for item in said["bad"][kind] if item["index"] is not None]
            more = f" and {count - len(indices[:8])} more" if count > len(indices[:8]) else ""
            parts.append(KINDS.get(kind, kind) + (f" at {', '.join(indices[:8])}{more}" if indices else ""))
        return confirmed(f"{'; '.join(parts)} ({read} were read)", said, evidence)
    if answer.how != "answered" or answer.error:
        return confirmed(f"{answer.error or _how(answer)} (during: {answer.stage})", said, _tail(answer))
    labels = said.get("labels")
    span = f"; labels {labels['least']:g} to {labels['most']:g}" if labels else ""
    if labels and said.get("classes") is None:
        return unclear(f"{read} are well{span}; how many classes there are is not known (--classes N)", said)
    return refuted(f"{read} are well{span}" + (f", of {said['classes']} classes" if said.get("classes") else ""), said)


def layers(case: Case) -> Finding:
    """Look for the first layer that yields nan or inf."""
    model = str(case.options.get("model", ""))
    if not model:
        return not_run("it runs a model: name one with --model pkg.module:factory (and --input 3x224x224)")
    answer = _ask(case, "layers", {"model": model, "shape": case.options.get("shape", ""), "batch": case.options.get("batch", 8)}, bounded=True)
    bad = _unusable(answer)
    if bad is not None:
        return bad
    said = answer.said
    if answer.how != "answered" or answer.error:
        place = f" at {said['place']}" if said.get("place") else ""
        return confirmed(f"{answer.error or _how(answer)}{place} (during: {answer.stage})", said, _tail(answer))
    return _judge_layers(said)


def _judge_layers(said: dict[str, Any]) -> Finding:
    fp32, fp16, bf16 = (said.get(name) or {} for name in ("fp32", "fp16", "bf16"))
    gradients = said.get("gradients") or {}
    evidence = _gradient_lines(gradients)
    data = {**said, "gradients": {**gradients, "by_parameter": gradients.get("by_parameter", [])[:50]}}
    if said.get("input_nonfinite"):
        return confirmed(f"the batch itself has {said['input_nonfinite']} nan or inf values", data, evidence)
    if said.get("nonfinite_parameters"):
        return confirmed(f"the parameter {said['nonfinite_parameters'][0]} is nan or inf before the model runs", data, evidence)
    if fp32.get("first"):
        return confirmed(f"in fp32 {_layer(fp32['first'])}", data, evidence)
    if gradients.get("nonfinite"):
        return confirmed(f"the gradient of {gradients['nonfinite'][0]} is nan or inf, though every output is finite", data, evidence)
    if fp16.get("first"):
        fine = not bf16.get("first") and not bf16.get("not_run")
        tail = f": {OVERFLOW}" if fine else ""
        largest = next((one for one in fp32.get("over_fp16", ())), None)
        if largest:
            evidence.insert(0, f"in fp32 {largest['layer']} reaches {_number(largest['largest'])}; fp16 ends at 65,504")
        return confirmed(f"in fp16 {_layer(fp16['first'])}{tail}", data, evidence)
    if fp16.get("not_run") and fp32.get("over_fp16"):
        one = fp32["over_fp16"][0]
        return confirmed(f"{one['layer']} reaches {_number(one['largest'])}, beyond fp16's 65,504: {OVERFLOW}", data, evidence)
    course = _number_of(gradients.get("course", 0))
    if abs(course) > COURSE:
        first, last = gradients["course_ends"]
        norms = f"from {_number(gradients['course_norms'][1])} at {last} to {_number(gradients['course_norms'][0])} at {first}"
        what = "explode" if course > 0 else "vanish"
        factor = f"by a factor of {_number(gradients['course_per_layer'])} a layer"
        return confirmed(f"every layer's output is finite, and the gradients {what} on their way back: {norms}, {factor}", data, evidence)
    if _number_of(gradients.get("total", 0)) > HUGE:
        return confirmed(f"every layer's output is finite, and the gradients are huge: their norm is {_number(gradients['total'])}", data, evidence)
    summary = f"every layer's output is finite in fp32, fp16 and bf16; gradient norm {_number(gradients.get('total', 0))}"
    if gradients.get("zero"):
        count = len(gradients["zero"])
        return unclear(f"{summary}; {count} parameter{'s get' if count > 1 else ' gets'} a gradient of exactly 0 (a dead layer?)", data, evidence)
    return refuted(summary, data, evidence)


def _layer(first: dict[str, Any]) -> str:
    what = " and ".join(f"{first[name]:,} {name}" for name in ("nan", "inf") if first.get(name))
    after = f" after {first['after']}" if first.get("after") else ""
    if first.get("own_code"):
        return f"the code of {first['layer']} ({first['kind']}) itself yields {what}{after}: every layer in it is finite"
    whence = "" if first.get("input_clean", True) else f"; its input was so already, so code between the layers{after} made it"
    return f"{first['layer']} ({first['kind']}, the {_ordinal(int(first['number']) + 1)} layer to run) is the first that yields {what}{whence}"


def _gradient_lines(gradients: dict[str, Any]) -> list[str]:
    norms = [one for one in gradients.get("by_parameter", ()) if not isinstance(one["norm"], str)]
    norms.sort(key=lambda one: one["norm"])
    found = []
    if len(norms) > 1:
        low, high = norms[0], norms[-1]
        found.append(f"gradient norms from {_number(low['norm'])} ({low['parameter']}) to {_number(high['norm'])} ({high['parameter']})")
    if gradients.get("zero"):
        found.append(f"{len(gradients['zero'])} parameters have a gradient of exactly 0: {', '.join(gradients['zero'][:4])}")
    if gradients.get("without"):
        found.append(f"{len(gradients['without'])} parameters took no part in the loss: {', '.join(gradients['without'][:4])}")
    return found


def model_memory(case: Case) -> Finding:
    """Measure a model's memory."""
    model = str(case.options.get("model", ""))
    if not model:
        return not_run("it measures a model: name one with --model pkg.module:factory (and --input 3x224x224)")
    machine = case.machine
    reading = nvml.of(machine)
    figures = memory.meminfo(machine)
    free = figures.get("MemAvailable", 0)
    budget = case.options.get("budget") or max((gpu.free or 0 for gpu in reading.gpus), default=0) or free
    request = {
        "model": model,
        "shape": case.options.get("shape", ""),
        "batch": case.options.get("batch", 8),
        "optimizer": case.options.get("optimizer", "adam"),
        "budget": budget,
        "safe": int(free * SAFE_SHARE * 0.8) or None,
    }
    answer = _ask(case, "model_memory", request, bounded=True)
    bad = _unusable(answer)
    if bad is not None:
        return bad
    said = answer.said
    if "activations" not in said:
        place = f" at {said['place']}" if said.get("place") else ""
        return confirmed(f"{answer.error or _how(answer)}{place} (during: {answer.stage})", said, _tail(answer))
    parts = ("parameters", "gradients", "optimizer", "activations", "input")
    total = sum(int(said[name]) for name in (*parts, "buffers"))
    evidence = [f"{name} {size(said[name])} ({said[name] / max(1, total):.0%})" for name in parts]
    summary = f"a batch of {said['batch']} takes {size(total)}"
    if said.get("per_sample"):
        evidence.append(f"each further sample takes {size(said['per_sample'])}")
    whose = "the GPU's free memory" if reading.gpus else "this host's free memory"
    largest = said.get("largest_measured") or 0
    line = said.get("largest_by_line")
    if line is not None:
        measured = f"measured up to {largest:,}" if largest else "none was measured to fit"
        evidence.append(f"into {size(budget)} ({whose}) about {line:,} samples fit by the fitted line; {measured}")
    if answer.how != "answered" or answer.error:
        evidence.append(f"not finished: {answer.error or _how(answer)} during: {answer.stage}")
    said["total"] = total
    if total > budget:
        return confirmed(f"{summary}, more than {whose} of {size(budget)}", said, evidence)
    return refuted(f"{summary}; {size(budget)} are free", said, evidence)


def _ask(case: Case, script: str, request: dict[str, Any], *, launcher: tuple[str, ...] = (), bounded: bool = False) -> Answer:
    limit = float(case.options.get("timeout", 60.0))
    request = {"limit": limit, **request}
    if bounded:
        free = memory.meminfo(case.machine).get("MemAvailable", 0)
        if free and not nvml.of(case.machine).gpus:
            request["memory_limit"] = max(int(free * SAFE_SHARE), 1 << 30)
    return runner.ask(case.machine, script, request, limit=limit, launcher=launcher)


def _unusable(answer: Answer) -> Finding | None:
    """Answer for a script that could not do its work at all."""
    if answer.how == "not-started":
        return absent(answer.error)
    if answer.error.startswith(("torch cannot be imported", "this torch was built without")):
        return absent(answer.error)
    return None


def _how(answer: Answer) -> str:
    if answer.how == "timeout":
        return f"no answer within {answer.seconds:.0f} s, so it was ended,"
    return f"it ended early ({answer.error or 'without an answer'})"


def _tail(answer: Answer) -> list[str]:
    lines = [line.strip() for line in answer.stderr.splitlines() if line.strip()]
    return lines[-6:]


def _number_of(value: Any) -> float:
    return float(value) if not isinstance(value, str) else float("inf")


def _number(value: Any) -> str:
    return f"{_number_of(value):.3g}"


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
