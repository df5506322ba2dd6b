"""What all tests stand on."""

from __future__ import annotations

import contextlib
import os
import signal

# No test writes into, or learns from, the history of whoever runs it; those of the history name a file of their own.
os.environ["AIFIX_NO_HISTORY"] = "1"

# A shell that starts the tests in the background, or under nohup, has them ignore these signals, and so does everything that they start:
# programs under test must find them as a terminal's user does.
for name, handler in (("SIGINT", signal.default_int_handler), ("SIGQUIT", signal.SIG_DFL), ("SIGHUP", signal.SIG_DFL), ("SIGTERM", signal.SIG_DFL)):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) == signal.SIG_IGN:
        with contextlib.suppress(ValueError, OSError):
            signal.signal(number, handler)

LONGEST_ID = 60


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case that is a whole log by how it ends: what a failed test is called must fit on a line."""
    text = val.decode("utf-8", "replace") if isinstance(val, bytes) else val
    if not isinstance(text, str) or (len(ascii(text)) <= LONGEST_ID and "\n" not in text):
        return None
    last = next((line.strip() for line in reversed(text.split("\n")) if any(map(str.isalpha, line))), "")
    shown = ascii(last)[1:-1]
    return shown if len(shown) <= LONGEST_ID else f"{shown[:LONGEST_ID]}..."
