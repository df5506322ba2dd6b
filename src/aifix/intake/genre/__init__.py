"""What kind of text an input is: the output of a run, or something that merely quotes one.

A message that a README, a test or a chat quotes was never uttered by a program, so nothing must be diagnosed from it.
The default is 'log': every other genre needs several signs at once and little or nothing that only a run prints.
"""

from aifix.intake.genre.deciding import classify

__all__ = ["classify"]
