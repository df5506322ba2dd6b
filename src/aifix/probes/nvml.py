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
MOST_LINKS = 36
"""NVML_NVLINK_MAX_LINKS of the newest cards."""


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
    bus: str = ""
    """The PCI address, as /sys/bus/pci/devices writes it."""
    fabric: tuple[int, int] | None = None
    """State and status of the registration with the fabric manager (nvmlGpuFabricInfo_t)."""


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
    started = start(module)
    if isinstance(started, Reading):
        return started
    module = started
    try:
        count = ask(module.nvmlDeviceGetCount) or 0
        gpus = tuple(_gpu(module, index) for index in range(count))
        return Reading(driver=_text(ask(module.nvmlSystemGetDriverVersion)), cuda=_cuda(ask(module.nvmlSystemGetCudaDriverVersion_v2)), gpus=gpus)
    finally:
        ask(module.nvmlShutdown)


def start(module: Any = None) -> Any:
    """Start NVML; give the module to ask, or a reading whose `problem` says why there is none. Whoever starts it shuts it down."""
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
    return module


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


def ask(call: Callable[..., Any], *arguments: Any) -> Any:
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
        bus=bus_of(ask(module.nvmlDeviceGetPciInfo, handle)),
        fabric=_fabric(module, handle),
    )


def _holders(module: Any, handle: Any) -> tuple[Holder, ...] | None:
    """List the processes on a GPU, each once; a compute process may hold a graphics context too."""
    found: dict[int, Holder] = {}
    known = False
    for kind, call in (("graphics", module.nvmlDeviceGetGraphicsRunningProcesses), ("compute", module.nvmlDeviceGetComputeRunningProcesses)):
        listed = ask(call, handle)
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
        state = ask(module.nvmlDeviceGetNvLinkState, handle, link)
        if state is None:
            break
        states.append(bool(state))
    return (sum(states), len(states)) if states else None


def _fabric(module: Any, handle: Any) -> tuple[int, int] | None:
    """Ask how far the card has come with the fabric manager; only cards behind NVSwitches of the third generation and later know."""
    call = getattr(module, "nvmlDeviceGetGpuFabricInfo", None)
    structure = getattr(module, "c_nvmlGpuFabricInfo_t", None)
    if call is None:
        return None
    if structure is None:  # recorded answers
        answer = ask(call, handle)
    else:
        answer = structure()
        if ask(call, handle, ctypes.byref(answer)) is None:
            return None
    state, status = getattr(answer, "state", None), getattr(answer, "status", None)
    return (int(state), int(status)) if state is not None and status is not None else None


def bus_of(information: Any) -> str:
    """Write a PCI address as /sys does: NVML gives its domain eight digits."""
    text = _text(getattr(information, "busId", "")).strip("\0").lower()
    domain, _, rest = text.partition(":")
    return f"{domain[-4:]}:{rest}" if rest else ""


def _pair(one: Any, other: Any) -> tuple[int, int] | None:
    return (int(one), int(other)) if one is not None and other is not None else None


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _cuda(value: Any) -> str:
    return f"{value // 1000}.{value % 1000 // 10}" if isinstance(value, int) and value else ""
