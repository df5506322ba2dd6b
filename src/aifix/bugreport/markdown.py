"""A bug report as Markdown, as GitHub and GitLab read it. No text of a log can act in it: it stands in fences, or its signs are escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifix.show.layout import sure
from aifix.show.safe import one_line, sanitise_block

if TYPE_CHECKING:
    from aifix.bugreport.collect import Bug

WORDS = {"confirmed": "**problem**", "refuted": "fine", "inconclusive": "unclear", "not-available": "not here", "not-run": "not run"}
_SIGNS = re.compile(r"([\\`*_{}\[\]|~])")
_COMPANIONS = (
    "torch",
    "torchvision",
    "torchaudio",
    "triton",
    "numpy",
    "transformers",
    "accelerate",
    "deepspeed",
    "vllm",
    "jax",
    "jaxlib",
    "tensorflow",
)


def render(bug: Bug) -> str:
    """Write the report."""
    parts = [f"# {plain(bug.title)}", _lead(bug), _section("Log", _log(bug))]
    if bug.answers:
        parts.append(_section("What the machine says", _answers(bug)))
    parts.append(_section("Environment", _environment(bug)))
    if bug.locked:
        parts.append(_section("Lock file, the packages that the log names", fenced("\n".join(bug.locked))))
    if bug.environment.packages:
        freeze = "\n".join(f"{name}=={version}" for name, version in bug.environment.packages.items())
        parts.append(f"<details><summary>{len(bug.environment.packages)} packages</summary>\n\n{fenced(freeze)}\n\n</details>")
    if bug.collected:
        parts.append(f"<details><summary>torch.utils.collect_env</summary>\n\n{fenced(bug.collected)}\n\n</details>")
    parts.append(f"<sub>Made by `aifix report` {bug.version}; secrets, home folders, user and host names are taken out.</sub>")
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text: str) -> str:
    """Escape what Markdown, HTML or a mention would act on."""
    shown = re.sub(r"#(?=\w)", "&#35;", one_line(text).replace("&", "&amp;"))
    return _SIGNS.sub(r"\\\1", shown.replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;"))


def fenced(text: str, language: str = "text") -> str:
    """Put a text into a fence that it cannot close."""
    shown = sanitise_block(text.strip("\n"))
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def code(text: str) -> str:
    """Put a text into a code span that it cannot close, also within a table."""
    shown = one_line(text).replace("|", "¦")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {shown} {ticks}" if longest else f"`{shown}`"


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}"


def _lead(bug: Bug) -> str:
    known = f"Diagnosis of aifix: {code(bug.diagnosis)}, {sure(bug.sure)}." if bug.diagnosis else "No rule of aifix knows this failure."
    lines = [known]
    if bug.then:
        lines.append(f"It happened {plain(bug.then)}.")
    if bug.place:
        lines.append(f"At {code(bug.place)}.")
    if bug.command:
        lines.append(f"Command: {code(bug.command)}")
    paragraphs = [" ".join(lines)] + [plain(part) for part in bug.explanation.split("\n\n") if part.strip()]
    if bug.fixes:
        paragraphs.append("What aifix would try:\n\n" + "\n".join(f"{number}. {plain(title)}" for number, title in enumerate(bug.fixes[:5], start=1)))
    return "\n\n".join(paragraphs)


def _log(bug: Bug) -> str:
    if not bug.log.strip():
        return "The run printed nothing."
    return fenced(bug.log)


def _answers(bug: Bug) -> str:
    rows = [f"| {code(one.id)} | {WORDS.get(one.status, one.status)} | {plain(one.summary)} |" for one in bug.answers]
    return "\n".join(["| probe | answer | |", "|---|---|---|", *rows])


def _environment(bug: Bug) -> str:
    environment = bug.environment
    packages = environment.packages
    rows = [
        ("system", environment.system),
        ("Python", f"{environment.python} ({environment.interpreter})" if environment.python else environment.interpreter),
        ("found by", bug.found),
        ("NVIDIA driver", environment.driver),
        ("cards", ", ".join(environment.cards)),
        *((name, packages[name]) for name in _COMPANIONS if name in packages),
        *((name, version) for name, version in packages.items() if name.startswith(("nvidia-cudnn", "nvidia-nccl", "nvidia-cuda-runtime"))),
        *environment.variables.items(),
    ]
    table = "\n".join(["| | |", "|---|---|", *(f"| {plain(name)} | {code(value)} |" for name, value in rows if value)])
    if not bug.elsewhere:
        return table
    return f"{table}\n\nThis is the machine on which the report was made; whether the run was here, its log does not say."
