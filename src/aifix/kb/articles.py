"""The articles of the knowledge base: read from Markdown once, then from a compiled file that needs no YAML.

`load()` gives all of them by name; `load().of_rule("cuda.oom")` those that give background to a rule. Everything in here may run after a
failed pipe, so it imports nothing that the rule base has not imported already, unless an article changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.lazy import lazy_re
from aifix.rulebase import paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FORMAT = 1
"""Version of the compiled form; another one is rebuilt."""
COMPILED = "articles.json"
FENCE = "---\n"
NOT_ARTICLES = frozenset({"README.md"})

_LINK = lazy_re(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?<![!\\])\[(?P<text>(?:`[^`\n]*`|[^\]`\[])*)\]\((?P<to>[^)\s]+)\)"
)
"""A link, or a piece of code, in which no link stands."""
_BLOCK = lazy_re(r"^( {0,3})(`{3,}|~{3,}).*?^ {0,3}\2[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to read on."""

    title: str
    url: str


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands above an article, between two lines of dashes; kb/README.md describes each field."""

    title: str
    summary: str
    topics: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()


class Article(msgspec.Struct, frozen=True):
    """One article. `name` is its file's without the ending; `body` is CommonMark whose headings start at the second level."""

    name: str
    title: str
    summary: str
    topics: tuple[str, ...]
    rules: tuple[str, ...]
    references: tuple[Reference, ...]
    body: str


class Link(msgspec.Struct, frozen=True):
    """A link in a body. `kind` says where to: a `rule` (`target` is its id), an `article` (its name), the `web` (the address), or a `file`."""

    kind: str
    target: str
    text: str
    anchor: str = ""


class ArticleError(ValueError):
    """A file is no article; the message says which, where and why."""


class _Compiled(msgspec.Struct, frozen=True):
    format: int
    fingerprint: str
    articles: tuple[Article, ...]


_COMPILED = msgspec.json.Decoder(_Compiled)


class Articles(Mapping[str, Article]):
    """All articles by name, in the order of their names."""

    def __init__(self, articles: Iterable[Article] = (), messages: Iterable[str] = ()) -> None:
        """Hold articles.

        Args:
            articles: the articles.
            messages: what was wrong with files that are no articles, a line each.

        """
        self._articles = {article.name: article for article in sorted(articles, key=lambda one: one.name)}
        self._by_rule: dict[str, list[Article]] = {}
        self.messages = tuple(messages)
        for article in self._articles.values():
            for rule in article.rules:
                self._by_rule.setdefault(rule, []).append(article)
        for rule, listed in self._by_rule.items():
            listed.sort(key=lambda one: (one.rules.index(rule), len(one.rules), one.name))

    def __getitem__(self, name: str) -> Article:
        return self._articles[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._articles)

    def __len__(self) -> int:
        return len(self._articles)

    def of_rule(self, rule_id: str) -> tuple[Article, ...]:
        """Give the articles that name a rule: first the one that names it first; among equals the one that names the fewest."""
        return tuple(self._by_rule.get(rule_id, ()))

    def topics(self) -> dict[str, list[Article]]:
        """Give the articles by topic."""
        found: dict[str, list[Article]] = {}
        for article in self._articles.values():
            for topic in article.topics:
                found.setdefault(topic, []).append(article)
        return dict(sorted(found.items()))


_loaded: Articles | None = None


def load() -> Articles:
    """Give all articles, read once a process: compiled ones of an installed aifix, or those of a checkout, compiled anew when one changed."""
    global _loaded  # noqa: PLW0603 - one set of articles a process, loaded when first needed
    if _loaded is None:
        _loaded = _load()
    return _loaded


def background(rule_id: str, most: int = 3) -> tuple[tuple[str, str], ...]:
    """Give name and title of the articles that are most about a rule, for reports; none where articles cannot be read."""
    return tuple((article.name, article.title) for article in load().of_rule(rule_id)[:most])


def folder() -> str:
    """Give the folder of the articles: the checkout's `kb/`, or the copy packed into the wheel."""
    if paths.is_checkout():
        return os.path.join(os.path.dirname(paths.rules_folder()), "kb")  # noqa: PTH118, PTH120 - pathlib costs start-up
    return os.path.join(paths.PACKAGE, "_kb")  # noqa: PTH118


def _load() -> Articles:
    compiled = _read(paths.compiled_folder())
    if compiled is not None and not paths.is_checkout():
        return Articles(compiled.articles)
    mark = _fingerprint(folder())
    if compiled is not None and compiled.fingerprint == mark:
        return Articles(compiled.articles)
    articles, messages = read_folder(folder())
    if not messages:
        _keep({COMPILED: encode(articles, mark)})
    return Articles(articles, messages)


def _read(where: str) -> _Compiled | None:
    """Read the compiled articles; None when they are missing, of another format, or damaged."""
    try:
        with open(os.path.join(where, COMPILED), "rb") as stream:  # noqa: PTH118, PTH123
            found = _COMPILED.decode(stream.read())
    except (OSError, msgspec.MsgspecError):
        return None
    return found if found.format == FORMAT else None


