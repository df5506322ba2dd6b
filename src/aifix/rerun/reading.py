"""Read the two runs together: which line is to blame, and what the second run knows that the first did not."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from aifix.intake.tracebacks import is_user
from aifix.model import Location, Step
from aifix.rerun import loader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Document, Line, Report
    from aifix.rerun.first import First

_FRAME = re.compile(r'\s*File "([^"]{1,1000})", line (\d{1,7})(?:,? in (.{1,300}?))?\s*$')
_FORWARD = "Traceback of forward call that caused the error"
_CURRENT = re.compile(r"(?:Current thread|Thread) 0x[0-9a-f]+.*most recent call first")


class Blame(NamedTuple):
    """A line to blame, why it is that one, and how sharply it is known (the higher the better)."""

    location: Location
    why: str
    weight: int


class Sharpened(NamedTuple):
    """What both runs come to."""

    report: Report
    blame: Location | None
    said: tuple[str, ...]
    """Sentences: what the second run adds."""


def together(first: First | None, second: Report, document: Document, events: Sequence[dict[str, Any]], folder: str = "") -> Sharpened:
    """Read two runs together.

    Args:
        first: what is known of the run that failed before; None where it is not known.
        second: the report of the run with instruments.
        document: the output of that run.
        events: what the instruments inside the program told.
        folder: what they wrote.

    """
    blames: list[Blame] = []
    said: list[str] = []
    for look in (_changed, _forward, _births, _fatal, _sample):
        found = look(document, events)
        if found is not None:
            blames.append(found)
            said.append(found.why)
    _imports(folder, document, blames, said)
    said += loader.sentences(folder, document)
    if any(event["kind"] == "single-process" for event in events):
        workers = max(int(event.get("workers") or 0) for event in events if event["kind"] == "single-process")
        said.append(f"Data was loaded in the main process this time (the program asks for {workers} workers), so the traceback is the program's own.")
    blame = max(blames, key=lambda one: one.weight).location if blames else None
    main = second.diagnoses[0] if second.diagnoses else None
    if blame is None:
        blame = main.location if main is not None else second.unknown.location if second.unknown is not None else None
    if blame is not None and not blame.source:
        blame = msgspec.structs.replace(blame, source=_source(blame))
    said = list(dict.fromkeys(said))
    return Sharpened(_merge(first, second, blame, said), blame, tuple(said))


def _merge(first: First | None, second: Report, blame: Location | None, said: list[str]) -> Report:
    """Give the second report with the line to blame, what was learnt, and the facts that only the first has."""
    if not second.diagnoses:
        if second.unknown is None or blame is None:
            return second
        return msgspec.structs.replace(second, unknown=msgspec.structs.replace(second.unknown, location=blame))
    main = second.diagnoses[0]
    facts = {**first.facts, **main.facts} if first is not None and first.ids[:1] == (main.id,) else main.facts
    steps = [Step("rerun", sentence) for sentence in said]
    if first is not None:
        steps.insert(0, Step("first run", _told(first)))
    added = "".join(f"\n{sentence}" for sentence in said)
    main = msgspec.structs.replace(
        main, location=blame or main.location, facts=facts, explanation=main.explanation.rstrip("\n") + added, derivation=(*main.derivation, *steps)
    )
    return msgspec.structs.replace(second, diagnoses=(main, *second.diagnoses[1:]))


def _told(first: First) -> str:
    place = f" at {first.place}" if first.place else ""
    return f"{first.ids[0]}: {first.title}{place}" if first.ids else f"a failure that no rule knew: {first.title}{place}"


# ---------------------------------------------------------------- what was changed in place


def _changed(document: Document, events: Sequence[dict[str, Any]]) -> Blame | None:
    """Find the line that changed a saved tensor: of those that fit, the one whose tensor was used where forward saved it."""
    event = next((event for event in events if event["kind"] == "changed" and event.get("fits")), None)
    if event is None:
        return None
    saved = _forward_frames(document)
    fits = event["fits"]
    best = fits[-1]
    for fit in fits:
        uses = {(str(use[0]), int(use[1])) for use in fit.get("uses") or ()}
        if saved & uses:
            best = fit
    place = _location(best.get("where"))
    if place is None:
        return None
    used = [_location(use) for use in best.get("uses") or ()]
    at = next((f"{os.path.basename(use.file)}:{use.line}" for use in reversed(used) if use is not None and (use.file, use.line) in saved), "")
    kept = f", though backward still needs what {at} saved" if at else ""
    code = _source(place)
    line = f"{os.path.basename(place.file)}:{place.line}" + (f" ({code})" if code else "")
    return Blame(place, f"{line} changed the tensor in place (version {best.get('before')} to {best.get('after')}){kept}.", 100)


def _forward_frames(document: Document) -> set[tuple[str, int]]:
    return {(frame.file, frame.line) for frame in _forward_trace(document.lines)}


def _forward_trace(lines: Sequence[Line]) -> list[Location]:
    """Give the frames of anomaly detection's last "Traceback of forward call", outermost first."""
    start = max((index for index, line in enumerate(lines) if _FORWARD in line.text), default=-1)
    found: list[Location] = []
    for line in lines[start + 1 : start + 400] if start >= 0 else ():
        match = _FRAME.match(line.text)
        if match:
            found.append(Location(match[1], int(match[2]), match[3] or ""))
        elif line.text.lstrip().startswith(("(Triggered internally", "Traceback (most")):
            break
        elif found and not found[-1].source and line.text.startswith("    "):
            found[-1] = msgspec.structs.replace(found[-1], source=line.text.strip())
    return found


