"""Watch a training from inside: losses, gradients, the loss scale, memory and the waiting for data.

Hooks into Optimizer.step, Tensor.backward, GradScaler and the DataLoader's iterator. Nothing is changed in the graph, no random number is
drawn, a GPU is waited for at samples alone. What samples cost is measured, and they are taken as often as AIFIX_WATCH_BUDGET (a share of the
time) allows. Runs in the program's interpreter: standard library and the program's own torch, Python 3.8 and later.
`emit`, `quietly`, `load` and `where` are put in by start.py.
"""

import math
import os
import sys
import time

BUDGET = 0.005
"""Share of the time that samples may take."""
FIRST_STEPS, FIRST_SECONDS = 12, 0.05
"""Samples at the start beyond the budget: a run may be lost within ten steps; and the seconds they may take in all."""
FORCED = 100
"""Samples that a suspicious loss may ask for."""
SLICE, SLICES = 32, 12
"""Elements of a tensor, and tensors, by which it is seen whether weights move."""
MEMORY_EVERY = 0.05
"""Seconds between two looks at the memory."""
PENDING = 4096
"""Losses on a GPU that wait for the next sample."""

clock = time.perf_counter


def start(when_torch):
    """Watch whatever this program trains."""
    when_torch(lambda torch: install(torch, _to_parent))


def _to_parent(alarm):
    emit(kind="alarm", id=alarm.identity, topic=alarm.topic, line=alarm.line, data=alarm.data)


def install(torch, tell, budget=None):
    """Install the hooks, once a process, and give the watcher."""
    present = getattr(torch, "_aifix_watcher", None)
    if present is not None:
        return present
    watcher = Watcher(torch, tell, budget)
    torch._aifix_watcher = watcher
    watcher.hook()
    return watcher


