"""Literals in large inputs: Hyperscan over all of them at once, its database kept in the cache; a slower way where it is not there.

The healthy pipe imports this past 256 KB: neither `re` nor `typing`, and of the `hyperscan` package the extension module alone.
"""

import os
import sys

TYPE_CHECKING = False  # see aifix/__init__.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Hits = Callable[[memoryview, list[int]], dict[int, int]]

_MAGIC = b"aifix hyperscan 1\n"
_SHORT = rb"\x01\x02\x03"
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_loaded: "Any" = None


def escape(literal: bytes) -> bytes:
    """Escape a literal for every regex engine: letters and digits stay, all else by its hexadecimal code."""
    return b"".join(b"%c" % code if code in _PLAIN else b"\\x%02x" % code for code in literal)


def hyperscan() -> "Any":
    """Give Hyperscan's extension module; None where there is none. The package around it imports `typing`: three times its own time."""
    global _loaded  # noqa: PLW0603 - loaded once
    if _loaded is None:
        _loaded = _extension() or _package() or False
    return _loaded or None


def _extension() -> "Any":
    if "hyperscan" in sys.modules:
        return None
    import _imp
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec

    name = "hyperscan._hs_ext"
    for entry in sys.path:
        for suffix in EXTENSION_SUFFIXES:
            path = os.path.join(entry, "hyperscan", "_hs_ext" + suffix)  # noqa: PTH118 - start-up
            if not os.path.isfile(path):  # noqa: PTH113
                continue
            try:
                module = _imp.create_dynamic(ModuleSpec(name, ExtensionFileLoader(name, path), origin=path))
                _imp.exec_dynamic(module)
            except (ImportError, OSError, SystemError):
                return None
            sys.modules[name] = module  # whoever imports the package later shares its classes
            return module if hasattr(module, "loadb") and hasattr(module, "ScanTerminated") else None
    return None


def _package() -> "Any":
    try:
        import hyperscan as package
    except ImportError:
        return None
    return package


def database(cores: "Sequence[bytes]", *, single: bool) -> "Any":
    """Give a Hyperscan database over literals, out of the cache where one for this very list stands there; None without Hyperscan.

    Args:
        cores: literals, each led by b's' (exact case) or b'i' (lower-cased, any case); a match's number is its place here.
        single: report each literal once a scan.
    """
    engine = hyperscan()
    if engine is None:
        return None
    path = _cached_at(cores, single=single, version=str(getattr(engine, "__version__", "")))
    kept = _read(path) if path else None
    if kept is not None:
        try:
            found = engine.loadb(kept, engine.HS_MODE_BLOCK)
            found.scratch = engine.Scratch(found)  # a loaded database comes without
            if _works(found):
                return found
        except (engine.error, ValueError, TypeError):
            pass  # another version or processor, or damaged: Hyperscan checks both
    made = engine.Database(mode=engine.HS_MODE_BLOCK)
    folded = engine.HS_FLAG_CASELESS
    each = engine.HS_FLAG_SINGLEMATCH if single else 0
    # with long literals only, Hyperscan may pick an engine of half the speed: a short one that hardly occurs keeps it from that
    expressions = [*(escape(core[1:]) for core in cores), _SHORT]
    flags = [*(each | (folded if core[:1] == b"i" else 0) for core in cores), each]
    made.compile(expressions=expressions, ids=list(range(len(expressions))), elements=len(expressions), flags=flags)
    if path:
        _write(path, engine.dumpb(made))
    return made


def _works(made: "Any") -> bool:
    """Tell whether a database finds what each of ours holds."""
    found: list[int] = []
    made.scan(b"\x01\x02\x03", match_event_handler=lambda core, *_rest: found.append(core))
    return len(found) == 1


def _cached_at(cores: "Sequence[bytes]", *, single: bool, version: str) -> str:
    """Name the cache file of a database: by its literals, Hyperscan's version and the processor; empty where there is no cache."""
    try:
        from _blake2 import blake2b  # `hashlib` loads OpenSSL
    except ImportError:
        from hashlib import blake2b
    from aifix.rulebase.paths import cache_folder

    digest = blake2b(b"\n".join(cores), digest_size=12)
    digest.update(f"\0{single}\0{version}\0{sys.platform}\0".encode())
    try:
        with open("/proc/cpuinfo", "rb") as stream:  # noqa: PTH123 - a home folder may be shared by unlike machines
            digest.update(b"\n".join(line for line in stream.read(8192).split(b"\n\n")[0].split(b"\n") if line.startswith((b"flags", b"Features"))))
    except OSError:
        digest.update(os.uname().machine.encode() if hasattr(os, "uname") else b"")
    try:
        return os.path.join(cache_folder(), f"scan-{digest.hexdigest()}.hsdb")  # noqa: PTH118
    except (OSError, RuntimeError, KeyError):
        return ""


