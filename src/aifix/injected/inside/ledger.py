"""A ledger of what happens to tensors: which line changed which in place, which line made the first nan or inf.

Runs in the program's interpreter, apart from aifix: standard library and the program's own torch, Python 3.8 and later.
`emit`, `quietly` and `where` are put in by start.py.
"""

import os

KEPT_STORAGES = 20000
"""Tensors whose history is remembered."""
KEPT_CALLS = 12
"""Calls remembered of each."""
TOLD = 8
"""Findings of a kind that one process tells."""


def start(when_torch):
    """Keep a ledger for those of `inplace` and `nan` that AIFIX_INSTRUMENTS names."""
    names = set(os.environ.get("AIFIX_INSTRUMENTS", "").split(","))
    when_torch(lambda torch: _keep(torch, names))


def _keep(torch, names):
    """Watch every call of torch: which line changed which tensor in place, which line made the first nan."""
    from torch.overrides import TorchFunctionMode

    ledger = Ledger(torch, changes="inplace" in names, births="nan" in names)

    class Watching(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), named=None):
            return ledger.call(function, arguments, named or {})

    if "inplace" in names:
        for name in ("backward", "grad"):
            setattr(torch.autograd, name, ledger.explaining(getattr(torch.autograd, name)))
    mode = Watching()
    mode.__enter__()
    ledger.mode = mode  # lives as long as the program


