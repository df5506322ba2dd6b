"""The instruments of `aifix rerun` that need code inside the program. AIFIX_INSTRUMENTS names those to use.

Runs in the program's interpreter, apart from aifix: standard library and the program's own torch, Python 3.8 and later.
`emit`, `quietly`, `where` and `is_user` are put in by start.py.
"""

import os
import sys


def start(when_torch):
    """Switch on what AIFIX_INSTRUMENTS names."""
    names = set(os.environ.get("AIFIX_INSTRUMENTS", "").split(","))
    if "imports" in names:
        quietly(_imports)
    for name, function in (
        ("anomaly", _anomaly),
        ("samples", _samples),
        ("single-process", _single_process),
        ("memory-history", _memory_history),
    ):
        if name in names:
            when_torch(function)


def _imports():
    """Remember which import is under way, so that a crash in native code can be laid at its door."""
    folder = os.environ.get("AIFIX_FOLDER")
    if not folder or not hasattr(sys, "addaudithook"):
        return
    state = {"pid": -1, "descriptor": -1}

    def hook(event, arguments):
        if event != "import":
            return
        try:
            if state["pid"] != os.getpid():
                state["pid"] = os.getpid()
                state["descriptor"] = os.open(os.path.join(folder, f"imports-{state['pid']}"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            place = where(2) or ["", 0, ""]
            line = "{}\t{}\t{}\t{}\t{}\n".format(arguments[0], arguments[1] or "", place[0], place[1], place[2])
            os.write(state["descriptor"], line.encode("utf-8", "replace"))
        except Exception:
            pass

    sys.addaudithook(hook)


def _anomaly(torch):
    """Let autograd keep the forward traceback of every operation, and look for nan in every gradient."""
    torch.autograd.set_detect_anomaly(True)


# ------------------------------------------------------------ data loading


def _samples(_torch):
    """Name the sample at which a dataset fails."""
    from torch.utils.data._utils import fetch

    def watched(original):
        def fetch_batch(self, indices):
            try:
                return original(self, indices)
            except Exception as error:
                failed = error  # the name `error` ends with its block
                quietly(lambda: _tell_sample(failed, self, indices, fetch.__file__))
                raise

        return fetch_batch

    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        kind = getattr(fetch, name, None)
        if kind is not None:
            kind.fetch = watched(kind.fetch)


def _tell_sample(error, fetcher, indices, file):
    index, place = None, None
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_filename == file and frame.f_locals.get("idx") is not None:
            index = frame.f_locals["idx"]
        if is_user(frame.f_code.co_filename):
            place = [frame.f_code.co_filename, trace.tb_lineno, frame.f_code.co_name]
        trace = trace.tb_next
    listed = [int(one) for one in indices] if isinstance(indices, (list, tuple)) and len(indices) <= 4096 else None
    worker = None
    from torch.utils.data import get_worker_info

    info = get_worker_info()
    if info is not None:
        worker = info.id
    emit(
        kind="sample",
        index=None if index is None else str(index),
        batch=listed,
        worker=worker,
        dataset=type(fetcher.dataset).__name__,
        error=f"{type(error).__name__}: {str(error)[:300]}",
        where=place,
    )


def _single_process(_torch):
    """Load data in the main process: no workers, whatever the program asks for."""
    import inspect

    from torch.utils.data import DataLoader

    original = DataLoader.__init__
    signature = inspect.signature(original)

    def __init__(self, *arguments, **named):  # noqa: N807 - it takes the place of one
        bound = None
        try:
            bound = signature.bind(self, *arguments, **named)
            if bound.arguments.get("num_workers"):
                emit(kind="single-process", workers=int(bound.arguments["num_workers"]), where=where(2))
                bound.arguments["num_workers"] = 0
                for name in ("prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context"):
                    bound.arguments.pop(name, None)
        except Exception:
            bound = None
        if bound is None:
            original(self, *arguments, **named)
        else:
            original(*bound.args, **bound.kwargs)

    __init__.__doc__, __init__.__wrapped__ = original.__doc__, original
    DataLoader.__init__ = __init__


# ------------------------------------------------------------ memory


def _memory_history(torch):
    """Record the CUDA allocator's history, and write a snapshot at the first out-of-memory."""
    folder = os.environ.get("AIFIX_FOLDER")
    if not folder or not torch.cuda.is_available():
        return
    written = []

    def at_end(device, _requested, _total, _free):
        if written:
            return
        written.append(True)

        def write():
            import pickle

            file = os.path.join(folder, f"memory-{os.getpid()}-gpu{device}.pickle")
            with open(file, "wb") as stream:
                pickle.dump(torch.cuda.memory._snapshot(), stream)
            emit(kind="snapshot", file=file, device=int(device))

        quietly(write)

    def begin():
        torch.cuda.memory._record_memory_history(max_entries=200000)
        torch._C._cuda_attach_out_of_memory_observer(at_end)

    torch.cuda._lazy_call(lambda: quietly(begin))
