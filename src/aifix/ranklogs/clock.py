"""Times that logs print, and by how much the clocks of their writers differ."""

from __future__ import annotations

import datetime as dt
from statistics import median
from typing import TYPE_CHECKING

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

_STAMP = lazy_re(
    r"(?<![\d.])(?:(?P<year>\d{4})[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)[T _](?P<clock>\d\d?:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
    r"(?P<zone>Z|[ ]?[+-]\d\d:?\d\d)?"
    r"|(?P<us_month>\d\d?)/(?P<us_day>\d\d?)/(?P<us_year>\d{4})[ T](?P<us_clock>\d\d?:\d\d:\d\d)(?:[.,](?P<us_part>\d{1,9}))?)"
    r"|(?:^|[\[\s:])[IWEF](?P<g_month>\d\d)(?P<g_day>\d\d) (?P<g_clock>\d\d:\d\d:\d\d)\.(?P<g_part>\d{1,9})"
    r"|(?:^|[\s\[])(?P<s_month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?P<s_day>[ \d]\d) (?P<s_clock>\d\d:\d\d:\d\d)"
    r"|(?:^|[\[(])(?P<t_clock>\d\d:\d\d:\d\d)(?:[.,](?P<t_part>\d{1,9}))?(?=[\s\])])"
)
_MONTHS = {name: number for number, name in enumerate(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1)}
_FORMS = ("year", "us_year", "g_month", "s_month", "t_clock")
DAY = 86400.0
SET_BACK = 60.0
"""Seconds by which a log's times go back when its machine's clock was set; threads and buffers mix lines by less."""
_HEAD = 160
"""Characters at the start of a line in which its time stands."""
LEAST_SKEW = 1.0
"""Seconds below which clocks are held to agree: lines of one event are written that far apart."""


class Clock:
    """Reads the times of one log. Where a line names no year (or no day), it is that of the file's last change."""

    def __init__(self, modified: float) -> None:
        self.end = dt.datetime.fromtimestamp(modified, dt.timezone.utc)
        self.form = ""
        """How the last time that was read was written: one log may hold several, of different time zones."""

    def read(self, text: str) -> float | None:
        """Give the time at the head of a line, in seconds since 1970 (a time without a zone is taken as UTC); None where there is none."""
        if ":" not in text[:_HEAD]:
            return None
        match = _STAMP.search(text[:_HEAD])
        if match is None:
            return None
        try:
            moment = self._value(match)
        except ValueError:
            return None
        self.form = next(name for name in _FORMS if match[name])
        return moment

    def _value(self, match: re.Match[str]) -> float:
        end = self.end
        if match["year"]:
            date = (int(match["year"]), int(match["month"]), int(match["day"]))
            clock, part = match["clock"], match["part"]
        elif match["us_year"]:
            date = (int(match["us_year"]), int(match["us_month"]), int(match["us_day"]))
            clock, part = match["us_clock"], match["us_part"]
        elif match["g_month"]:
            date = self._dated(int(match["g_month"]), int(match["g_day"]))
            clock, part = match["g_clock"], match["g_part"]
        elif match["s_month"]:
            date = self._dated(_MONTHS[match["s_month"]], int(match["s_day"]))
            clock, part = match["s_clock"], None
        else:
            date = (end.year, end.month, end.day)
            clock, part = match["t_clock"], match["t_part"]
        hour, minute, second = (int(number) for number in clock.split(":"))
        moment = dt.datetime(*date, hour, minute, min(second, 59), tzinfo=dt.timezone.utc).timestamp()
        if part:
            moment += float(f"0.{part}")
        zone = match["zone"]
        if zone and zone != "Z":
            digits = zone.replace(":", "").strip()
            sign = -1 if digits[0] == "-" else 1
            moment -= sign * (int(digits[1:3]) * 3600 + int(digits[3:5]) * 60)
        return moment

    def _dated(self, month: int, day: int) -> tuple[int, int, int]:
        """A log that was last written in January speaks of the old year's December."""
        return (self.end.year - (month > self.end.month + 1), month, day)


def was_set_back(moments: Sequence[tuple[float, str]]) -> bool:
    """Tell whether a log's clock was set back while it was written: its times then prove nothing.

    Args:
        moments: the times of its lines, in their order, each with its form.

    """
    furthest: dict[str, float] = {}
    behind: dict[str, int] = {}
    for moment, form in moments:
        most = furthest[form] = max(furthest.get(form, moment), moment)
        back = most - moment > SET_BACK and not (form == "t_clock" and most - moment > DAY / 2)  # without a date, midnight is no jump
        behind[form] = behind.get(form, 0) + 1 if back else 0
    return any(count > 1 for count in behind.values())


def skews(events: Mapping[str, Mapping[int, float]]) -> dict[str, tuple[float, int]]:
    """Estimate by how much each clock is ahead of the middle one, from events that many of them timed.

    A synchronous job ends each step on all ranks together, so the difference of two clocks is the median difference of their times for
    the same steps; a rank that is merely slow holds up all the others, and differs by a fraction of a step.

    Args:
        events: for each clock, the time at which it saw each event (a step's number).

    Returns:
        For each clock that differs by more than `LEAST_SKEW` and more than its own scatter: seconds ahead, and how many events told.

    """
    times: dict[int, list[float]] = {}
    for seen in events.values():
        for event, moment in seen.items():
            times.setdefault(event, []).append(moment)
    middle = {event: median(moments) for event, moments in times.items() if len(moments) > 1}
    found: dict[str, tuple[float, int]] = {}
    for name, seen in events.items():
        differences = [moment - middle[event] for event, moment in seen.items() if event in middle]
        if not differences:
            continue
        ahead = median(differences)
        scatter = median(abs(one - ahead) for one in differences)
        if abs(ahead) > max(LEAST_SKEW, 4 * scatter):
            found[name] = (ahead, len(differences))
    return _centred(found, len(events))


def _centred(found: dict[str, tuple[float, int]], clocks: int) -> dict[str, tuple[float, int]]:
    """Of two clocks both differ from their middle: let the first stand and the other carry the whole difference."""
    if clocks == 2 and len(found) == 2:
        first, second = sorted(found)
        return {second: (found[second][0] - found[first][0], found[second][1])}
    return found


def span(moments: Sequence[float]) -> tuple[float, float] | None:
    """Give the first and last of some times."""
    return (min(moments), max(moments)) if moments else None
