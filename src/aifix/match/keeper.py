"""Keep of an endless input what a diagnosis can need, in bounded memory.

The input is read straight into one of two buffers. A full one is cut into pages at line ends, and searched at once for literal
cores and gate words. Up to `WHOLE` bytes every page is kept; beyond that a page with a hit stays, with its neighbours, and of too
many such pages the first and the last ones. Imports nothing at first, and for an input that fits into one buffer nothing at all.
"""

TYPE_CHECKING = False  # the pipe imports this: `typing` would double its start-up, `__future__` is a file more
if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.match.scan import Hits

WHOLE = 4 << 20
"""Bytes up to which the whole input is kept."""
WHOLE_LINES = 200_000
"""Likewise lines: a diagnosis takes some ten microseconds for each, be it empty."""
PAGE = 64 << 10
"""Bytes of a page, before it is rounded to a line end."""
READ = 256 << 10
"""Bytes of one read, and of a buffer that is full."""
OVERLAP = 256
"""Bytes of an endless line that are searched again with what follows: no literal is longer."""
FIRST_PAGES, LAST_PAGES = 16, 24
"""Pages with a rule's literal that are kept from the start and from the end, their neighbours among them."""
FIRST_GATED, LAST_GATED = 6, 10
"""Likewise, pages that have no more than a gate word: a log may say `0 errors` on every line."""
STRONG, GATED = 2, 1
"""How a page was hit: by a rule's literal, or by a gate word alone."""
LOOK = 512
"""Bytes at either end of a page that are looked at for a NUL: UTF-16 has one there."""
ENDS = 256 << 10
"""Bytes at either end of a large input in which losses are looked at."""
GATES = (
    b"traceback (most recent", b"error", b"err!", b"fatal", b"exception", b"panic", b"failed", b"failure", b"failing", b"aborted",
    b"killed", b"core dumped", b" fault", b"segfault", b"_fault", b"cancelled", b"terminate", b"xid (", b"assert", b"timeout",
    b"timed out", b"unsupported", b"not supported", b"mismatch", b"not match", b"cannot", b"can't", b"could not", b"couldn't",
    b"unable", b"not found", b"no such", b"invalid", b"denied", b"exit status", b"exit code", b"exitcode", b"deadlock",
    b"undefined symbol", b"missing", b"out of memory", b"unexpected", b"must be", b"does not", b"too old", b"too new", b"refused",
    b"illegal", b"corrupt",
    # short ones by what stands beside them: `finance`, `room` and `default` are on many a healthy line
    b" oom", b"oomk", b"-oom", b"_oom", b"oom-", b"oom_", b"oom:", b"(oom",
    b" nan", b"=nan", b":nan", b"(nan", b"[nan", b",nan", b"'nan", b'"nan', b"|nan",
)  # fmt: skip
"""Words, in lower case, of which at least one stands in nearly every failed run's output; a log without them, and without a core, is healthy."""


