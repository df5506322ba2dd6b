"""The rule base in memory: the shipped compiled form, with the user's own rules over it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.model import Rule
from aifix.rulebase import paths
from aifix.rulebase.form import FORMAT, CompiledSignature, Matcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aifix.match.fuzzy import Index

_RULE = msgspec.json.Decoder(Rule)
_RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])
_MATCHER = msgspec.json.Decoder(Matcher)
_WORDINGS = msgspec.json.Decoder(list[tuple[str, int, str, list[str]]])
Compiled = tuple[Matcher, dict[str, msgspec.Raw], bytes, bytes]


class Base(Mapping[str, Rule]):
    """Rules by id, decoded when first asked for, with the matcher's part ready."""

    def __init__(
        self,
        matcher: Matcher,
        texts: Mapping[str, bytes | msgspec.Raw],
        catalogues: bytes = b"{}",
        *,
        problems: Sequence[str] = (),
        overrides: Sequence[str] = (),
        wordings: bytes | None = None,
    ) -> None:
        """Hold a compiled base.

        Args:
            matcher: the matcher's part.
            texts: each rule as JSON, by id.
            catalogues: all catalogues as one JSON object.
            problems: what could not be read and is left out, a line each: file, line and why.
            overrides: which of the user's rules stand in a built-in one's place, a sentence each.
            wordings: the compiled wordings for the fuzzy stage; made from the rules when missing.

        """
        self.matcher = matcher
        self.problems = tuple(problems)
        self.messages = (*problems, *overrides)
        """What a person is to be told of the rules, a line each, for stderr."""
        self._texts = texts
        self._rules: dict[str, Rule] = {}
        self._catalogue_bytes = catalogues
        self._catalogues: dict[str, dict[str, Any]] | None = None
        self._wording_bytes = wordings
        self._wordings: Index | None = None

    def __getitem__(self, rule_id: str) -> Rule:
        rule = self._rules.get(rule_id)
        if rule is None:
            rule = self._rules[rule_id] = _RULE.decode(self._texts[rule_id])
        return rule

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, rule_id: object) -> bool:
        return rule_id in self._texts

    def digest(self) -> str:
        """Give a hash over the contents of all rules, for what is derived from them."""
        import hashlib

        found = hashlib.blake2b(digest_size=16)
        for rule_id, text in self._texts.items():
            found.update(f"{rule_id}\0".encode())
            found.update(bytes(text))
        return found.hexdigest()

    @property
    def catalogues(self) -> dict[str, dict[str, Any]]:
        """The vendor tables by name, entries by key."""
        if self._catalogues is None:
            self._catalogues = msgspec.json.decode(self._catalogue_bytes)
        return self._catalogues or {}

    @property
    def wordings(self) -> Index:
        """The wordings of all signatures, indexed for the fuzzy stage when first asked for."""
        if self._wordings is None:
            from aifix.match.fuzzy import Index

            if self._wording_bytes is not None:
                listed = _WORDINGS.decode(self._wording_bytes)
            else:
                from aifix.rulebase.compile import wordings

                listed = wordings(self.values())
            self._wordings = Index(listed)
        return self._wordings


def from_rules(rules: Iterable[Rule], catalogues: Mapping[str, Any] | None = None) -> Base:
    """Make a base of rules in memory, as tests and `rules test` do."""
    from aifix.rulebase.compile import matcher

    listed = list(rules)
    return Base(matcher(listed), {rule.id: msgspec.json.encode(rule) for rule in listed}, msgspec.json.encode(catalogues or {}))


def _bytes(folder: str, name: str) -> bytes:
    """Read a file whole; `pathlib` would take longer than the reading."""
    with open(os.path.join(folder, name), "rb") as stream:  # noqa: PTH118, PTH123
        return stream.read()


def _read(folder: str) -> Compiled | None:
    """Read a compiled folder; None when it is missing, of another format, or damaged."""
    try:
        part = _MATCHER.decode(_bytes(folder, "matcher.json"))
        if part.format != FORMAT:
            return None
        texts = _RAW.decode(_bytes(folder, "texts.json"))
        catalogues = _bytes(folder, "catalogues.json")
        wordings = _bytes(folder, "wordings.json")
    except (OSError, msgspec.MsgspecError):
        return None
    if any(signature.rule not in texts for signature in part.signatures):
        return None
    return part, texts, catalogues, wordings


def read_compiled(folder: str) -> Base | None:
    """Give the base of a compiled folder alone; None when it is missing, of another format, or damaged."""
    compiled = _read(folder)
    if compiled is None:
        return None
    part, texts, catalogues, wordings = compiled
    return Base(part, texts, catalogues, wordings=wordings)