class Watcher:
    """Measures, and lets the judge judge."""

    def __init__(self, torch, tell, budget=None):
        self.torch = torch
        self.judge = load("judging").Judge(tell)
        self.graph = load("graph")
        self.names = self.graph.Names()
        self.budget = float(budget or os.environ.get("AIFIX_WATCH_BUDGET") or BUDGET)
        self.only = None
        """The optimizers to watch; None: all."""
        self.known = set()
        self.steps = {}
        """Steps by optimizer."""
        self.step = 0
        self.began = self.ended = clock()
        self.spent = self.once = 0.0
        """Seconds that samples took, and those of finding the model and of looking at the memory."""
        self.passed, self.at = 0.0, None
        """Seconds of training by the same measure, and its reading at the last step."""
        self.free = 0.0
        """Those that the first samples took."""
        self.forced = 0
        self.price = self.counted = 0.0
        """Those that the last sample took, and all up to it."""
        self.cost = time.thread_time
        """What they are measured by: this thread's own time, or where an accelerator is waited for, the clock."""
        self.samples = 0
        self.sampling = True
        self.pending = []
        self.unscaled = None
        self.scaler = None
        self.updates = 0
        self.waited = 0.0
        self.left_out = 0.0
        self.loading = None
        self.event = None
        self.idle = None
        self.memory_at = 0.0
        self.memory_epoch = 0
        self.slices = {}
        self.last = None
        self.closed = False

    # ------------------------------------------------------------ hooks

    def hook(self):
        """Hook into torch."""
        torch = self.torch
        from torch.optim import optimizer as module

        for name, function in (("register_optimizer_step_pre_hook", self.before_step), ("register_optimizer_step_post_hook", self.after_step)):
            getattr(module, name)(self.guarded(function))
        torch.Tensor.backward = self.around_backward(torch.Tensor.backward)
        scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
        scaler.scale = self.around_scale(scaler.scale)
        scaler.update = self.around_update(scaler.update)
        from torch.utils.data import dataloader

        iterator = dataloader._BaseDataLoaderIter
        iterator.__next__ = self.around_next(iterator.__next__)
        import atexit

        atexit.register(self.finish)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.leave)

    def leave(self):
        """Watch no more: a process that was forked off trains nothing of its own."""
        self.closed = True

    def guarded(self, function):
        """Let what goes wrong in a function of ours end the watching, and nothing else."""

        def hook(*arguments, **named):
            if not self.closed:
                try:
                    function(*arguments, **named)
                except Exception as error:
                    self.fail(function.__name__, error)

        hook._torchdynamo_disable = True
        return hook

    def fail(self, what, error):
        """End the watching, and say why to the parent alone."""
        self.closed = True
        emit(kind="broken", what=what, error="%s: %s" % (type(error).__name__, error))

    def around_backward(self, original):
        """Look at each loss before its backward."""
        look = self.before_backward

        def backward(self, *arguments, **named):
            if not watcher.closed:
                try:
                    look(self)
                except Exception as error:
                    watcher.fail("before_backward", error)
            return original(self, *arguments, **named)

        watcher = self
        backward.__doc__, backward.__wrapped__, backward._torchdynamo_disable = original.__doc__, original, True
        return backward

    def around_scale(self, original):
        """Note the loss as it was before it was scaled."""
        look = self.guarded(self.before_scale)

        def scale(self, outputs):
            look(self, outputs)
            return original(self, outputs)

        scale.__doc__, scale.__wrapped__, scale._torchdynamo_disable = original.__doc__, original, True
        return scale

    def around_update(self, original):
        """Look at the loss scale."""
        look = self.guarded(self.after_update)

        def update(self, *arguments, **named):
            original(self, *arguments, **named)
            look(self)

        update.__doc__, update.__wrapped__, update._torchdynamo_disable = original.__doc__, original, True
        return update

    def around_next(self, original):
        """Measure the waiting for data."""
        waited = self.guarded(self.after_next)

        def __next__(self):  # noqa: N807 - it takes the place of one
            begun = clock()
            batch = original(self)
            waited(self, begun)
            return batch

        __next__.__wrapped__ = original
        return __next__

    # ------------------------------------------------------------ what they see

    def before_backward(self, loss):
        """Take the loss. This runs in every step, so it has to be quick."""
        if self.unscaled is not None:
            loss, self.unscaled = self.unscaled, None
        if loss.numel() != 1:
            return
        frame = sys._getframe(2)
        site = (frame.f_code, frame.f_lasti)
        if loss.is_cpu:
            value = loss.item()
            if value - value == 0.0:
                if self.judge.loss(self.step, value, site) and self.forced < FORCED:
                    self.forced += 1
                    self.sampling = True
            else:
                self._lost(self.step, value, loss)
            self.last = value
            return
        if self.cost is not clock:
            self.cost, self.at = clock, None
        if self.sampling and not loss.is_meta:
            begun = clock()
            self._read_pending()
            self._loss(self.step, loss.item(), site, loss)
            self.spent += clock() - begun
        elif not loss.is_meta:
            self.pending.append((self.step, loss.detach(), site))
            if len(self.pending) >= PENDING:
                self._read_pending()

    def _loss(self, step, value, site, loss=None):
        self.last = value
        if math.isfinite(value):
            self.judge.loss(step, value, site)
        else:
            self._lost(step, value, loss)

    def _lost(self, step, value, loss):
        self.judge.lost(step, value, scaled=self.scaler is not None, origin=None if loss is None else lambda: self._origin(loss))

    def _origin(self, loss):
        self._learn()
        return self.graph.origin(self.torch, loss, self.names)

    def _read_pending(self):
        """Read the losses of the steps since the last sample: one wait for the accelerator."""
        pending, self.pending = self.pending, []
        if not pending:
            return
        try:
            values = self.torch.stack([one.reshape(()).float() for _, one, _ in pending]).tolist()
        except Exception:  # on several devices
            values = [float(one) for _, one, _ in pending]
        for (step, _, site), value in zip(pending, values):
            self._loss(step, value, site)

    def before_scale(self, scaler, outputs):
        """Note an unscaled loss."""
        self.scaler = scaler if scaler.is_enabled() else None
        if isinstance(outputs, self.torch.Tensor):
            self.unscaled = outputs.detach() if outputs.grad_fn is None else outputs

    def after_update(self, scaler):
        """Read the scale, where that costs no waiting."""
        scale = getattr(scaler, "_scale", None)
        self.updates += 1
        if scale is not None and (scale.device.type == "cpu" or self.sampling):
            self.judge.scale(self.updates, scale.item(), float(getattr(scaler, "_init_scale", 1.0)))

    def after_next(self, iterator, begun):
        """Add up the waiting."""
        now = clock()
        if iterator is not self.loading:
            self.loading = iterator
            self.left_out += now - begun  # the first batch of an epoch waits for its workers to start
            if self.memory_epoch == 1:
                self.judge.forget_memory()
            self.memory_epoch += 1
            return
        self.waited += now - begun
        if self.event is not None and self.idle is None:
            self.idle = bool(self.event.query())  # the accelerator had done everything before this batch came

    def before_step(self, optimizer, *_):
        """Look at the gradients, at samples."""
        if not self._is_watched(optimizer) or not self.sampling:
            return
        if getattr(optimizer, "found_inf", None) is not None:
            return  # the scaler's own kernel unscales within the step
        torch = self.torch
        if id(optimizer) not in self.known:
            begun = self.cost()
            self._learn(optimizer)
            self.once += self.cost() - begun
        begun = self.cost()
        found = []
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None or gradient.layout != torch.strided or gradient.is_meta:
                    continue
                if hasattr(gradient, "to_local"):
                    gradient = gradient.to_local()
                found.append((parameter, gradient))
        if found:
            layers = self._norms(found)
            self.judge.gradients(self.step, layers)
            self._weights(optimizer, found, layers)
        self.spent += self.cost() - begun

    def _norms(self, found):
        torch = self.torch
        with torch.no_grad():
            gradients = [gradient for _, gradient in found]
            if all(one.dtype == torch.float32 for one in gradients) and len({one.device for one in gradients}) == 1:
                norms = torch._foreach_norm(gradients)
            else:
                norms = [torch.linalg.vector_norm(one, dtype=torch.float32).to(gradients[0].device) for one in gradients]
            values = torch.stack(list(norms)).tolist()
        names = self.names
        return [(names.layer(one) or "of_shape_%s" % "x".join(map(str, one.shape)), value, one.dim() >= 2) for (one, _), value in zip(found, values)]

    def _weights(self, optimizer, found, layers):
        torch = self.torch
        total = sum(norm for _, norm, _ in layers)
        rate = max(float(group.get("lr", 0.0)) for group in optimizer.param_groups)
        self.judge.rate(rate)
        taken = found[:: max(1, len(found) // SLICES)][:SLICES]
        with torch.no_grad():
            now = torch.cat([parameter.detach().reshape(-1)[:SLICE].float().cpu() for parameter, _ in taken])
        before = self.slices.get(id(optimizer))
        self.slices[id(optimizer)] = now
        if before is not None and len(self.known) == 1 and before.shape == now.shape:
            self.judge.weights(self.step, not torch.equal(before, now), rate, total)

    def after_step(self, optimizer, *_):
        """End a step: add up, look at the memory, decide whether the next one is a sample. This, too, has to be quick."""
        if self.only is not None and id(optimizer) not in self.only:
            return
        key = id(optimizer)
        count = self.steps[key] = self.steps.get(key, 0) + 1
        if count <= self.step:
            return  # another optimizer of the same step
        self.step = count
        now = clock()
        if self.waited > 0.0:
            if count > 5:
                self.judge.input(count, self.waited, now - self.ended - self.left_out, self.idle)
            self.waited, self.ended = 0.0, now
        if self.left_out:
            self.left_out, self.ended = 0.0, now
        if self.sampling:
            self.samples += 1
            self.price, self.counted = self.spent - self.counted, self.spent
            self.idle = self.event = None
        elif count % 8 and count > FIRST_STEPS:
            return  # the rest need not be looked at in every step
        if count > 20 and now - self.began > self.memory_at:
            self._memory(now)
        at = self.cost()
        self.passed, self.at = self.passed + (at - self.at if self.at is not None else 0.0), at
        if count <= FIRST_STEPS and self.spent < FIRST_SECONDS:
            self.free = self.spent
            self.sampling = True
        else:
            self.sampling = self.spent - self.free + self.price <= self.budget * self.passed
        if self.sampling and self.cost is clock and self.torch.cuda.is_initialized():
            self.event = self.torch.cuda.Event()
            self.event.record()

    def _memory(self, now):
        elapsed = now - self.began
        begun = self.cost()
        used, left = memory_of_host()
        until = None
        loader = self.loading
        if loader is not None and self.memory_epoch == 1:
            # within the first epoch a dataset may fill its cache: what counts is whether the end comes before the epoch's
            try:
                rest = len(loader) - getattr(loader, "_num_yielded", 0)
                until = max(0, rest) * elapsed / max(1, self.step)
            except Exception:
                until = None
        if used:
            self.judge.memory("host", self.step, elapsed, used, left, until=until)
        torch = self.torch
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            for index in range(torch.cuda.device_count()):
                used = torch.cuda.memory_allocated(index)
                if used:
                    free, _ = torch.cuda.mem_get_info(index)
                    self.judge.memory("GPU %d" % index, self.step, elapsed, used, free + torch.cuda.memory_reserved(index) - used)
        took = self.cost() - begun
        self.once += took  # of its own, rarer than a four-hundredth of the time: samples are not to go short of it
        self.memory_at = elapsed + max(MEMORY_EVERY, elapsed / 200, 400 * took)

    # ------------------------------------------------------------ names

    def _is_watched(self, optimizer):
        return self.only is None or id(optimizer) in self.only

    def _learn(self, optimizer=None):
        """Find the models to which the parameters of an optimizer belong, among the objects that are alive."""
        if optimizer is not None:
            self.known.add(id(optimizer))
            wanted = {id(one) for group in optimizer.param_groups for one in group["params"]}
            if wanted and all(one in self.names.layers for one in wanted):
                return
        elif self.names.layers:
            return
        import gc

        module = self.torch.nn.Module
        kinds, found = {}, []
        for one in gc.get_objects():
            kind = type(one)  # never isinstance: a proxy would wake up
            is_module = kinds.get(kind)
            if is_module is None:
                is_module = kinds[kind] = issubclass(kind, module)
            if is_module and "_modules" in one.__dict__:
                found.append(one)
        inner = {id(child) for one in found for child in one._modules.values() if child is not None}
        roots = [one for one in found if id(one) not in inner]
        if optimizer is not None:
            roots = [one for one in roots if any(id(parameter) in wanted for parameter in one.parameters())]
        roots.sort(key=lambda one: sum(1 for _ in one.modules()), reverse=True)
        for one in roots:
            if any(id(parameter) not in self.names.layers for parameter in one.parameters()):
                self.names.learn(one, type(one).__name__ + "." if len(roots) > 1 and self.names.layers else "")

    def attach(self, model, optimizers):
        """Watch a model and its optimizers, and these alone."""
        for one in model if isinstance(model, (list, tuple)) else [model]:
            self.names.learn(one)
        self.only = (self.only or set()) | {id(one) for one in optimizers} if optimizers else None

    # ------------------------------------------------------------ the end

    def finish(self):
        """Read what is still to be read, and sum up."""
        if self.closed:
            return
        self.closed = True
        if self.pending:
            quietly(self._read_pending)
        emit(kind="summary", **self.summary())

    def summary(self):
        """Sum up: steps, seconds, samples, the share of the time that samples took, the last loss."""
        elapsed = clock() - self.began
        share = (self.spent + self.once) / max(self.passed, 1e-9) if self.passed else 0.0
        last = self.last if self.last is not None and math.isfinite(self.last) else None
        return {"steps": self.step, "seconds": elapsed, "samples": self.samples, "share": share, "last": last}


# ---------------------------------------------------------------- memory


def memory_of_host():
    """Give (bytes that this process holds, bytes that are left to it); zeros where nobody tells."""
    try:
        with open("/proc/self/statm", "rb") as stream:
            fields = stream.read().split()
        page = os.sysconf("SC_PAGE_SIZE")
        used, virtual = int(fields[1]) * page, int(fields[0]) * page
        left = _available()
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            left = min(left, max(0, limit - virtual))
    except (OSError, ValueError, IndexError, ImportError):
        return 0, 0
    return used, left


def _available():
    left = 1 << 62
    with open("/proc/meminfo", "rb") as stream:
        for line in stream:
            if line.startswith(b"MemAvailable:"):
                left = int(line.split()[1]) * 1024
                break
    for most, now in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            with open(most, "rb") as stream:
                limit = int(stream.read())
            with open(now, "rb") as stream:
                left = min(left, max(0, limit - int(stream.read())))
        except (OSError, ValueError):  # no limit, or not there
            continue
    return left
