"""What the figures of a training say: each judgement gives an alarm once, and rather none than a false one.

Pure arithmetic on what watching.py measures: standard library only, Python 3.8 and later. The line of an alarm is what the rules of aifix
recognise, so its wording is a format: rules/train, rules/data.
"""

import math

EXPLODED, EXPLODING = 1000.0, 100.0
"""How often the median gradient norm: the last sample, and each of the last three."""
SUSPECT = 4.0
"""How often the last stretch's loss, for a closer look."""
DIVERGED = 100.0
"""How often the loss at the start."""
VANISHED = 1e-6
"""Gradient of the first layers relative to the last ones: ten layers that each keep a quarter, sigmoid's steepest slope, leave 1e-6."""
LAYERS = 6
"""Weight matrices from which on a network is deep."""
STILL = 50
"""Steps in which no weight changes."""
FLAT_STEPS, FLAT, LEARNT = 600, 0.006, 0.02
"""Steps of a loss that stands still, its spread relative to its mean, and the share by which a loss that learns falls (match/detectors)."""
GROWN = 48 << 20
"""Bytes from which on growth is more than a cache that fills."""
STEADY = 0.6
"""Growth in one quarter of the time relative to that in the one with the most."""
URGENT = 20.0
"""Seconds to the end below which nothing is waited for."""
HORIZON = 24 * 3600.0
"""Seconds: an end that is farther away is no alarm."""
STARVED, WAIT = 0.6, 0.004
"""Share of the time that is waiting for data, and the seconds a step below which nobody cares."""
SPAN = 60
"""Steps over which waiting is measured."""
UNSCALED = 3
"""Non-finite losses in a row that a run with a loss scaler may have."""


class Alarm:
    """One alarm: the diagnosis by its id, what it is about (it comes once), the line, the figures."""

    def __init__(self, identity, topic, line, **data):
        self.identity, self.topic, self.line, self.data = identity, topic, line, data