def _forward(document: Document, _events: Sequence[dict[str, Any]]) -> Blame | None:
    """Find the forward line whose backward failed."""
    trace = _forward_trace(document.lines)
    place = next((frame for frame in reversed(trace) if is_user(frame.file, frame.function)), None)
    if place is None:
        return None
    head = next(line.text for line in reversed(document.lines) if _FORWARD in line.text)
    operation = re.search(r"Error detected in (\w+)", head)
    name = f" ({operation[1]})" if operation else ""
    return Blame(place, f"The operation whose backward failed{name} was made by {os.path.basename(place.file)}:{place.line}.", 80)


# ---------------------------------------------------------------- nan


def _births(_document: Document, events: Sequence[dict[str, Any]]) -> Blame | None:
    """Find the first call, or backward of a call, that made nan or inf out of numbers."""
    births = [event for event in events if event["kind"] in {"nan", "gradient"}]
    if not births:
        return None
    event = min(births, key=lambda one: float(one.get("time") or 0))
    place = _location(event.get("where"))
    if place is None:
        return None
    inputs = [_range(one) for one in event.get("inputs") or ()]
    code = _source(place)
    line = f"{os.path.basename(place.file)}:{place.line}" + (f" ({code})" if code else "")
    if event["kind"] == "gradient":
        what = "nan" if event.get("nan") else "inf"
        return Blame(
            place, f"The first gradient with {what} came out of {event.get('operation')}, the backward of {line}; those that it got were finite.", 90
        )
    why = f"The first nan came out of {event.get('operation')} at {line}"
    why += f", with inputs {' and '.join(filter(None, inputs))}" if any(inputs) else ""
    source = event.get("infinite")
    earlier = _location(source.get("where")) if isinstance(source, dict) else None
    if earlier is not None and isinstance(source, dict):
        why += f"; the inf among them came out of {source.get('operation')} at {os.path.basename(earlier.file)}:{earlier.line}"
        place = earlier
    return Blame(place, why + ".", 90)


