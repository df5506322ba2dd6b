"""A bug report to paste into an issue: what failed, the lines that show it, the environment, and nobody's names or secrets.

- excerpt: the lines of a log that a reader of the issue needs
- collect: the environment and this machine's answers, without importing torch
- markdown: the report as Markdown; escapes
- archive: the same as a zip
"""

from __future__ import annotations

from aifix.bugreport.collect import Bug, collect, remembered
from aifix.bugreport.markdown import render

__all__ = ["Bug", "collect", "remembered", "render"]
