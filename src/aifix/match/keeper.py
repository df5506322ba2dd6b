"""Keep of an endless input what a diagnosis can need, in bounded memory.

Up to `WHOLE` bytes everything is kept. Beyond that the input is cut into pages at line ends; a page with a literal core or a
gate word stays, with its neighbours; of too many such pages the first and the last ones stay. Imports nothing at first.
"""

TYPE_CHECKING = False  # the pipe imports this: `typing` would double its start-up, `__future__` is a file more
if TYPE_CHECKING:
    from collections.abc import Callable

WHOLE = 8 << 20
"""Bytes up to which the whole input is kept."""
PAGE = 64 << 10
"""Bytes of a page, before it is rounded to a line end."""
FIRST_PAGES = 64
LAST_PAGES = 64
"""Pages with hits that are kept from the start and from the end."""
GATES = (
    b"traceback (most recent", b"error", b"err!", b"fatal", b"exception", b"panic", b"failed", b"failure", b"failing", b"aborted",
    b"killed", b"core dumped", b"fault", b"oom", b"cancelled", b"terminate", b"xid (", b"assert", b"timeout", b"timed out", b"unsupported",
    b"not supported", b"mismatch", b"not match", b"cannot", b"can't", b"could not", b"couldn't", b"unable", b"not found", b"no such",
    b"invalid", b"denied", b"exit status", b"exit code", b"exitcode", b"deadlock", b"undefined symbol", b"nan", b"missing",
    b"out of memory", b"unexpected", b"must be", b"does not", b"too old", b"too new", b"refused", b"illegal", b"corrupt",
)  # fmt: skip
"""Words, in lower case, of which at least one stands in nearly every failed run's output; a log without them, and without a core, is healthy."""


class Keeper:
    """Feed it the input as it comes; ask it for blocks at the end."""

    def __init__(self, cores: list[bytes] | None = None) -> None:
        """Keep by the given literals (each led by b's' or b'i') and the gate words."""
        self._cores = cores or []
        self._chunks: list[bytes] = []
        self.total = 0
        self._paging = False
        self._rest = b""
        self._line = 1
        self._first: list[tuple[int, bytes]] = []
        self._last: list[tuple[int, bytes]] = []
        self._previous: tuple[int, bytes] | None = None
        self._keep_next = False
        self._scan: Callable[[bytes], bool] | None = None

    def lines(self) -> int:
        """Count the lines of the input."""
        if self._paging:
            return self._line - 1 + self._rest.count(b"\n") + bool(self._rest and not self._rest.endswith(b"\n"))
        return sum(chunk.count(b"\n") for chunk in self._chunks) + bool(self._chunks and not self._chunks[-1].endswith(b"\n"))

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the input."""
        self.total += len(data)
        if not self._paging:
            self._chunks.append(data)
            if self.total > WHOLE:
                self._paging = True
                self._scan = _scanner(self._cores or [line.partition(b"\t")[2] for line in load().split(b"\n")[2:]])
                data = b"".join(self._chunks)
                self._chunks = []
                self._pages(data)
            return
        self._pages(data)

    def _pages(self, data: bytes) -> None:
        data = self._rest + data if self._rest else data
        at, size = 0, len(data)
        while size - at > PAGE:
            end = data.rfind(b"\n", at, at + PAGE) + 1
            if end <= at:
                end = at + PAGE
            self._page(data[at:end])
            at = end
        self._rest = data[at:]

    def _page(self, page: bytes) -> None:
        numbered = (self._line, page)
        self._line += page.count(b"\n")
        hit = self._scan is not None and self._scan(page)
        if hit and self._previous is not None:
            self._retain(self._previous)
            self._previous = None
        if hit or self._keep_next or not self._first:
            self._retain(numbered)
            self._previous = None
        else:
            self._previous = numbered
        self._keep_next = hit

    def _retain(self, page: tuple[int, bytes]) -> None:
        if len(self._first) < FIRST_PAGES:
            self._first.append(page)
        else:
            self._last.append(page)
            if len(self._last) > 2 * LAST_PAGES:
                del self._last[:LAST_PAGES]

    def blocks(self) -> list[tuple[int, bytes]]:
        """Give what was kept: (number of its first line, bytes), in order, neighbours joined."""
        if not self._paging:
            return [(1, b"".join(self._chunks))]
        pages = self._first + self._last[-LAST_PAGES:]
        tail = [page for page in [self._previous, (self._line, self._rest)] if page is not None and page[1]]
        joined: list[tuple[int, list[bytes]]] = []
        following = -1
        for number, page in pages + tail:
            if number == following and joined and (joined[-1][1][-1].endswith(b"\n") or not joined):
                joined[-1][1].append(page)
            else:
                joined.append((number, [page]))
            following = number + page.count(b"\n")
        return [(number, b"".join(parts)) for number, parts in joined]

    @property
    def truncated(self) -> bool:
        """Whether anything may have been left out."""
        return self._paging

    def healthy(self, cores: bytes) -> bool:
        """Tell whether a small input holds no gate word and no core: nothing failed, and nothing more needs to be loaded.

        Args:
            cores: the compiled `cores.txt` (see `core_index`); with nothing in it, nothing is known.
        """
        if self._paging or not cores:
            return False
        data = b"".join(self._chunks)
        self._chunks = [data]
        return not stands(data, cores) and not _stands_still(data)


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
    import os

    from aifix.rulebase import paths

    if paths.has_user_rules():
        return b""
    try:
        with open(os.path.join(paths.compiled_folder(), "cores.txt"), "rb") as stream:  # noqa: PTH118, PTH123 - pathlib costs start-up
            return stream.read()
    except OSError:
        return b""


def _stands_still(data: bytes) -> bool:
    """Tell whether printed losses may stand still: cheap and generous, the detector decides.

    The numbers behind the word `loss` are read by hand (`re` alone would double the start-up); the last ones of such a run
    lie within a percent of each other.
    """
    values: list[float] = []
    parts = data.replace(b"Loss", b"loss").split(b"loss")[1:]
    for part in parts[:4] + parts[4:][-40:]:
        head = part[:40].lstrip(b"'\"=:|( \tabcdefghijklmnopqrstuvwxyz_[")
        end = 0
        while end < len(head) and head[end : end + 1] in b"0123456789.":
            end += 1
        try:
            values.append(float(head[:end]))
        except ValueError:
            continue
    if len(values) < 4:
        return False
    last = sorted(values[-8:])
    middle = last[len(last) // 2]
    if max(values[:4]) - middle > 0.1 * max(values[:4]):
        return False  # it has fallen: something was learnt
    return middle > 0 and sum(abs(value - middle) < 0.02 * middle for value in last) * 2 >= len(last)


def _scanner(cores: list[bytes]) -> "Callable[[bytes], bool]":
    """Give a function that tells whether a page holds a core or a gate word: Hyperscan's, or an alternation."""
    from aifix.match import scan

    return scan.scanner([*cores, *(b"i" + gate for gate in GATES)])