def _keep(files: dict[str, bytes]) -> None:
    """Write compiled files into the cache; one that cannot be written is done without."""
    import contextlib
    from pathlib import Path

    from aifix.rulebase import compile as compiler

    with contextlib.suppress(OSError):
        compiler.write(files, Path(paths.compiled_folder()))


def files(where: str) -> list[str]:
    """List the names of the article files in a folder; none where there is no such folder."""
    try:
        return sorted(name for name in os.listdir(where) if name.endswith(".md") and name not in NOT_ARTICLES and not name.startswith("."))  # noqa: PTH208
    except OSError:
        return []


def _fingerprint(where: str) -> str:
    """Give a hash over names, sizes and times of the files: cheap, and enough for a development tree."""
    import hashlib

    digest = hashlib.blake2b(f"{FORMAT}".encode(), digest_size=16)
    for name in files(where):
        stat = os.stat(os.path.join(where, name))  # noqa: PTH116, PTH118
        digest.update(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def read_folder(where: str) -> tuple[list[Article], list[str]]:
    """Read every article of a folder; a broken file is reported and the others are kept."""
    found: list[Article] = []
    messages: list[str] = []
    for name in files(where):
        path = os.path.join(where, name)  # noqa: PTH118
        try:
            with open(path, encoding="utf-8") as stream:  # noqa: PTH123
                found.append(parse(stream.read(), name.removesuffix(".md"), path))
        except ArticleError as error:
            messages.append(str(error))
        except (OSError, UnicodeDecodeError) as error:
            messages.append(f"{path} cannot be read: {error}")
    return found, messages


def encode(articles: Iterable[Article], mark: str = "") -> bytes:
    """Encode articles in the compiled form."""
    return msgspec.json.encode(_Compiled(FORMAT, mark, tuple(articles)))


def parse(text: str, name: str, file: str = "") -> Article:
    """Read one article.

    Args:
        text: the file's text.
        name: the article's name.
        file: the file's name, for messages.

    Raises:
        ArticleError: the front matter is missing, is not YAML, or has not the fields that it must have.

    """
    from aifix.rulebase.source import RuleError, load_yaml, position

    file = file or f"{name}.md"
    head, found, body = text.replace("\r\n", "\n").partition(f"\n{FENCE}")
    if not head.startswith(FENCE) or not found:
        raise ArticleError(f"{file}:1:1: an article begins with its front matter between two lines '---'")
    source = head.removeprefix(FENCE)
    try:
        data: Any = load_yaml(source, file)
        parsed = msgspec.convert(data, Head)
    except RuleError as error:
        problem = error.problem
        raise ArticleError(f"{file}:{problem.line + 1 if problem.line else 1}:{problem.column or 1}: {problem.message}") from error
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        line, column = position(source, path.rstrip("`"))
        raise ArticleError(f"{file}:{line + 1 if line else 1}:{column or 1}: {message}{f' at {path[:-1]}' if path else ''}") from error
    return Article(name, parsed.title, parsed.summary, parsed.topics, parsed.rules, parsed.references, body.strip("\n") + "\n")


def prose(body: str) -> str:
    """Give a body without its fenced code."""
    return _BLOCK.sub("", body)


def links(body: str) -> list[Link]:
    """Give the links of a body in their order; what stands in code is none."""
    return [link(found["text"], found["to"]) for found in _LINK.finditer(prose(body)) if found["to"]]


def link(text: str, target: str) -> Link:
    """Say where a link leads."""
    if target.startswith("rule:"):
        return Link("rule", target.removeprefix("rule:"), text)
    if "://" in target or target.startswith(("mailto:", "#")):
        return Link("web", target, text)
    path, _, anchor = target.partition("#")
    return Link("article", path.removesuffix(".md"), text, anchor) if path.endswith(".md") else Link("file", target, text)


def relink(body: str, written: Callable[[Link], str]) -> str:
    """Write every link of a body anew; what stands in fenced code is left alone.

    Args:
        body: CommonMark.
        written: gives the text that stands for a `Link`.

    """

    def anew(found: re.Match[str]) -> str:
        return written(link(found["text"], found["to"])) if found["to"] else found[0]

    out: list[str] = []
    at = 0
    for block in _BLOCK.finditer(body):
        out += [_LINK.sub(anew, body[at : block.start()]), block[0]]
        at = block.end()
    out.append(_LINK.sub(anew, body[at:]))
    return "".join(out)


def fences(body: str) -> list[tuple[str, str]]:
    """Give the blocks of code of a body: language and text."""
    found: list[tuple[str, str]] = []
    for block in _BLOCK.finditer(body):
        first, _, rest = block[0].partition("\n")
        found.append((first.strip().lstrip("`~").strip(), rest.rpartition("\n")[0] + "\n"))
    return found