def load() -> Base:
    """Load the built-in rules and the user's own over them.

    In a checkout the compiled form is rebuilt into the cache when a rule file changed; an unwritable cache is bypassed.
    """
    folder = paths.compiled_folder()
    compiled = _read(folder)
    problems: list[str] = []
    if compiled is None or paths.is_checkout():
        import contextlib
        from pathlib import Path

        from aifix.rulebase import compile as compiler

        rules = Path(paths.rules_folder())
        mark = compiler.fingerprint(rules)
        if compiled is None or compiled[0].fingerprint != mark:
            loaded, unread = compiler.load_folder(rules)
            catalogues, more = compiler.load_catalogues(rules)
            problems += [str(problem) for problem in unread + more]
            files = compiler.encode([item.rule for item in loaded], catalogues, "" if problems else mark)
            with contextlib.suppress(OSError):
                compiler.write(files, Path(folder))
            compiled = (
                _MATCHER.decode(files["matcher.json"]),
                _RAW.decode(files["texts.json"]),
                files["catalogues.json"],
                files["wordings.json"],
            )
    part, texts, catalogue_bytes, wordings = compiled
    own, own_problems = _user_rules()
    problems += own_problems
    if not own:
        return Base(part, texts, catalogue_bytes, problems=problems, wordings=wordings)
    return _merge(part, texts, catalogue_bytes, own, problems)


def _merge(part: Matcher, texts: dict[str, msgspec.Raw], catalogues: bytes, own: list[Rule], problems: list[str]) -> Base:
    """Put the user's rules over the built-in ones; an override says so."""
    from aifix.rulebase.compile import matcher

    mine = {rule.id: rule for rule in own}
    overrides = [f"rule {rule.id} from {rule.origin} overrides the built-in one" for rule in own if rule.id in texts]
    added = matcher(own)
    shift = len(part.cores)
    signatures = [signature for signature in part.signatures if signature.rule not in mine]
    signatures += [
        CompiledSignature(item.rule, item.index, item.pattern, tuple(core + shift for core in item.cores), item.anywhere, item.detector)
        for item in added.signatures
    ]
    merged = Matcher(FORMAT, part.fingerprint, part.cores + added.cores, part.keys + added.keys, tuple(signatures))
    encoded = {**texts, **{rule_id: msgspec.json.encode(rule) for rule_id, rule in mine.items()}}
    return Base(merged, encoded, catalogues, problems=problems, overrides=overrides)


def user_folders() -> list[tuple[str, str]]:
    """List the folders of the user's rules with their names: the project's, the user's, then installed rule packs."""
    return [(folder, name) for folder, name in paths.user_rule_folders() if os.path.isdir(folder)] + _packs()  # noqa: PTH112


def _packs() -> list[tuple[str, str]]:
    """List rule packs: distributions with an entry point in `aifix.rules` that names a folder of their package.

    The pack's code is never imported: the entry point `name = package:folder` is resolved to files by metadata alone.
    """
    found: list[tuple[str, str]] = []
    if paths.has_packs():
        for entry, text in paths.pack_metadata(paths.package_folders()):
            import configparser
            import contextlib

            parser = configparser.ConfigParser()
            with contextlib.suppress(configparser.Error):
                parser.read_string(text)
                for pack, target in parser["aifix.rules"].items():
                    package, _, folder = target.partition(":")
                    path = os.path.join(entry, *package.strip().split("."), *(folder.strip() or "rules").split("."))  # noqa: PTH118
                    if os.path.isdir(path):  # noqa: PTH112
                        found.append((path, f"rule pack {pack}"))
    return found


def _user_rules() -> tuple[list[Rule], list[str]]:
    """Load the user's rules, compiled once by content into the cache."""
    rules: list[Rule] = []
    problems: list[str] = []
    folders = user_folders()
    if not folders:
        return rules, problems
    import contextlib
    import hashlib
    from pathlib import Path

    for folder, name in folders:
        digest = hashlib.blake2b(f"{FORMAT}\0{name}".encode(), digest_size=16)
        for path in sorted(Path(folder).rglob("*.y*ml")):
            with contextlib.suppress(OSError):
                digest.update(path.read_bytes() + b"\0")
        cached = Path(paths.cache_folder(), f"user-{digest.hexdigest()}.json")
        try:
            rules += msgspec.json.decode(cached.read_bytes(), type=list[Rule])
            continue
        except (OSError, msgspec.MsgspecError):
            pass
        from aifix.rulebase import compile as compiler

        loaded, unread = compiler.load_folder(Path(folder), name)
        problems += [str(problem) for problem in unread]
        fresh = [item.rule for item in loaded]
        rules += fresh
        if not unread:
            with contextlib.suppress(OSError):
                compiler.write({cached.name: msgspec.json.encode(fresh)}, cached.parent)
    return rules, problems
