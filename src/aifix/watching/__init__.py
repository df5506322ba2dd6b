"""Watch a training while it runs: from outside (`aifix watch -- python train.py`) or by one line in it (`aifix.watch(model, optimizer)`).

What is measured and judged inside the program lies in `injected/inside/` (watching, judging, graph).

- alarms: what is told inside becomes diagnoses of the rule base
- session: a supervised run with its alarms
- here: the watching of this very process
"""
