"""Chats, mails and dialogues."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence


from aifix.intake.genre.reading import MAIL_HEAD, STOPWORDS, UTTERED, WORD, Text, count_of, is_prose, share_of, words_of

# ---- chats and mails
_SAID = lazy_re(
    r"(?:\[?(?:\d{4}-\d\d-\d\d |\d\d?/\d\d?/\d{2,4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?\]?(?: -)?\s+)?"
    r"(?:<[@+ ]?(?P<nick>[\w.|\[\]-]{1,30})>|@?(?P<name>[^\W\d_][\w.-]{1,24}(?: [A-Z][\w.-]{0,20})?)(?: \(.{1,30}\))?:)\s+(?P<words>\S.*)$"
)
_STAMPED = lazy_re(r"\[?(?:\d{4}-\d\d-\d\d |\d\d?/\d\d?/\d{2,4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?\]?\s+(?:- )?[<@A-Za-z]")
_PERSONAL = lazy_re(
    r"\b(?:I|I'm|my|me|you|your|we|us|our|thanks|thank|hey|hi|hello|please|yes|yeah|nope|lol|anyone|somebody)\b|\?(?: |$)|:[a-z_]+:$"
    r"|[\u0400-\u052f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}.*[\u0400-\u052f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{4}"
)
_ROLE = lazy_re(
    r"(?:\*\*)?(User|Assistant|Human|AI|Q|A|Question|Answer|Me|You|Bot|ChatGPT|Claude|Customer|Support|Agent)(?:\*\*)?: ?(?:\*\*)? ?(?P<words>\S.*)$"
)
_SPEAKER = lazy_re(
    r"(?:\*\*)?@?[A-Za-z][\w.-]{1,24}(?: [A-Z][\w.'-]{0,20})?(?:\*\*)?(?: APP)?"
    r"(?:  ?\[?\d{1,2}:\d\d(?: ?[AaPp][Mm])?\]?$| ?[—–-]+ ?(?:Today|Yesterday|\d\d?/\d\d?/\d{2,4})"
    r"| (?:commented|wrote|replied|said|answered|opened this issue|asked)\b.{0,60}$"
    r"| ?[·•] ?(?:[a-z ]{3,24} ?[·•] ?)?(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|[A-Z][a-z]{2,8} \d{1,2},? \d{4}"
    r"|\d{1,2} \w{3,8} \d{4}|\d+ \w+ ago)$)"
)
_WROTE = lazy_re(r"(?:On .{4,80}|.{2,60}) (?:wrote|writes|schrieb|said):$")
_JOURNAL = lazy_re(r".{0,80}?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ [\w.@/-]+\[\d+\]: ")
_NO_NAME = words_of(
    "info error warning warn debug critical fatal note hint notice trace epoch step train val test loss error cause reason "
    "traceback file line usage failed passed collecting time host rank exitcode pid name date status message details output "
    "input args config total memory process device version root success result user assistant system human bot ai model "
    "prompt response question answer "
)


def is_chat(text: Text) -> bool:
    """Tell whether people talk here: a chat, a mail, a dialogue."""
    if count_of(_JOURNAL, text.raws) >= 0.5 * len(text.rows):
        return False  # programs speak here, each with its process number
    # A time before what somebody says may have been taken for a prefix.
    return _is_talk(text, text.rows) or _is_talk(text, text.raws)


def _is_talk(text: Text, raws: Sequence[str]) -> bool:
    rows = text.rows
    if text.traced > 0.5 * len(rows):
        return False
    if sum(MAIL_HEAD.match(row) is not None for row in rows[:14]) >= 3:
        return True
    quoted = sum(row.startswith("> ") for row in rows)
    if quoted >= 2 and any(_WROTE.match(row) for row in rows):
        return True
    if count_of(_SPEAKER, raws) >= 2 and text.prose >= 2 and text.logged == 0:
        return True
    joined = "\n".join(rows[:400])
    if joined.count('"user":') + joined.count('"author":') >= 2 and '"text":' in joined and '"ts":' in joined:
        return True
    roles = [match for raw in raws if (match := _ROLE.match(raw))]
    asked = sum(len(WORD.findall(match["words"])) >= 4 and _PERSONAL.search(match["words"]) is not None for match in roles)
    if len(roles) >= max(3, 0.5 * len(rows)) and len({match[1] for match in roles}) == 2 and asked >= 2:
        return all(_ROLE.match(row) or (is_prose(row) and not UTTERED.match(row)) for row in rows)
    names: Counter[str] = Counter()
    stamped = sentences = personal = 0
    for raw in raws:
        match = _SAID.match(raw)
        if match is None:
            continue
        name = (match["nick"] or match["name"]).lower()
        if name in _NO_NAME or name.endswith(("error", "exception", "warning")):
            continue
        names[name] += 1
        stamped += _STAMPED.match(raw) is not None or bool(match["nick"])
        words = WORD.findall(match["words"])
        sentences += (len(words) >= 3 and any(word.lower() in STOPWORDS for word in words)) or not match["words"].isascii()
        personal += _PERSONAL.search(match["words"]) is not None
    said = sum(names.values())
    speakers = [name for name, n in names.items() if n >= 2]
    if said < 3 or len(names) < 2 or text.logged or personal < 0.25 * said:
        return False
    if share_of(said, rows) >= 0.35 and sentences >= 0.5 * said:
        return bool(stamped >= 0.6 * said or (len(speakers) >= 2 and text.uttered <= 0.2 * len(rows)))
    return False