class Keeper:
    """Read into `room()` and say what you `took()`, or `feed` it; ask it for blocks at the end."""

    def __init__(self, cores: list[bytes] | None = None, *, beside: bool = False) -> None:
        """Keep by the given literals (each led by b's' or b'i') and the gate words; by the compiled base's without any.

        Args:
            cores: the literals.
            beside: search full buffers in a thread of their own, beside the reading: for a process that never forks.
        """
        self._cores = cores
        self._worker: Worker | None = None
        self._beside = beside
        self.total = 0
        self.head = b""
        """The first bytes, where whoever reads notes them: compressed input is told by them."""
        self._buffer = bytearray(2 * READ)
        self._view = memoryview(self._buffer)
        self._spares: list[bytearray] = []
        self._used = 0
        self._begin = 0
        """Where the next page begins in the buffer: what stands before was in the page before, and is only searched again."""
        self._find: Hits | None = None
        self._paging = False
        self._whole = self._whole_lines = 0
        self._pages: list[tuple[bytes, int]] = []
        self._hit = False
        self._line = 1
        self._kept: tuple[list[tuple[int, bytes]], ...] = ([], [], [], [])
        """First and last pages with a literal, first and last ones with a gate word."""
        self._previous: tuple[int, memoryview] | None = None
        """The last page that was not kept, and the number of the line after it."""
        self._keep_next = 0

    def room(self) -> memoryview:
        """Give the place for the next read: at least `READ` bytes."""
        if self._used >= READ:
            self._cut()
        return self._view[self._used : self._used + READ]

    def took(self, count: int) -> None:
        """Take the bytes that were read into the room."""
        self._used += count
        self.total += count

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the input."""
        at = 0
        while at < len(data):
            room = self.room()
            part = data[at : at + len(room)]
            room[: len(part)] = part
            self.took(len(part))
            at += len(part)

    def _settle(self) -> None:
        """Wait until every full buffer has been searched."""
        if self._worker is not None:
            self._worker.wait()

    def lines(self) -> int:
        """Count the lines of the input."""
        self._settle()
        before = self._line - 1 if self._paging else sum(page.count(b"\n") for page, _ in self._pages)
        rest = self._buffer.count(b"\n", self._begin, self._used)
        return before + rest + bool(self.total and self._last_byte() != 10)

    def _last_byte(self) -> int:
        return self._buffer[self._used - 1] if self._used else 10

    def _cut(self) -> None:
        """Go on in another buffer, and let the full one be searched up to its last line end."""
        buffer, view, begin, used = self._buffer, self._view, self._begin, self._used
        last = buffer.rfind(b"\n", max(begin, used - PAGE), used) + 1 or used
        rest = last if last < used else max(used - OVERLAP, begin) if buffer[used - 1] != 10 else used
        # a page of the last buffer is remembered while this one is searched and the next one is filled: three go round
        spare = self._spares.pop(0) if len(self._spares) > 1 else bytearray(2 * READ)
        spare[: used - rest] = view[rest:used]
        self._begin = last - rest
        self._used = used - rest
        self._buffer, self._view = spare, memoryview(spare)
        if self._find is None:
            self._find = self._finder()
        elif self._beside and self._worker is None:
            self._worker = _worker(self._search)
            self._beside = self._worker is not None
        lines = buffer.count(b"\n", begin, last)
        if self._worker is None:
            self._search(buffer, begin, last, lines)
        else:
            self._worker.give(buffer, begin, last, lines)
        self._spares.append(buffer)

    def _search(self, buffer: bytearray, begin: int, last: int, lines: int) -> None:
        """Cut a full buffer into pages, search them, and keep what is to be kept; `lines` stand in it."""
        ends = [begin]
        while last - ends[-1] > PAGE:
            at = ends[-1]
            ends.append(buffer.rfind(b"\n", at, at + PAGE) + 1 or at + PAGE)
        ends.append(last)
        view = memoryview(buffer)
        hits = self._find(view, [0, *ends[1:]]) if self._find is not None else {}
        for page in range(1, len(ends)):
            start, end = ends[page - 1], ends[page]
            if buffer.find(0, start, min(start + LOOK, end)) < 0 and buffer.find(0, max(start, end - LOOK), end) < 0:
                continue
            if hit := self._hit_of_wide(bytes(view[start:end])):
                hits[page] = max(hit, hits.get(page, 0))
        if hits:
            self._hit = True
        if self._paging:
            self._take(buffer, ends, hits, lines)
            return
        self._pages += [(bytes(view[ends[page - 1] : ends[page]]), hits.get(page, 0)) for page in range(1, len(ends))]
        self._whole += last - begin
        self._whole_lines += lines
        if self._whole > WHOLE or self._whole_lines > WHOLE_LINES:
            self._begin_paging()

    def _hit_of_wide(self, page: bytes) -> int:
        """Search a page with NULs: Windows PowerShell writes two bytes a character."""
        text = page.replace(b"\0", b"")
        return self._find(memoryview(text), [0, len(text)]).get(1, 0) if text and self._find is not None else 0

    def _finder(self) -> "Hits":
        from aifix.match import scan

        cores, gated = literals() if self._cores is None else (self._cores, [])
        return scan.finder(cores, [b"i" + gate for gate in GATES], gated)

    def _begin_paging(self) -> None:
        """Give up what has no hit of the pages that were kept so far."""
        self._paging = True
        pages, self._pages = self._pages, []
        for page, hit in pages:
            self._take(page, [0, len(page)], {1: hit} if hit else {}, page.count(b"\n"))

    def _take(self, buffer: bytes | bytearray, ends: list[int], hits: dict[int, int], lines: int) -> None:
        """Take the pages of a buffer: keep those with hits, and their neighbours."""
        view = memoryview(buffer)
        if not hits and not self._keep_next and self._kept[0]:
            self._line += lines
            self._previous = (self._line, view[ends[-2] : ends[-1]])
            return
        for page in range(1, len(ends)):
            start, end = ends[page - 1], ends[page]
            hit = hits.get(page, 0)
            if hit and self._previous is not None:
                self._retain(*self._remembered(), hit)
            line = self._line
            self._line += buffer.count(b"\n", start, end)
            if hit or self._keep_next or not self._kept[0]:
                self._retain(line, bytes(view[start:end]), hit or self._keep_next or STRONG)
                self._previous = None
            else:
                self._previous = (self._line, view[start:end])
            self._keep_next = hit

    def _remembered(self) -> tuple[int, bytes]:
        """Give the last page that was not kept, with the number of its first line."""
        if self._previous is None:
            return self._line, b""
        after, view = self._previous
        page = bytes(view)
        return after - page.count(b"\n"), page

    def _retain(self, line: int, page: bytes, hit: int) -> None:
        if hit == STRONG:
            (first, last), most, latest = self._kept[:2], FIRST_PAGES, LAST_PAGES
        else:
            (first, last), most, latest = self._kept[2:], FIRST_GATED, LAST_GATED
        if len(first) < most:
            first.append((line, page))
        else:
            last.append((line, page))
            if len(last) > latest:
                del last[0]

    def blocks(self) -> list[tuple[int, bytes]]:
        """Give what was kept: (number of its first line, bytes), in order, neighbours joined."""
        self._settle()
        rest = bytes(self._view[self._begin : self._used])
        if not self._paging:
            return [(1, b"".join([*(page for page, _ in self._pages), rest]))]
        previous = [] if self._previous is None else [self._remembered()]
        joined: list[tuple[int, list[bytes]]] = []
        following = -1
        for number, page in [
            *sorted((kept for listed in self._kept for kept in listed), key=_number),
            *previous,
            *([(self._line, rest)] if rest else []),
        ]:
            if number == following and joined and joined[-1][1][-1].endswith(b"\n"):
                joined[-1][1].append(page)
            else:
                joined.append((number, [page]))
            following = number + page.count(b"\n")
        return [(number, b"".join(parts)) for number, parts in joined]

    @property
    def truncated(self) -> bool:
        """Whether anything may have been left out."""
        self._settle()
        return self._paging

    def healthy(self, cores: bytes) -> bool:
        """Tell whether the input holds no gate word and no core: nothing failed, and nothing more needs to be loaded.

        Args:
            cores: the compiled `cores.txt` (see `core_index`); with nothing in it, nothing is known of a small input.
        """
        self._settle()
        if self._hit:
            return False
        rest = bytes(self._view[: self._used]).replace(b"\0", b"")  # two bytes a character: UTF-16
        if self._find is None:
            return bool(cores) and not stands(rest, cores) and not _stands_still(rest)
        if rest and self._find(memoryview(rest), [0, len(rest)]):
            return False
        if self._paging:
            kept = [page for _, page in self._kept[0]] + ([self._remembered()[1]] if self._previous else [])
        else:
            kept = [page for page, _ in self._pages]
        pages = -(-ENDS // PAGE)
        ends = b"".join(kept if len(kept) < 2 * pages else kept[:pages] + kept[-pages:])
        return not _stands_still(ends.replace(b"\0", b"") + rest)


class Worker:
    """Does one thing at a time in a thread of its own; `_thread` is built in, `threading` is an import."""

    def __init__(self, work: "Callable[[bytearray, int, int, int], None]") -> None:
        import _thread

        self._work = work
        self._given: tuple[bytearray, int, int, int] | None = None
        self._failed: BaseException | None = None
        self._start = _thread.allocate_lock()
        self._idle = _thread.allocate_lock()
        self._start.acquire()
        _thread.start_new_thread(self._run, ())

    def give(self, buffer: bytearray, begin: int, last: int, lines: int) -> None:
        """Give it the next thing to do, once it has done the last."""
        self._idle.acquire()
        self._raise()
        self._given = (buffer, begin, last, lines)
        self._start.release()

    def wait(self) -> None:
        """Wait until it has done what it was given."""
        self._idle.acquire()
        self._raise()
        self._idle.release()

    def _raise(self) -> None:
        if self._failed is not None:
            failed, self._failed = self._failed, None
            self._idle.release()
            raise failed

    def _run(self) -> None:
        while True:
            self._start.acquire()
            given, self._given = self._given, None
            try:
                if given is not None:
                    self._work(*given)
            except BaseException as error:  # noqa: BLE001 - whoever gives or waits next is told
                self._failed = error
            self._idle.release()


def _worker(work: "Callable[[bytearray, int, int, int], None]") -> Worker | None:
    """Start a worker; none where a limit of processes forbids it, or one of memory may: a thread without any dies, and is waited for for ever."""
    from aifix import room

    found = room.left()
    if found is not None and found < room.BESIDE_THREADS:
        return None
    try:
        return Worker(work)
    except RuntimeError:
        return None


def stands(data: bytes, index: bytes) -> bool:
    """Tell whether any of many literals stands in some bytes, without an engine.

    A log repeats its words: they are a few kilobytes where the log is megabytes. So each literal's longest word is looked up
    among the log's distinct words, and only the literals whose word is there are searched for: 60 KB against 4,500 literals
    take 1 ms, where a search for each would take 80.

    Args:
        data: the text.
        index: literals as `core_index` wrote them.
    """
    low = data.lower()
    words = b" ".join(set(low.translate(_LETTERS).split()))
    head, _, literals = index.partition(b"\n")
    for key in head.split(b" "):
        if key not in words:
            continue
        at = literals.find(b"\n" + key + b"\t")
        while at >= 0:
            start = at + len(key) + 2
            end = literals.find(b"\n", start)
            if literals[start + 1 : end] in (low if literals[start] == _FOLDED else data):
                return True
            at = end if literals.startswith(key + b"\t", end + 1) else -1
    return False


_LETTERS = bytes(code if 97 <= code <= 122 else 32 for code in range(256))
_FOLDED = ord("i")


def core_index(cores: list[bytes]) -> bytes:
    """Write literals in the form that `stands` reads: their keys in one line, then a line for each, sorted: key, tab, literal.

    A literal's key is its longest run of letters, in lower case. One without letters has the empty key, which stands everywhere.

    Args:
        cores: literals without line feeds, each led by b's' (exact case) or b'i' (lower-cased, any case).
    """
    keyed = sorted((max(core[1:].lower().translate(_LETTERS).split(), key=len, default=b""), core) for core in set(cores) if len(core) > 1)
    return b" ".join(sorted({key for key, _ in keyed})) + b"\n\n" + b"".join(key + b"\t" + core + b"\n" for key, core in keyed)


def load() -> bytes:
    """Read the compiled cores for the healthy pipe; none when there is no compiled base yet, or the user has rules of their own."""
    return _compiled("cores.txt")


def _compiled(name: str) -> bytes:
    import os

    from aifix.rulebase import paths

    if paths.has_user_rules() or paths.has_packs():
        return b""
    try:
        with open(os.path.join(paths.compiled_folder(), name), "rb") as stream:  # noqa: PTH118, PTH123 - pathlib costs start-up
            return stream.read()
    except OSError:
        return b""


def literals() -> tuple[list[bytes], list[bytes]]:
    """Read all literals of all rules: those that may stand on a line without a gate word, and the others.

    With rules of the user's own they are in no compiled file, and the base is loaded.
    """
    compiled = _compiled("literals.txt")
    if compiled:
        alone, _, gated = compiled.partition(b"\n\n")
        return alone.split(b"\n"), gated.split(b"\n")
    from aifix.rulebase.base import load as load_base

    return [core.encode() for core in load_base().matcher.cores if "\n" not in core], []


def _number(page: tuple[int, bytes]) -> int:
    return page[0]


def _stands_still(data: bytes) -> bool:
    """Tell whether printed losses may stand still: cheap and generous, the detector decides.

    The numbers behind the word `loss` are read by hand (`re` alone would double the start-up), apart for each word before it
    (`train loss`, `val_loss`); the last ones of such a run lie within a percent of each other.
    """
    parts = data.replace(b"Loss", b"loss").split(b"loss")
    first: dict[bytes, list[float]] = {}
    last: dict[bytes, list[float]] = {}
    for index in range(1, len(parts)) if len(parts) < 90 else [*range(1, 13), *range(len(parts) - 64, len(parts))]:
        head = parts[index][:40].lstrip(b"'\"=:|( \tabcdefghijklmnopqrstuvwxyz_[")
        end = 0
        while end < len(head) and head[end : end + 1] in b"0123456789.":
            end += 1
        try:
            value = float(head[:end])
        except ValueError:
            continue
        before = parts[index - 1][-16:].translate(_LETTERS)
        name = before.rstrip().rpartition(b" ")[2] if before[-2:].strip() else b""
        first.setdefault(name, [value]).append(value)
        last.setdefault(name, []).append(value)
    for name, values in last.items():
        settled = sorted(values[-8:])
        middle = settled[len(settled) // 2]
        highest = max(first[name][:4])
        if len(values) < 4 or middle <= 0 or highest - middle > 0.1 * highest:
            continue  # too few, or it has fallen: something was learnt
        if sum(abs(value - middle) < 0.02 * middle for value in settled) * 4 >= len(settled) * 3:
            return True
    return False
