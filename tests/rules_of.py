"""Small rule bases for tests, written as contributors write them."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from aifix import api
from aifix.rulebase import base as rulebase
from aifix.rulebase.source import loads

if TYPE_CHECKING:
    from aifix.model import Report
    from aifix.rulebase.base import Base

HEAD = "title: A title\nexplain: What it means.\n"


def base_of(*texts: str) -> Base:
    """Make a base of rules given as YAML; title and explanation are added where they are left out."""
    rules = []
    for text in texts:
        plain = textwrap.dedent(text)
        missing = "".join(line + "\n" for line in HEAD.splitlines() if not re.search(rf"^{line.split(':')[0]}:", plain, re.MULTILINE))
        rules.append(loads(plain + "\n" + missing).rule)
    return rulebase.from_rules(rules, {"xid": {"79": {"meaning": "GPU has fallen off the bus"}}})


def diagnose(log: str, *texts: str) -> Report:
    """Diagnose a log with the given rules alone."""
    return api.diagnose_text(textwrap.dedent(log).lstrip("\n"), genre="log", base=base_of(*texts))
