"""Read the logs that the ranks of a job left behind: who failed first and why, who only followed, who fell silent, who is slow.

`aifix.ranks(["logs/"])` gives a `RanksReport`.

- layout: whose log a file is, by its path
- streams: whose a line is, in a file with many ranks
- reading: one log in one pass; clock, progress, complaints, launcher: what is read off its lines
- gather: all logs, in several processes; what belongs to one rank put together
- judge: who failed first, and how; advice: what to do next where the rank itself says nothing
- report: all of it together
"""

from __future__ import annotations

from aifix.ranklogs.nouns import Collective, Rank, RanksReport, Skew, Straggler, Verdict
from aifix.ranklogs.report import ranks

__all__ = ["Collective", "Rank", "RanksReport", "Skew", "Straggler", "Verdict", "ranks"]
