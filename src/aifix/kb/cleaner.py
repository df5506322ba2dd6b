"""Takes secrets out of everything that an incident stores: also where a fact repeats one without the words that gave it away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aifix import redact

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 4
"""Characters of a secret that is looked for by itself; shorter ones are words."""


class Cleaner:
    """Knows the secrets of one failure, from wherever it told them."""

    def __init__(self, texts: Iterable[str], *, leaving: redact.Person | None = None) -> None:
        """Learn the secrets.

        Args:
            texts: everything that is to be cleaned, and what stood around it.
            leaving: the result leaves the machine: take out whose it is, too.

        """
        self._leaving = leaving
        whole = "\n".join(texts)
        found = {whole[item.start : item.end] for item in redact.find(whole)}
        self._secrets: list[str] = []
        self.learn(part for secret in found for part in (secret, *secret.splitlines()))

    def learn(self, secrets: Iterable[str]) -> None:
        """Add secrets that are known by other means."""
        fresh = {secret.strip() for secret in secrets if len(secret.strip()) >= SHORTEST and "PRIVATE KEY--" not in secret}
        self._secrets = sorted({*self._secrets, *fresh}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Clean a text."""
        return self._rest(redact.redact(text))

    def lines(self, text: str) -> str:
        """Clean a text, and leave each of its lines where it is: a secret of several lines leaves empty ones."""
        parts: list[str] = []
        at = 0
        for item in redact.find(text):
            parts += [text[at : item.start], f"<{item.kind}>", "\n" * text.count("\n", item.start, item.end)]
            at = item.end
        return self._rest("".join([*parts, text[at:]]))

    def _rest(self, shown: str) -> str:
        for secret in self._secrets:
            if secret in shown:
                shown = shown.replace(secret, "<secret>" + "\n" * secret.count("\n"))
        if self._leaving is not None:
            shown = redact.redact(shown, leaving=self._leaving)
        return shown if shown.isascii() else shown.encode("utf-8", "replace").decode()  # SQLite takes no lone surrogates

    def value(self, value: Any) -> Any:
        """Clean a fact's value, whatever its type; what JSON cannot hold becomes text."""
        if value is None or isinstance(value, (bool, int, float)):
            return value if not isinstance(value, float) or abs(value) < float("inf") else str(value)  # JSON has neither nan nor inf
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in value[:64]]
        return self.text(str(value))
