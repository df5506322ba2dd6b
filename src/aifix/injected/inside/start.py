"""The first step inside the user's program: events to the parent, a hook for the moment at which torch is imported, the instruments.

Runs in the program's interpreter, apart from aifix. Standard library only, Python 3.8 and later.
"""

import json
import os
import sys
import time

MOST_EVENTS = 4000
"""Events of one process; a loop that fails in every step must not fill the disk."""

_HERE = os.path.dirname(os.path.abspath(__file__))
_STDLIB = os.path.dirname(os.path.abspath(os.__file__))
_count = {}


def emit(**fields):
    """Append one event, as a JSON line, to the file that the parent reads. Whole or not at all; never raises."""
    file = os.environ.get("AIFIX_EVENTS")
    if not file:
        return
    pid = os.getpid()
    count = _count[pid] = _count.get(pid, 0) + 1
    if count > MOST_EVENTS:
        return
    fields.update(pid=pid, time=time.monotonic())  # one clock for all processes of a machine, and nobody sets it back
    rank = os.environ.get("RANK", "")
    if rank.isdigit():
        fields["rank"] = int(rank)
    try:
        data = (json.dumps(fields, default=str) + "\n").encode("utf-8", "replace")
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except (OSError, ValueError, TypeError):
        pass


def quietly(function):
    """Call a function of ours; what it raises is told to the parent and to nobody else."""
    try:
        return function()
    except Exception as error:
        emit(kind="broken", what=getattr(function, "__name__", "?"), error=f"{type(error).__name__}: {error}")
        return None


def is_user(file):
    """Tell whether a source file is the user's own, as `aifix.intake.tracebacks.is_user` does for logs."""
    if file.startswith("<") or "site-packages" in file or "dist-packages" in file:
        return False
    return not os.path.abspath(file).startswith(_STDLIB + os.sep)


def where(depth=1):
    """Give the innermost frame of the user's own code that is being executed, as [file, line, function]; None where there is none."""
    try:
        frame = sys._getframe(depth)
    except ValueError:
        return None
    while frame is not None:
        code = frame.f_code
        if is_user(code.co_filename):
            return [code.co_filename, frame.f_lineno, code.co_name]
        frame = frame.f_back
    return None


def load(name):
    """Load a module that lies beside this one, under a name and a file name that nobody else has."""
    file = os.path.join(_HERE, name + ".py")
    with open(file, encoding="utf-8") as stream:
        code = compile(stream.read(), f"<frozen aifix.{name}>", "exec")
    module = type(sys)("_aifix_" + name)
    module.__file__ = file
    module.__dict__.update(emit=emit, quietly=quietly, where=where, is_user=is_user, load=load)
    exec(code, module.__dict__)
    return module


class _AtImport:
    """Calls functions when a module has been imported whole."""

    def __init__(self, name):
        self.name = name
        self.functions = []

    def find_spec(self, name, path=None, target=None):
        """Find the module as the finders behind us do, and mark its loader."""
        if name != self.name:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                quietly(lambda spec=spec: self._mark(spec.loader))
                return spec
        return None

    def _mark(self, loader):
        execute = loader.exec_module

        def exec_module(module):
            try:
                del loader.exec_module
            except AttributeError:
                pass
            execute(module)
            self.done(module)

        loader.exec_module = exec_module

    def done(self, module):
        """Call them."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        functions, self.functions = self.functions, []
        for function in functions:
            quietly(lambda function=function: function(module))


_at_torch = _AtImport("torch")


def when_torch(function):
    """Call a function with torch as soon as the program has imported it."""
    torch = sys.modules.get("torch")
    if torch is not None:
        quietly(lambda: function(torch))
        return
    _at_torch.functions.append(function)
    if _at_torch not in sys.meta_path:
        sys.meta_path.insert(0, _at_torch)


def start():
    """Start what the parent asked for: AIFIX_INSIDE holds names of modules beside this one, each with a function `start`."""
    names = [name for name in os.environ.get("AIFIX_INSIDE", "").split(",") if name.isidentifier()]
    if names:
        emit(kind="alive", python=sys.version.split()[0], executable=sys.executable, arguments=getattr(sys, "orig_argv", [])[:8])
    for name in names:
        quietly(lambda name=name: load(name).start(when_torch))
