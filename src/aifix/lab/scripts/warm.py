"""A warm process: imports heavy modules once, and forks a child for each program. Standard library only, Python 3.8 and later.

Usage: warm.py MODULE,MODULE. Requests are lines of JSON on standard input:
    {"id": 1, "folder": DIR, "program": "fail.py", "env": {...}, "output": FILE}
and answers lines of JSON on what was standard output: {"ready": true}, {"id": 1, "pid": 4711}, {"id": 1, "status": 1, "cpu": 0.4, "memory": 3e8}.
Each child leads a session of its own (whoever asks kills that at its limit), and sees what a program run by `python fail.py > FILE 2>&1` sees.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import sys
import threading
import types
from typing import Any, Dict

LATER = ("torch._dynamo", "torch.utils.data")
"""What torch imports by itself at a first optimizer or loader: seconds that each child would spend anew."""
TICK = 0.02
"""Seconds between two looks at running children."""


def main() -> None:
    """Import, then serve until the input ends."""
    requests = os.dup(0)
    answers = os.fdopen(os.dup(1), "w")
    sink = os.open(os.devnull, os.O_RDWR)
    os.dup2(sink, 0)
    os.dup2(sink, 1)
    for name in sys.argv[1].split(","):
        if name:
            importlib.import_module(name)
    for name in LATER:
        if name.partition(".")[0] in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    os.dup2(sink, 2)  # only now: that a module cannot be imported is for the caller to read
    gc.collect()
    gc.freeze()

    def say(**fields: Any) -> None:
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    say(ready=True)
    running: Dict[int, int] = {}
    pending = b""
    while True:
        readable, _, _ = select.select([requests], [], [], TICK if running else None)
        for pid in list(running):
            done, status, used = os.wait4(pid, os.WNOHANG)
            if done:
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
                say(id=running.pop(pid), status=code, cpu=used.ru_utime + used.ru_stime, memory=used.ru_maxrss * 1024)
        if not readable:
            continue
        data = os.read(requests, 1 << 16)
        if not data:
            return
        pending += data
        *lines, pending = pending.split(b"\n")
        for line in lines:
            request = json.loads(line.decode())
            pid = os.fork()
            if pid == 0:
                os.close(requests)
                os.close(answers.fileno())
                child(request)
            running[pid] = request["id"]
            say(id=request["id"], pid=pid)


def child(request: Dict[str, Any]) -> None:
    """Become the program, and end as it ends."""
    os.setsid()
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.environ.update(request["env"])
    os.chdir(request["folder"])
    path = request["program"]
    if sys.version_info >= (3, 9):
        path = os.path.join(os.getcwd(), path)
    sys.argv[:] = [request["program"]]
    sys.path[0] = os.getcwd()
    threading.current_thread().name = "MainThread"
    status = 1
    try:
        status = run(path)
        try:
            threading._shutdown()  # type: ignore[attr-defined]  # what the interpreter does at its end
        finally:
            atexit._run_exitfuncs()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                status = status or 120
        os._exit(status & 255)


def run(path: str) -> int:
    """Run a file as the main module; give its exit status. No frame of this file is left in what a traceback shows."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    try:
        with open(path, "rb") as stream:
            code = compile(stream.read(), path, "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 - this is what it is for
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stdout.flush()
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


if __name__ == "__main__":
    main()
