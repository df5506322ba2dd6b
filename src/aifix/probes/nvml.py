"""One reading of all GPUs through NVML: every call apart, since each card, driver and container refuses another one."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.probes.machine import Machine

LIBRARY = "libnvidia-ml.so.1"
MOST_LINKS = 18


class Holder(msgspec.Struct, frozen=True):
    """A process that holds memory of a GPU; `used` is None where a container or driver hides it."""

    pid: int
    used: int | None
    kind: str


class Gpu(msgspec.Struct, frozen=True):
    """One GPU; None wherever the driver does not say."""

    index: int
    name: str = ""
    uuid: str = ""
    lost: str = ""
    total: int | None = None
    used: int | None = None
    free: int | None = None
    holders: tuple[Holder, ...] | None = None
    capability: tuple[int, int] | None = None
    compute_mode: int | None = None
    persistence: bool | None = None
    ecc_volatile: int | None = None
    ecc_aggregate: int | None = None
    remapped: tuple[int, int, bool, bool] | None = None
    retired: int | None = None
    throttle: int | None = None
    temperature: int | None = None
    slowdown: int | None = None
    width: tuple[int, int] | None = None
    generation: tuple[int, int] | None = None
    busy: int | None = None
    mig: bool | None = None
    links: tuple[int, int] | None = None
    """NVLinks that are up, and all that the card tells of."""


class Reading(msgspec.Struct, frozen=True):
    """What NVML says; `problem` where it does not speak."""

    problem: str = ""
    kind: str = ""
    """library, driver, mismatch, permission or other: what the problem is."""
    driver: str = ""
    cuda: str = ""
    gpus: tuple[Gpu, ...] = ()


def of(machine: Machine) -> Reading:
    """Read the GPUs once."""
    return machine.once("nvml", lambda: read(machine.nvml))


def read(module: Any = None) -> Reading:
    """Read all GPUs.

    Args:
        module: `pynvml`, or what answers like it.

    """
    if module is None:
        if sys.platform.startswith("linux"):
            try:
                ctypes.CDLL(LIBRARY)
            except OSError:
                return Reading(
                    f"{LIBRARY} is not on this machine: no NVIDIA driver is installed, or the container was started without GPUs", "library"
                )
        try:
            import pynvml
        except ImportError:
            return Reading("the package nvidia-ml-py is not installed beside aifix", "other")
        module = pynvml
    try:
        module.nvmlInit()
    except Exception as error:  # noqa: BLE001 - NVML's own exception, of whatever module answers
        return _problem(error)
    try:
        count = _ask(module.nvmlDeviceGetCount) or 0
        gpus = tuple(_gpu(module, index) for index in range(count))
        return Reading(driver=_text(_ask(module.nvmlSystemGetDriverVersion)), cuda=_cuda(_ask(module.nvmlSystemGetCudaDriverVersion_v2)), gpus=gpus)
    finally:
        _ask(module.nvmlShutdown)


def _problem(error: Exception) -> Reading:
    """Name the state of the driver by NVML's error."""
    name = type(error).__name__
    code = getattr(error, "value", None)
    if code == 12 or "LibraryNotFound" in name:
        return Reading("the NVIDIA driver's library is not installed here", "library")
    if code == 9 or "DriverNotLoaded" in name:
        return Reading("the NVIDIA kernel module is not loaded (or the container was started without GPUs)", "driver")
    if code == 18 or "LibRmVersionMismatch" in name:
        return Reading("the driver's library and the loaded kernel module differ in version: a driver update waits for a reboot", "mismatch")
    if code == 4 or "NoPermission" in name:
        return Reading("this user may not talk to the NVIDIA driver (/dev/nvidiactl)", "permission")
    return Reading(f"NVML does not start: {error}", "other")


def _ask(call: Callable[..., Any], *arguments: Any) -> Any:
    """Ask one thing; None when the driver refuses."""
    try:
        return call(*arguments)
    except Exception:  # noqa: BLE001 - not supported, no permission, lost: each is 'not known'
        return None


