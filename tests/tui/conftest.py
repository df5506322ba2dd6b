"""The interface over a small rule base of its own, so that its pictures do not change with the rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from aifix.rulebase.base import Base

HERE = Path(__file__).parent
WIDGETS = {
    "test_app.py",
    "test_past.py",
    "test_run.py",
    "test_browse.py",
    "test_case.py",
    "test_safety.py",
    "test_serve.py",
    "test_snapshots.py",
    "test_tmux.py",
    "test_wizard.py",
}

try:
    import textual  # noqa: F401
except ImportError:  # the interface is an extra
    collect_ignore = sorted(WIDGETS | {"pilot.py", "test_hanging.py", "test_command.py", "test_patch.py"})

    def pytest_report_header() -> str:
        return "tests/tui: skipped, textual is missing (pip install 'aifix-kb[tui]')"


ARTICLES = {
    "caching-allocator": """---
title: How the caching allocator counts memory
summary: Reserved is not used. The difference tells which fix helps.
topics: [memory, cuda]
rules: [cuda.oom, cuda.oom-fragmentation]
references:
  - {title: "CUDA semantics", url: "https://docs.pytorch.org/docs/stable/notes/cuda.html"}
---

## What the numbers mean

Allocated memory holds live tensors; see [fragmentation](rule:cuda.oom-fragmentation) and [several ranks](who-failed-first.md).

```python
torch.cuda.memory_summary()
```
""",
    "who-failed-first": """---
title: Which rank failed first
summary: The launcher names a rank, not a reason.
topics: [distributed]
rules: [dist.child-failed]
---

## In what order to read

The first traceback in time is the cause; the collectives of the others end later.
""",
}


@pytest.fixture(scope="session")
def small_base() -> Base:
    from aifix.rulebase.base import from_rules
    from aifix.rulebase.compile import load_folder

    loaded, problems = load_folder(HERE / "rules")
    assert not problems
    return from_rules(item.rule for item in loaded)


@pytest.fixture
def small(small_base: Base, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Use the small base, an empty working folder, and a history of its own; gives the folder."""
    from aifix import api
    from aifix.kb import articles

    monkeypatch.setattr(api, "_loaded", small_base)
    monkeypatch.setattr(articles, "_loaded", articles.Articles(articles.parse(text, name) for name, text in ARTICLES.items()))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("AIFIX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AIFIX_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("AIFIX_NO_HISTORY", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


RANKS = """\
[rank0]: step 1 loss 2.31
[rank1]: step 1 loss 2.30
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/train.py", line 42, in training_step
[rank1]:     loss = model(batch)
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 1 has a total capacity of 23.64 GiB of which 311.12 MiB is free.
[rank0]: step 2 loss 2.29
Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
train.py FAILED
"""


@pytest.fixture
def ranks(small: Path) -> Path:
    log = small / "ranks.log"
    log.write_text(RANKS)
    return log