def _range(one: Any) -> str:
    if not isinstance(one, dict):
        return ""
    shape = list(one.get("shape") or ())
    if "least" not in one:
        return f"{shape} without a finite value"
    text = f"{shape} from {one['least']:.4g} to {one['most']:.4g}"
    return text + (f" and {one['infinite']} infinite values" if one.get("infinite") else "")


# ---------------------------------------------------------------- crashes and samples


def _fatal(document: Document, _events: Sequence[dict[str, Any]]) -> Blame | None:
    """Find the user's innermost line in faulthandler's stack of the thread that crashed."""
    lines = document.lines
    start = next((index for index, line in enumerate(lines) if "Fatal Python error" in line.text or "Windows fatal exception" in line.text), -1)
    if start < 0:
        return None
    frames: list[Location] = []
    for line in lines[start + 1 : start + 400]:
        if _CURRENT.search(line.text) and frames:
            break
        match = _FRAME.match(line.text)
        if match:
            frames.append(Location(match[1], int(match[2]), match[3] or ""))
        elif frames and line.text.strip():
            break
    place = next((frame for frame in frames if is_user(frame.file, frame.function)), None)
    if place is None:
        return None
    inner = frames[0]
    through = f", which was in {inner.function} ({os.path.basename(inner.file)}:{inner.line})" if inner != place else ""
    code = _source(place)
    line_text = f"{os.path.basename(place.file)}:{place.line}" + (f" ({code})" if code else "")
    return Blame(place, f"The crash came out of native code called from {line_text}{through}.", 70)


def _sample(_document: Document, events: Sequence[dict[str, Any]]) -> Blame | None:
    """Name the sample at which the dataset failed."""
    samples = [event for event in events if event["kind"] == "sample"]
    if not samples:
        return None
    event = min(samples, key=lambda one: float(one.get("time") or 0))
    place = _location(event.get("where"))
    if place is None:
        return None
    batch = event.get("batch")
    what = f"sample {event['index']}" if event.get("index") is not None else f"the batch of samples {batch[:32]}" if batch else "a sample"
    others = {str(one.get("index")) for one in samples} - {str(event.get("index"))}
    more = f"; so did {Counter(others).total()} others" if others else ""
    return Blame(place, f"{event.get('dataset') or 'The dataset'} failed at {what}{more}: {event.get('error')}.", 60)


def _imports(folder: str, document: Document, blames: list[Blame], said: list[str]) -> None:
    """Name the import that was under way when native code crashed or a library did not load."""
    if not folder or not any("Fatal Python error" in line.text or "mportError" in line.text or "OSError" in line.text for line in document.lines):
        return
    try:
        files = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("imports-")]
    except OSError:
        return
    for file in sorted(files, key=os.path.getmtime)[-1:]:
        with open(file, encoding="utf-8", errors="replace") as stream:
            rows = [line.rstrip("\n").split("\t") for line in stream.readlines()[-400:]]
        rows = [row for row in rows if len(row) == 5 and row[3].isdigit()]
        native = next((row for row in reversed(rows) if row[1].endswith((".so", ".pyd", ".dylib"))), None)
        if native is None or not native[2]:
            continue
        told = any(native[1] in line.text for line in document.lines) or any("Fatal Python error" in line.text for line in document.lines)
        if told:
            place = Location(native[2], int(native[3]), native[4])
            named = f"The last compiled module that was loaded is {native[0]} ({native[1]})"
            said.append(f"{named}, for {os.path.basename(place.file)}:{place.line}.")
            blames.append(Blame(place, "", 20))


def _location(where: Any) -> Location | None:
    if isinstance(where, list) and len(where) == 3 and isinstance(where[1], int) and where[0]:
        return Location(str(where[0]), where[1], str(where[2]))
    return None


def _source(place: Location) -> str:
    """Read the line itself; empty where it cannot be read."""
    if place.source:
        return place.source
    try:
        with open(place.file, encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, 1):
                if number == place.line:
                    return line.strip()[:200]
    except OSError:
        pass
    return ""