def _read(path: str) -> bytes | None:
    """Read a cached database; none that another user could have written: it is machine data that Hyperscan runs."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(handle, "rb") as stream:  # noqa: PTH123
            about = os.fstat(handle)
            if hasattr(os, "geteuid") and (about.st_uid != os.geteuid() or about.st_mode & 0o022):
                return None
            data = stream.read()
    except OSError:
        return None
    import zlib

    head, body = data[: len(_MAGIC)], data[len(_MAGIC) + 4 :]
    if head != _MAGIC or int.from_bytes(data[len(_MAGIC) : len(_MAGIC) + 4], "little") != zlib.crc32(body):
        return None
    return body


def _write(path: str, data: bytes) -> None:
    """Write a database into the cache, complete or not at all; a cache that takes nothing is done without."""
    import zlib

    folder = os.path.dirname(path)  # noqa: PTH120
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except OSError:
        return
    try:
        with open(handle, "wb") as stream:  # noqa: PTH123
            stream.write(_MAGIC + zlib.crc32(data).to_bytes(4, "little") + data)
        os.replace(temporary, path)  # noqa: PTH105
        _tidy(folder, path)
    except OSError:
        try:  # noqa: SIM105 - contextlib is an import
            os.unlink(temporary)  # noqa: PTH108
        except OSError:
            pass


def _tidy(folder: str, path: str, keep: int = 8) -> None:
    """Leave the newest databases in the cache: each new version of the rules or of Hyperscan makes one."""
    found = [entry for entry in os.scandir(folder) if entry.name.startswith("scan-") and entry.path != path]
    for entry in sorted(found, key=lambda entry: -entry.stat().st_mtime)[keep:]:
        os.unlink(entry.path)  # noqa: PTH108


def finder(cores: "Sequence[bytes]", gates: "Sequence[bytes]", gated: "Sequence[bytes]" = ()) -> "Hits":
    """Build what tells which pages hold any of the literals.

    Args:
        cores: literals of the rules, each led by b's' (exact case) or b'i' (lower-cased, any case).
        gates: literals that tell less, likewise.
        gated: more literals of the rules, on whose lines a gate stands too: only pages with a gate are searched for them.

    Returns:
        A function of a buffer and of its pages' ends (the first page begins at the first of them), that gives for each page with
        a literal, by the place in that list of its end, 2 if one of the rules' is there and else 1.
    """
    cores = [core for core in cores if len(core) > 1]
    every = [*cores, *(core for core in gated if len(core) > 1)]
    made = database([*cores, *gates], single=True)
    return _by_hyperscan(made, len(cores), every) if made is not None else _by_words(every, gates)


def _by_hyperscan(made: "Any", cores: int, every: "Sequence[bytes]") -> "Hits":
    stopped = hyperscan().ScanTerminated
    scan = made.scan
    rules: Any = None
    """The database of the rules' literals alone; most inputs need none."""
    first = where = 0

    def stop(literal: int, _start: int, end: int, _flags: int, _context: object) -> bool:
        nonlocal first, where
        first, where = literal, end
        return True

    def seen(_literal: int, *_rest: object) -> bool:
        return True

    def find(data: memoryview, ends: list[int]) -> dict[int, int]:
        nonlocal rules
        hits: dict[int, int] = {}
        at, last = ends[0], ends[-1]
        page = 1
        while at < last:
            try:
                scan(data[at:last], match_event_handler=stop)
            except stopped:
                while ends[page] < at + where:
                    page += 1
                hits[page] = 2
                if first >= cores:
                    rules = rules or database(every, single=True)
                    try:  # from its start: a literal may stand before the gate
                        rules.scan(data[ends[page - 1] : ends[page]], match_event_handler=seen)
                        hits[page] = 1
                    except stopped:
                        pass
                at = ends[page]
                page += 1
                continue
            break
        return hits

    return find


def _by_words(cores: "Sequence[bytes]", gates: "Sequence[bytes]") -> "Hits":
    """Look page by page for the literals' words: a tenth of Hyperscan's speed, and a hundred times that of `re`'s alternation."""
    from aifix.match.keeper import core_index, stands

    strong, weak = core_index(list(cores)), core_index(list(gates))

    def find(data: memoryview, ends: list[int]) -> dict[int, int]:
        hits: dict[int, int] = {}
        for page in range(1, len(ends)):
            text = bytes(data[ends[page - 1] : ends[page]])
            hit = 2 if stands(text, strong) else int(stands(text, weak))
            if hit:
                hits[page] = hit
        return hits

    return find
