"""Record this machine's NVML answers as a fixture, call by call: python tests/probes/nvml/record.py [NAME].

It writes tests/probes/nvml/NAME.json (by default named after the card), in the form from which tests/probes/parts.py answers.
Serial numbers are not asked for; UUIDs and process ids are replaced. `make test-gpu` runs it where a GPU is.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
from pathlib import Path
from typing import Any

LINKS = 36
PLAIN = ("nvmlDeviceGetName", "nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetRemappedRows", "nvmlDeviceGetPersistenceMode", "nvmlDeviceGetMigMode",
         "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetComputeMode",
         "nvmlDeviceGetCurrPcieLinkWidth", "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkGeneration")  # fmt: skip
FIELDS = {
    "nvmlDeviceGetMemoryInfo": ("total", "used", "free"),
    "nvmlDeviceGetUtilizationRates": ("gpu", "memory"),
    "nvmlDeviceGetPciInfo": ("busId",),
}
NUMBERED = {"nvmlDeviceGetTotalEccErrors": ((1, 0), (1, 1)), "nvmlDeviceGetTemperature": ((0,),), "nvmlDeviceGetTemperatureThreshold": ((1,),),
            "nvmlDeviceGetRetiredPages": ((0,), (1,))}  # fmt: skip
PROCESSES = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses")


def record(module: Any = None) -> dict[str, Any]:
    """Ask everything that the probes ask, and keep the answers or error numbers.

    Raises:
        Exception: NVML's own, where it does not start.

    """
    if module is None:
        import pynvml as module
    module.nvmlInit()
    try:
        count = module.nvmlDeviceGetCount()
        answers: dict[str, Any] = {"nvmlInit": None, "nvmlShutdown": None, "nvmlDeviceGetCount": count}
        for name in ("nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"):
            answers[name] = _answer(module, name)
        handles = [module.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        answers["devices"] = [_device(module, handles, index) for index in range(count)]
        return answers
    finally:
        module.nvmlShutdown()


def _device(module: Any, handles: list[Any], index: int) -> dict[str, Any]:
    handle = handles[index]
    found = {name: _answer(module, name, handle) for name in PLAIN}
    found["nvmlDeviceGetUUID"] = f"GPU-{index + 1:08d}-0000-0000-0000-000000000000"
    for name, fields in FIELDS.items():
        found[name] = _answer(module, name, handle, fields=fields)
    for name, listed in NUMBERED.items():
        for arguments in listed:
            found[name + "".join(f"/{item}" for item in arguments)] = _answer(module, name, handle, *arguments)
    for name in PROCESSES:
        held = _answer(module, name, handle, fields=("pid", "usedGpuMemory"))
        found[name] = [{**item, "pid": 1000 + place} for place, item in enumerate(held)] if isinstance(held, list) else held
    for link in range(LINKS):
        state = _answer(module, "nvmlDeviceGetNvLinkState", handle, link)
        found[f"nvmlDeviceGetNvLinkState/{link}"] = state
        if isinstance(state, dict):
            break
        if state:
            found[f"nvmlDeviceGetNvLinkRemoteDeviceType/{link}"] = _answer(module, "nvmlDeviceGetNvLinkRemoteDeviceType", handle, link)
            found[f"nvmlDeviceGetNvLinkRemotePciInfo/{link}"] = _answer(module, "nvmlDeviceGetNvLinkRemotePciInfo", handle, link, fields=("busId",))
            for kind in (0, 1):
                found[f"nvmlDeviceGetNvLinkErrorCounter/{link}/{kind}"] = _answer(module, "nvmlDeviceGetNvLinkErrorCounter", handle, link, kind)
    found["nvmlDeviceGetGpuFabricInfo"] = _fabric(module, handle)
    for other, second in enumerate(handles):
        if other != index:
            found[f"nvmlDeviceGetTopologyCommonAncestor/{other}"] = _answer(module, "nvmlDeviceGetTopologyCommonAncestor", handle, second)
            for kind in (0, 1):
                found[f"nvmlDeviceGetP2PStatus/{other}/{kind}"] = _answer(module, "nvmlDeviceGetP2PStatus", handle, second, kind)
    return found


def _answer(module: Any, name: str, *arguments: Any, fields: tuple[str, ...] = ()) -> Any:
    call = getattr(module, name, None)
    if call is None:
        return {"error": 13}  # NVML_ERROR_FUNCTION_NOT_FOUND
    try:
        return _plain(call(*arguments), fields)
    except module.NVMLError as error:
        return {"error": error.value}


def _plain(value: Any, fields: tuple[str, ...]) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip("\0")
    if isinstance(value, (list, tuple)):
        return [_plain(item, fields) for item in value]
    return {name: _plain(getattr(value, name), ()) for name in fields} if fields and not isinstance(value, (int, str)) else value


def _fabric(module: Any, handle: Any) -> dict[str, int]:
    structure = module.c_nvmlGpuFabricInfo_t() if hasattr(module, "c_nvmlGpuFabricInfo_t") else None
    if structure is None:
        return {"error": 13}
    try:
        module.nvmlDeviceGetGpuFabricInfo(handle, ctypes.byref(structure))
    except module.NVMLError as error:
        return {"error": error.value}
    return {"state": int(structure.state), "status": int(structure.status)}


def main() -> int:
    """Write the fixture; say in one line what was written or why nothing was."""
    try:
        answers = record()
    except Exception as error:  # noqa: BLE001 - no driver, no permission, no package: one sentence
        sys.stderr.write(f"record: NVML does not answer here: {error}\n")
        return 1
    name = (
        sys.argv[1]
        if len(sys.argv) > 1
        else re.sub(r"\W+", "-", f"{answers['nvmlDeviceGetCount']}x {answers['devices'][0]['nvmlDeviceGetName']}").lower()
    )
    path = Path(__file__).with_name(f"{name}.json")
    path.write_text(json.dumps(answers, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"wrote {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