class Ledger:
    """Remembers calls by the storage of their tensors."""

    def __init__(self, torch, changes, births):
        from collections import OrderedDict, deque

        self.torch, self.changes, self.births = torch, changes, births
        self.deque = deque
        self.history = OrderedDict()
        self.bad = {}
        """Storages that hold nan or inf, and the line that made them so."""
        self.told = 0
        self.busy = False

    def call(self, function, arguments, named):
        """Make a call of torch, and write down what it did."""
        name = getattr(function, "__name__", "")
        if self.busy or name.startswith("__get") or name in ("size", "dim", "stride", "numel", "detach", "item", "backward", "_is_view", "data_ptr"):
            return function(*arguments, **named)
        tensors = self._tensors(arguments, named)
        before = [self._version(tensor) for tensor in tensors] if self.changes else ()
        result = function(*arguments, **named)
        self.busy = True
        try:
            place = None
            if self.changes and tensors:
                place = where(3)
                for tensor, version in zip(tensors, before):
                    self._note(tensor, version, name, place)
                if isinstance(result, self.torch.Tensor) and all(result is not tensor for tensor in tensors):
                    self._note(result, self._version(result), name, place)
            if self.births and self.told < TOLD:
                self._look(name, tensors, result, place)
                self._follow(tensors, result)
        except Exception:
            pass
        finally:
            self.busy = False
        return result

    def _tensors(self, arguments, named):
        found = []
        waiting = [*arguments, *named.values()]
        while waiting and len(found) < 512:
            item = waiting.pop(0)
            if isinstance(item, self.torch.Tensor):
                found.append(item)
            elif isinstance(item, (list, tuple)) and len(item) <= 512:
                waiting[:0] = item
        return found

    @staticmethod
    def _version(tensor):
        try:
            return tensor._version
        except Exception:  # an inference tensor has none
            return -1

    @staticmethod
    def _key(tensor):
        try:
            return tensor.untyped_storage()._cdata
        except Exception:
            return id(tensor)

    def _note(self, tensor, before, name, place):
        after = self._version(tensor)
        key = self._key(tensor)
        calls = self.history.get(key)
        if calls is None:
            calls = self.history[key] = self.deque(maxlen=KEPT_CALLS)
            if len(self.history) > KEPT_STORAGES:
                self.history.popitem(last=False)
        else:
            self.history.move_to_end(key)
        made_by = type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else ""
        calls.append((before, after, name, place, tuple(tensor.shape), str(tensor.dtype), made_by))

    # -------------------------------------------------------- changed in place

    def explaining(self, original):
        """Wrap a function that runs backward: when a saved tensor was changed, tell which lines may have changed it."""

        def run_backward(*arguments, **named):
            try:
                return original(*arguments, **named)
            except RuntimeError as error:
                message = str(error)
                quietly(lambda: self._explain(message))
                raise

        run_backward.__name__ = original.__name__
        run_backward.__doc__ = original.__doc__
        return run_backward

    def _explain(self, message):
        import re

        found = re.search(
            r"inplace operation: \[([\w.]+)(?: \[([\d, ]*)\])?\](?:, which is output \d+ of (\w+),)?.* version (\d+); expected version (\d+)", message
        )
        if not found:
            return
        shape = tuple(int(part) for part in (found[2] or "").split(",") if part.strip())
        made_by, version, expected = found[3] or "", int(found[4]), int(found[5])
        fits = []
        for calls in self.history.values():
            changes = [call for call in calls if call[1] > call[0] >= 0]
            # views of one storage share its version, so the shape of any use counts, and linear layers save the transposed weight
            if not changes or changes[-1][1] != version or not any(sorted(call[4]) == sorted(shape) for call in calls):
                continue
            first = next((call for call in changes if call[0] <= expected < call[1]), None)
            if first is None:
                continue
            score = (any(call[6].startswith(made_by) for call in calls) if made_by else True, first[4] == shape)
            uses = [call[3] for call in calls if call[3] is not None]
            fits.append((score, {"where": first[3], "operation": first[2], "before": first[0], "after": first[1], "uses": uses}))
        fits.sort(key=lambda one: one[0])
        emit(kind="changed", shape=list(shape), version=version, expected=expected, made_by=made_by, fits=[one for _, one in fits[-TOLD:]])

    # -------------------------------------------------------- nan

    def _look(self, name, tensors, result, place):
        torch = self.torch
        outputs = result if isinstance(result, (list, tuple)) else [result]
        if name.startswith(("empty", "new_empty", "resize")) or "isnan" in name:
            return
        if name.endswith("_") or name in ("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__"):
            outputs = [*outputs, *tensors[:1]]
        for output in outputs:
            if not isinstance(output, torch.Tensor) or not (output.is_floating_point() or output.is_complex()) or not output.numel():
                continue
            if output.is_meta or output.layout != torch.strided:
                continue
            key = self._key(output)
            with torch.no_grad():
                total = output.detach().sum()
                if torch.isfinite(total):
                    self.bad.pop(key, None)
                    continue
                nan = bool(torch.isnan(output).any())
            if not nan and not bool(torch.isinf(output).any()):
                continue
            sources = [tensor for tensor in tensors if tensor.is_floating_point() and (self._key(tensor) != key or key in self.bad)]
            with torch.no_grad():
                had_nan = any(bool(torch.isnan(tensor).any()) for tensor in sources)
            known = next((self.bad[self._key(tensor)] for tensor in sources if self._key(tensor) in self.bad), None)
            if len(self.bad) > KEPT_STORAGES:
                self.bad.clear()
            self.bad[key] = known or {"where": place or where(4), "operation": name, "nan": nan}
            if nan and not had_nan:
                self.told += 1
                emit(
                    kind="nan",
                    where=place or where(4),
                    operation=name,
                    shape=list(output.shape),
                    count=int(torch.isnan(output).sum()),
                    inputs=[self._range(tensor) for tensor in sources[:3]],
                    infinite=known,
                )

    def _follow(self, tensors, result):
        """Look at the gradients that the backward of this call will make."""
        torch = self.torch
        old = {id(tensor.grad_fn) for tensor in tensors}
        for output in result if isinstance(result, (list, tuple)) else [result]:
            if not isinstance(output, torch.Tensor) or output.grad_fn is None or id(output.grad_fn) in old:
                continue
            place = where()
            name = type(output.grad_fn).__name__

            def look(made, given, place=place, name=name):
                try:
                    if self.told < TOLD and self._finite(given) and not self._finite(made):
                        self.told += 1
                        values = [self._range(one) for one in given if isinstance(one, torch.Tensor)][:2]
                        nan = any(bool(torch.isnan(one).any()) for one in made if isinstance(one, torch.Tensor))
                        emit(kind="gradient", where=place, operation=name, nan=nan, inputs=values)
                except Exception:
                    pass

            output.grad_fn.register_hook(look)

    def _finite(self, gradients):
        torch = self.torch
        return all(bool(torch.isfinite(one).all()) for one in gradients if isinstance(one, torch.Tensor) and one.layout == torch.strided)

    def _range(self, tensor):
        torch = self.torch
        with torch.no_grad():
            finite = tensor.detach()[torch.isfinite(tensor)] if tensor.dim() else tensor.detach().reshape(1)
            infinite = int(torch.isinf(tensor).sum())
            if not finite.numel():
                return {"shape": list(tensor.shape), "infinite": infinite}
            return {"shape": list(tensor.shape), "least": float(finite.min()), "most": float(finite.max()), "infinite": infinite}
