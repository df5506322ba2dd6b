"""Where aifix finds its rules and keeps its caches. Imports nothing that the pipe's healthy path would pay for."""

import os
import sys

TYPE_CHECKING = False  # see aifix/__init__.py
if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib costs start-up


def rules_folder() -> str:
    """Give the folder of the built-in rules: the checkout's `rules/`, or the copy packed into the wheel."""
    checkout = os.path.join(os.path.dirname(os.path.dirname(PACKAGE)), "rules")  # noqa: PTH118, PTH120
    if os.path.isfile(os.path.join(checkout, "schema.json")):  # noqa: PTH113, PTH118
        return checkout
    return os.path.join(PACKAGE, "_rules")  # noqa: PTH118


def is_checkout() -> bool:
    """Tell whether the built-in rules are a working copy that may change under us."""
    return not rules_folder().startswith(PACKAGE)


def cache_folder() -> str:
    """Give the folder for compiled rules: AIFIX_CACHE, or the platform's cache folder."""
    return _folder("AIFIX_CACHE", ("LOCALAPPDATA", "aifix", "Cache"), "Caches/aifix", ("XDG_CACHE_HOME", "~/.cache"))


def config_folder() -> str:
    """Give the user's configuration folder: AIFIX_CONFIG, or the platform's."""
    return _folder("AIFIX_CONFIG", ("APPDATA", "aifix"), "Application Support/aifix", ("XDG_CONFIG_HOME", "~/.config"))


def state_folder() -> str:
    """Give the folder for what must outlive a cache (backups of patched files): AIFIX_STATE, or the platform's."""
    return _folder("AIFIX_STATE", ("LOCALAPPDATA", "aifix", "State"), "Application Support/aifix/state", ("XDG_STATE_HOME", "~/.local/state"))


def data_folder() -> str:
    """Give the folder for what the user would miss (the history of incidents): AIFIX_HOME, or the platform's folder for data."""
    return _folder("AIFIX_HOME", ("LOCALAPPDATA", "aifix", "Data"), "Application Support/aifix", ("XDG_DATA_HOME", "~/.local/share"))


def _folder(override: str, windows: tuple[str, ...], mac: str, xdg: tuple[str, str]) -> str:
    """Give a folder of the user's: by our own variable, else where the platform keeps such.

    Args:
        override: our variable.
        windows: the variable of the folder there, and the names below it.
        mac: the path below ~/Library.
        xdg: the variable elsewhere, and the folder where it is not set.
    """
    given = os.environ.get(override)
    if given:
        return given
    if sys.platform == "win32":
        found = os.path.join(os.environ.get(windows[0]) or os.path.expanduser("~"), *windows[1:])  # noqa: PTH111, PTH118
    elif sys.platform == "darwin":
        found = os.path.expanduser("~/Library/" + mac)  # noqa: PTH111
    else:
        found = os.path.join(os.environ.get(xdg[0]) or os.path.expanduser(xdg[1]), "aifix")  # noqa: PTH111, PTH118
    # a user whom the system does not know, without HOME: nothing can be kept, and no folder is to be called "~"
    return os.path.join(os.devnull, "no home folder") if found.startswith("~") else found  # noqa: PTH118


def history_file(given: str = "") -> str:
    """Give the file of the history: what `--kb` named, or the one in the folder for data."""
    return given or os.path.join(data_folder(), "history.db")  # noqa: PTH118


def pending_folder(database: str) -> str:
    """Give the folder beside a history that marks the commands that failed and have not ended well since."""
    return f"{database}.pending"


def user_rule_folders() -> list[tuple[str, str]]:
    """Give the folders in which users keep rules, with their names: the project's and the user's own."""
    return [
        (os.path.join(os.curdir, ".aifix", "rules"), "./.aifix/rules"),  # noqa: PTH118
        (os.path.join(config_folder(), "rules"), "the user's rules"),  # noqa: PTH118
    ]


def has_user_rules() -> bool:
    """Tell whether the user has a folder of rules."""
    return any(os.path.isdir(folder) for folder, _ in user_rule_folders())  # noqa: PTH112


SETTLED = 10
"""Seconds without a change after which an install is over: what was seen in the midst of one is not kept."""


def package_folders() -> list[str]:
    """Give the folders of installed packages that this interpreter looks into."""
    return [entry for entry in sys.path if entry.endswith("packages")]


def has_packs() -> bool:
    """Tell whether a rule pack is installed; looked for anew only when a folder of packages has changed since (an install changes it)."""
    folders = package_folders()
    state, newest = "", 0.0
    for folder in folders:
        try:
            changed = os.stat(folder)  # noqa: PTH116
        except OSError:
            continue
        state += f"{folder} {changed.st_mtime_ns}\n"
        newest = max(newest, changed.st_mtime)
    kept = os.path.join(cache_folder(), "packs-" + "".join(c if c.isalnum() else "_" for c in sys.prefix)[-80:] + ".txt")  # noqa: PTH118
    try:
        with open(kept, encoding="utf-8", errors="surrogateescape") as stream:  # noqa: PTH123
            answer, _, seen = stream.read().partition("\n")
        if seen == state and answer in {"none", "some"}:
            return answer == "some"
    except (OSError, ValueError):
        pass
    found = any(True for _ in pack_metadata(folders))
    import time

    if time.time() - newest < SETTLED:
        return found
    temporary = f"{kept}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(kept), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as stream:  # noqa: PTH123
            stream.write(("some\n" if found else "none\n") + state)
        os.replace(temporary, kept)  # noqa: PTH105
    except (OSError, ValueError):
        pass
    return found


def pack_metadata(folders: list[str]) -> "Iterator[tuple[str, str]]":
    """Find installed distributions that bring rules: the folder of packages, and the text of their entry points."""
    for folder in folders:
        try:
            names = [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]  # noqa: PTH208
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8", errors="replace") as stream:  # noqa: PTH118, PTH123
                    text = stream.read()
            except OSError:
                continue
            if "[aifix.rules]" in text:
                yield folder, text


def compiled_folder() -> str:
    """Give the folder that holds the compiled built-in rules: packed into the wheel, or a checkout's cache."""
    if not is_checkout():
        return os.path.join(PACKAGE, "_base")  # noqa: PTH118
    return os.path.join(cache_folder(), "checkout-" + "".join(c if c.isalnum() else "_" for c in rules_folder())[-80:])  # noqa: PTH118