def _gpu(module: Any, index: int) -> Gpu:
    try:
        handle = module.nvmlDeviceGetHandleByIndex(index)
    except Exception as error:  # noqa: BLE001 - a lost GPU has no handle
        return Gpu(index, lost=str(error))
    ask = _ask
    memory = ask(module.nvmlDeviceGetMemoryInfo, handle)
    capability = ask(module.nvmlDeviceGetCudaComputeCapability, handle)
    remapped = ask(module.nvmlDeviceGetRemappedRows, handle)
    retired = [ask(module.nvmlDeviceGetRetiredPages, handle, cause) for cause in (0, 1)]
    mode = ask(module.nvmlDeviceGetPersistenceMode, handle)
    mig = ask(module.nvmlDeviceGetMigMode, handle)
    rates = ask(module.nvmlDeviceGetUtilizationRates, handle)
    throttle = getattr(module, "nvmlDeviceGetCurrentClocksEventReasons", None) or module.nvmlDeviceGetCurrentClocksThrottleReasons
    return Gpu(
        index,
        name=_text(ask(module.nvmlDeviceGetName, handle)),
        uuid=_text(ask(module.nvmlDeviceGetUUID, handle)),
        total=getattr(memory, "total", None),
        used=getattr(memory, "used", None),
        free=getattr(memory, "free", None),
        holders=_holders(module, handle),
        capability=(int(capability[0]), int(capability[1])) if capability else None,
        compute_mode=ask(module.nvmlDeviceGetComputeMode, handle),
        persistence=bool(mode) if mode is not None else None,
        ecc_volatile=ask(module.nvmlDeviceGetTotalEccErrors, handle, 1, 0),
        ecc_aggregate=ask(module.nvmlDeviceGetTotalEccErrors, handle, 1, 1),
        remapped=(int(remapped[0]), int(remapped[1]), bool(remapped[2]), bool(remapped[3])) if remapped else None,
        retired=sum(len(pages) for pages in retired if pages is not None) if any(pages is not None for pages in retired) else None,
        throttle=ask(throttle, handle),
        temperature=ask(module.nvmlDeviceGetTemperature, handle, 0),
        slowdown=ask(module.nvmlDeviceGetTemperatureThreshold, handle, 1),
        width=_pair(ask(module.nvmlDeviceGetCurrPcieLinkWidth, handle), ask(module.nvmlDeviceGetMaxPcieLinkWidth, handle)),
        generation=_pair(ask(module.nvmlDeviceGetCurrPcieLinkGeneration, handle), ask(module.nvmlDeviceGetMaxPcieLinkGeneration, handle)),
        busy=getattr(rates, "gpu", None),
        mig=bool(mig[0]) if mig else None,
        links=_links(module, handle),
    )


def _holders(module: Any, handle: Any) -> tuple[Holder, ...] | None:
    """List the processes on a GPU, each once; a compute process may hold a graphics context too."""
    found: dict[int, Holder] = {}
    known = False
    for kind, call in (("graphics", module.nvmlDeviceGetGraphicsRunningProcesses), ("compute", module.nvmlDeviceGetComputeRunningProcesses)):
        listed = _ask(call, handle)
        if listed is None:
            continue
        known = True
        for item in listed:
            used = getattr(item, "usedGpuMemory", None)
            found[item.pid] = Holder(item.pid, used if isinstance(used, int) and used < 1 << 60 else None, kind)
    return tuple(sorted(found.values(), key=lambda item: -(item.used or 0))) if known else None


def _links(module: Any, handle: Any) -> tuple[int, int] | None:
    """Count the NVLinks that are up."""
    states = []
    for link in range(MOST_LINKS):
        state = _ask(module.nvmlDeviceGetNvLinkState, handle, link)
        if state is None:
            break
        states.append(bool(state))
    return (sum(states), len(states)) if states else None


def _pair(one: Any, other: Any) -> tuple[int, int] | None:
    return (int(one), int(other)) if one is not None and other is not None else None


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _cuda(value: Any) -> str:
    return f"{value // 1000}.{value % 1000 // 10}" if isinstance(value, int) and value else ""
