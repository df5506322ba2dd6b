"""Loaded by the interpreter's start, since `aifix rerun` and `aifix watch` put this folder first into PYTHONPATH.

Takes its folder out of `sys.path`, starts what AIFIX_INSIDE names, and then runs the sitecustomize that would have run without it.
Standard library only, Python 3.8 and later; whatever fails here fails silently: the program is not ours.
"""

import sys


def _begin():
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    try:
        file = os.path.join(os.path.dirname(here), "inside", "start.py")
        with open(file, encoding="utf-8") as stream:
            # "<frozen" is how tracebacks mark what is nobody's own code
            code = compile(stream.read(), "<frozen aifix.start>", "exec")
        space = {"__name__": "_aifix_start", "__file__": file}
        exec(code, space)
        space["start"]()
    except Exception as error:
        if os.environ.get("AIFIX_DEBUG"):
            sys.stderr.write(f"aifix: instruments did not start: {error!r}\n")


def _chain():
    """Run the next sitecustomize on the path, as if ours had not been there."""
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_begin()
_chain()