class Judge:
    """Judges one training."""

    def __init__(self, tell):
        self.tell = tell
        self.told = set()
        self.losses = {}
        self.norms = []
        self.vanishing = []
        self.scales = None
        self.memories, self.grew = {}, {}
        self.waits = []
        self.starved = False
        self.bad = 0
        self.unmoved = None

    def alarm(self, identity, topic, line, **data):
        """Give an alarm, once for each topic."""
        if topic in self.told:
            return
        self.told.add(topic)
        self.tell(Alarm(identity, topic, line, **data))

    # ------------------------------------------------------------ loss

    def lost(self, step, value, *, scaled=False, origin=None):
        """Judge a loss that is nan or inf; `origin` finds out where it comes from."""
        self.bad += 1
        if self.bad < (UNSCALED if scaled else 1) or "loss" in self.told:
            return
        where = origin() if origin is not None else ""
        self._exploded_before(step)
        self.alarm("train.nan-loss", "loss", "watch: the loss is %s at step %d%s" % (_plain(value), step, ", first " + where if where else ""))

    def loss(self, step, value, site=None):
        """Judge a finite loss, by the place where its backward was called; give whether the gradients are worth a look now.

        It comes in every step, so it has to be quick.
        """
        self.bad = 0
        series = self.losses.get(site)
        if series is None:
            if len(self.losses) >= 16:
                return False
            series = self.losses[site] = Series()
        values = series.values
        values.append(value)
        if len(values) < series.size:
            return value > series.suspect
        series.close(step)
        if len(self.losses) == 1:  # several losses play against each other: none of them has to fall
            self._diverging(series)
            self._flat(series)
        return value > series.suspect

    def _diverging(self, series):
        chunks = series.chunks
        if len(chunks) < 4 or series.negative:
            return
        first = max(chunks[0].median, 1e-6)
        last = [chunk.median for chunk in chunks[-3:]]
        if min(last) > DIVERGED * first and last[0] < last[1] < last[2]:
            least = min(chunks, key=lambda chunk: chunk.median)
            text = "watch: the loss diverges: %.4g at step %d, after %.4g at step %d"
            self.alarm("train.diverging", "diverging", text % (last[-1], chunks[-1].step, least.median, least.step))

    def _flat(self, series):
        if series.count < FLAT_STEPS:
            return
        means = [chunk.mean for chunk in series.chunks]
        middle = abs(sum(means) / len(means))
        if middle < 1e-3 or max(means) - min(means) > FLAT * middle or series.rates_rose():
            return
        if series.first - min(means) > LEARNT * abs(series.first):
            return  # it has learnt, and stands now
        text = "watch: the loss stands still: %.4g over %d steps, between %.4g and %.4g"
        self.alarm("train.no-learning", "flat", text % (means[-1], series.count, min(means), max(means)))

    def rate(self, value):
        """Note the learning rate: a loss that stands still while it is warmed up is no news."""
        for series in self.losses.values():
            series.rate = value

    # ------------------------------------------------------------ gradients

    def gradients(self, step, layers, *, scaled=False):
        """Judge gradient norms: [(layer, norm, whether it is of a weight matrix)], in the order of the model."""
        bad = [layer for layer, norm, _ in layers if math.isnan(norm) or math.isinf(norm)]
        if bad:
            if not scaled and "loss" not in self.told:
                # backward runs from the end: the last layer of these got it first
                self.alarm("train.grad-nonfinite", "gradients", "watch: gradients are nan or inf at step %d, first in layer %s" % (step, bad[-1]))
            return
        total = math.sqrt(sum(norm * norm for _, norm, _ in layers))
        self.norms.append((step, total, max(layers, key=lambda one: one[1])[0] if layers else ""))
        if len(self.norms) > 400:
            del self.norms[1:200:2]
        self._exploding()
        self._vanishing(step, [(layer, norm) for layer, norm, matrix in layers if matrix])

    def _exploding(self):
        if len(self.norms) < 10:
            return
        usual = median([norm for _, norm, _ in self.norms[:-3]])
        last = self.norms[-3:]
        if usual <= 0 or not last[0][1] < last[1][1] < last[2][1] or last[2][1] < EXPLODED * usual or last[0][1] < EXPLODING * usual:
            return
        if not self._rises():
            return
        self._tell_exploding(usual)

    def _tell_exploding(self, usual):
        step, norm, layer = self.norms[-1]
        text = "watch: exploding gradients: norm %.4g at step %d, %s times its median %.4g; the largest in layer %s"
        self.alarm("train.grad-nonfinite", "gradients", text % (norm, step, _count(norm / usual), usual, layer))

    def _exploded_before(self, step):
        """Say, when the loss is gone, that the gradients had been growing without bound until then."""
        last = [norm for at, norm, _ in self.norms[-4:] if step - at <= 200]
        if len(last) < 4:
            return
        usual = median([norm for _, norm, _ in self.norms])
        if usual > 0 and last[0] < last[1] < last[2] < last[3] and last[3] > EXPLODING * last[0] and last[3] > 1e3:
            self._tell_exploding(usual)

    def _rises(self):
        """Tell whether the loss, where it is known, has risen from its least."""
        for series in self.losses.values():
            last = series.last()
            if last is not None and not series.negative and last > 2 * series.least:
                return True
        return not self.losses

    def _vanishing(self, step, matrices):
        if len(matrices) < LAYERS:
            return
        quarter = max(1, len(matrices) // 4)
        first = median([norm for _, norm in matrices[:quarter]])
        last = median([norm for _, norm in matrices[-quarter:]])
        if last <= 0 or first >= VANISHED * last:
            self.vanishing = []
            return
        self.vanishing.append(step)
        if len(self.vanishing) >= 6 and step - self.vanishing[0] >= 20:
            text = "watch: vanishing gradients: norm %.3g in layer %s against %.3g in layer %s, from step %d to %d"
            self.alarm(
                "train.no-learning", "vanishing", text % (matrices[0][1], matrices[0][0], matrices[-1][1], matrices[-1][0], self.vanishing[0], step)
            )

    def weights(self, step, moved, rate, norm):
        """Judge whether the weights move: `moved` since the last look, at a learning rate, with gradients of a norm."""
        if moved or norm == 0:
            self.unmoved = None
            return
        if self.unmoved is None:
            self.unmoved = step
        elif step - self.unmoved >= STILL:
            self.alarm("train.no-learning", "weights", "watch: the weights do not move: %d steps at learning rate %.4g" % (step - self.unmoved, rate))

    def scale(self, step, value, first):
        """Judge the loss scale after so many updates, which began at `first`."""
        self.scales = max(self.scales or first, value)
        if value < 1 <= self.scales:
            self.alarm("train.loss-scale", "scale", "watch: the loss scale is %.4g at step %d, down from %.8g" % (value, step, self.scales))

    # ------------------------------------------------------------ memory and input

    def memory(self, what, step, seconds, used, left, *, until=None):
        """Judge the growth of a memory.

        `used` and `left` in bytes, `seconds` since the start; `until`: the seconds in which a cache that is being filled would be full.
        """
        points = self.memories.setdefault(what, [])
        points.append((step, seconds, used))
        if len(points) > 240:
            del points[1::2]
        if len(points) < 24 or step - points[0][0] < 60 or seconds - points[0][1] < 1.0:
            return
        size = len(points) // 4
        parts = [points[at * size : (at + 1) * size] for at in range(4)]
        lows = [min(one[2] for one in part) for part in parts]
        at = [part[len(part) // 2][0] for part in parts]
        # by the step and not by the time: a machine that is shared runs now faster, now slower
        pace = [(lows[one + 1] - lows[one]) / max(1, at[one + 1] - at[one]) for one in range(3)]
        grown = lows[3] - lows[0]
        if grown < GROWN or min(pace) < STEADY * max(pace):
            self.grew.pop(what, None)
            return
        middle = parts[3][len(parts[3]) // 2], parts[0][len(parts[0]) // 2]
        passed = middle[0][1] - middle[1][1]
        if passed <= 0:
            return
        rate = grown / passed
        ends = left / rate
        if ends > HORIZON or (until is not None and ends > until):
            return
        # what fills a cache grows ever more slowly: it must still grow as fast after three times the steps, unless the end is near
        if ends > URGENT and step < 3 * self.grew.setdefault(what, step):
            return
        a_step = grown / max(1, middle[0][0] - middle[1][0])
        text = "watch: %s memory grows by %s a step: %s at step %d, nothing is left in about %s (step %d)"
        self.alarm(
            "train.memory-growth",
            "memory " + what,
            text % (what, _size(a_step), _size(used), step, _duration(ends), step + int(left / max(a_step, 1))),
        )

    def forget_memory(self):
        """Begin anew: what was measured while a cache was filled says nothing about what comes."""
        self.memories, self.grew = {}, {}

    def input(self, step, waited, seconds, idle=None):
        """Judge the waiting for data in a step; `idle`: whether the accelerator had nothing left to do, where there is one."""
        self.waits.append((waited, seconds, idle))
        if len(self.waits) < SPAN:
            return
        waits, self.waits = self.waits, []
        total = sum(one[1] for one in waits)
        waited = sum(min(one[0], one[1]) for one in waits)
        known = [one[2] for one in waits if one[2] is not None]
        if known and sum(known) < 0.7 * len(known):
            return
        usual = median([one[0] / one[1] for one in waits if one[1] > 0] or [0.0])
        starved = total > 0 and waited > STARVED * total and usual > STARVED and waited / len(waits) > WAIT
        before, self.starved = self.starved, starved
        if starved and before:  # twice in a row
            text = "watch: the input starves the model: %d %% of a step of %.0f ms is waiting for data, over %d steps up to step %d"
            self.alarm("data.starved", "input", text % (round(100 * waited / total), 1000 * total / len(waits), len(waits), step))


class Chunk:
    """A stretch of a series."""

    __slots__ = ("mean", "median", "rate", "step")

    def __init__(self, step, values, rate):
        self.step, self.mean, self.median, self.rate = step, sum(values) / len(values), median(values), rate


class Series:
    """A loss over the steps, in bounded memory: stretches, joined in pairs when they become many."""

    MOST = 24

    def __init__(self):
        self.size = 20
        self.values = []
        self.chunks = []
        self.count = 0
        self.first = 0.0
        self.least = math.inf
        self.negative = False
        self.rate = 0.0
        self.suspect = math.inf
        """A loss above that is worth a look at the gradients."""

    def close(self, step):
        """End a stretch."""
        values, self.values = self.values, []
        self.count += len(values)
        if min(values) < 0:
            self.negative = True
        chunk = Chunk(step, values, self.rate)
        if not self.chunks:
            self.first = chunk.mean
        self.least = min(self.least, chunk.median)
        self.chunks.append(chunk)
        self.suspect = SUSPECT * abs(chunk.median)
        if len(self.chunks) > self.MOST:
            joined = []
            for one, two in zip(self.chunks[::2], self.chunks[1::2]):
                two.mean = (one.mean + two.mean) / 2
                two.median = (one.median + two.median) / 2
                joined.append(two)
            self.chunks = joined
            self.size *= 2

    def last(self):
        """Give the last value."""
        if self.values:
            return self.values[-1]
        return self.chunks[-1].median if self.chunks else None

    def rates_rose(self):
        """Tell whether the learning rate was still being raised in the second half."""
        rates = [chunk.rate for chunk in self.chunks]
        half = rates[len(rates) // 2 :]
        return bool(half) and half[-1] > 1.01 * half[0]


def median(values):
    """Give the median."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0


def _plain(value):
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _count(value):
    return "%.3g" % value if value < 1e6 else "%.1e" % value


def _size(value):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024 or unit == "GiB":
            return "%.0f %s" % (value, unit) if unit == "B" else "%.2f %s" % (value, unit)
        value /= 1024.0
    return ""


def _duration(seconds):
    if seconds < 90:
        return "%.0f s" % seconds
    if seconds < 5400:
        return "%.0f min" % (seconds / 60)
    return "%.1f h" % (seconds / 3600)
