"""Where aifix finds its rules and keeps its caches. Imports nothing that the pipe's healthy path would pay for."""

from __future__ import annotations

import os
import sys

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
    override = os.environ.get("AIFIX_CACHE")
    if override:
        return override
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "aifix", "Cache")  # noqa: PTH111, PTH118
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/aifix")  # noqa: PTH111
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "aifix")  # noqa: PTH111, PTH118


def config_folder() -> str:
    """Give the user's configuration folder: AIFIX_CONFIG, or the platform's."""
    override = os.environ.get("AIFIX_CONFIG")
    if override:
        return override
    if sys.platform == "win32":
        return os.path.join(os.environ.get("APPDATA") or os.path.expanduser("~"), "aifix")  # noqa: PTH111, PTH118
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/aifix")  # noqa: PTH111
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "aifix")  # noqa: PTH111, PTH118


def state_folder() -> str:
    """Give the folder for what must outlive a cache (backups of patched files): AIFIX_STATE, or the platform's."""
    override = os.environ.get("AIFIX_STATE")
    if override:
        return override
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "aifix", "State")  # noqa: PTH111, PTH118
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/aifix/state")  # noqa: PTH111
    return os.path.join(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "aifix")  # noqa: PTH111, PTH118


def data_folder() -> str:
    """Give the folder for what the user would miss (the history of incidents): AIFIX_HOME, or the platform's folder for data."""
    override = os.environ.get("AIFIX_HOME")
    if override:
        return override
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "aifix", "Data")  # noqa: PTH111, PTH118
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/aifix")  # noqa: PTH111
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "aifix")  # noqa: PTH111, PTH118


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


def compiled_folder() -> str:
    """Give the folder that holds the compiled built-in rules: packed into the wheel, or a checkout's cache."""
    if not is_checkout():
        return os.path.join(PACKAGE, "_base")  # noqa: PTH118
    return os.path.join(cache_folder(), "checkout-" + "".join(c if c.isalnum() else "_" for c in rules_folder())[-80:])  # noqa: PTH118
