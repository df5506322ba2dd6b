"""Pages that people wrote: documentation, issues, notes."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from aifix.intake.genre.reading import BULLET, SPOKEN, UTTERED, WORD, Text, count_of, is_prose, share_of
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHECK = lazy_re(r"\s*(?:[-*+] )?\[[ xX]\] \S")
_WIKI_ROW = lazy_re(r"\{\|| ?\|[-}|] ?|!+ ?\S|\| ?\S|\[\[[^\]]+\]\]$|={2,4} ?[^=]+ ?={2,4}$|h[1-6]\. |\|\|.*\|\|$|<code>|__\w+__$")
_QUOTING = lazy_re(
    r"[\"“„«「『](?![^\"”“»」』]* --?\w)(?=[^\"”“»」』]* )[A-Za-z0-9][^\"”“»」』]{5,120}[\"”“»」』]|`[A-Z][\w.]*(?:Error|Exception): [^`]{4,120}`"
)
_EXPLAINS = lazy_re(
    r"\b(?:you|your|we|means?|sees?|saw|should|which|what|why|how|when|if|because|document|handle|ask|use|it is|TODO|DONE|FIXME"
    r"|catch|retry|instead|before"
    r"|sie|wenn|bitte|dann|meist|bedeutet|heißt|hilft|vous|votre|signifie|quand|lorsque|faut|usted|significa|cuando|você|quando|betekent)\b"
    r"|[\u0400-\u052f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}",
    re.IGNORECASE,
)
_ISSUE_FORM = lazy_re(
    r"#{2,4} .{0,40}(?:Describe the bug|Bug|To Reproduce|Reproduc|Logs?|Error|Stack trace|Traceback|Actual|What happened|Versions?)", re.IGNORECASE
)
# What programs write as a page: an error report with the exception's type and message as items.
_REPORT = lazy_re(r"\s*[-*+] \*\*(?:Exception|Error)[\w ]{0,20}:\*\*")
# The two halves of a change's description: what was said before it, and what is said now.
_FORMER = lazy_re(r"\W{0,4}(?:Before|Old|Previously|Previous|Current|Actual)(?: [\w ]{1,30})?\W{0,3}$", re.IGNORECASE)
_LATTER = lazy_re(r"\W{0,4}(?:After|New|Now|Expected|Proposed)(?: [\w ]{1,30})?\W{0,3}$", re.IGNORECASE)
# Who asks and who answers, on a page of questions.
_ASKS = lazy_re(r"\W{0,4}(?:Q|Question|Frage|Pregunta|Pergunta|Domanda|Vraag|Вопрос|Питання|问|問|问题|問題|質問|질문)\d{0,3}\W{0,3}[:：]\s*\S")
_ANSWERS = lazy_re(
    r"\W{0,4}(?:A|Answer|Antwort|Réponse|Respuesta|Resposta|Risposta|Antwoord|Ответ|Відповідь|答|回答|答案|답변|답)\d{0,3}\W{0,3}[:：]\s*\S"
)
_DIRECTIVE_ROW = lazy_re(r"\s*\.\. [\w-]+::")
_TABLE_RULE_ROW = lazy_re(r"\s{0,4}\|?[ :]{0,4}-{2,80}[ :]{0,4}\|[-| :]*$")
_OUTLINE = lazy_re(r"\*{1,5} \w")
_TITLE_ROW = lazy_re(r"#{1,6} \S")
# What a page never ends with: a failure at the margin, not even quoted.
_FAILED_LAST = lazy_re(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)(?:\(\w+\))?(?:: \S.*)?$|Killed$|Segmentation fault|Aborted|Bus error|Terminated$"
    r"|(?:error|fatal|ERROR|FATAL|CRITICAL)\b.{0,4} \S"
)
_PARAGRAPH = 40
"""Words of a line that hold a whole paragraph: what people write comes so, unwrapped."""
_BLOCKQUOTE = lazy_re(r">+ (?!\w[\w./@-]*@\d|[\w-]+ (?:build|run|start|test)\b)\S")


def is_document(text: Text) -> bool:
    """Tell whether a text is a page that somebody wrote."""
    rows = text.open_rows
    size = len(text.rows)
    if not rows:
        return False
    log = text.traced + text.logged + sum(UTTERED.match(row) is not None for row, fenced in zip(text.rows, text.fenced, strict=True) if fenced)
    if any(_REPORT.match(row) for row in rows):
        return False
    if log > 0.35 * size or (text.traced and any(_ISSUE_FORM.match(row) for row in rows)):
        return False
    if any(row.startswith(("{|", "||", "|- ", "[[Category:")) or row == "|-" for row in rows) and count_of(_WIKI_ROW, rows) >= 0.6 * len(rows):
        return True
    checks = count_of(_CHECK, rows)
    if checks >= 3 and share_of(checks, rows) >= 0.4:
        return True
    written = text.prose + sum(1 for row in rows if (match := BULLET.match(row)) and not is_prose(row) and len(WORD.findall(match["body"])) >= 3)
    share = share_of(written, rows)
    if _is_marked_up(text, rows) or _is_essay(text, rows) or _is_faq(text, rows, share):
        return True
    # Under a title, what programs print stands in quotation only.
    if text.headings and count_of(_BLOCKQUOTE, rows) >= 2 and not (text.uttered or text.logged or text.traced):
        return True
    marks = min(text.headings, 4) + min(text.markup, 4) + (1 if text.bullets >= 3 else 0)
    structure = marks + min(text.inline, 3)
    noise = share_of(text.uttered, rows)
    failed_last = not text.fenced[-1] and _FAILED_LAST.match(text.rows[-1]) is not None
    if structure >= 4 and text.headings >= 1 and share >= 0.3 and noise <= 0.25 and not failed_last:
        return True
    if text.prose >= 2 and share >= 0.2 and not (text.traced or text.logged) and _compares(text):
        return True
    if text.traced or any(SPOKEN.match(row) for row in rows):
        return False
    # Sentences that quote what programs say, and tell what it means or what is to be done.
    quoting = sum(_QUOTING.search(row) is not None and _says_more(_QUOTING.sub("", row)) for row in rows)
    if quoting >= 2 and share >= 0.35 and not (text.uttered or text.logged) and sum(map(_explains, rows)) >= 2:
        return True
    if not text.headings and any(UTTERED.match(row) for row in rows[-4:]):
        return False  # a run ends with what went wrong, a page hardly ever
    if marks >= 1 and structure >= 2 and share >= 0.45 and noise <= 0.2 and not failed_last:
        return True
    # Plain prose: nearly everything is sentences, and nothing stands there that a program said.
    return text.prose >= 5 and share >= 0.6 and noise <= 0.04


def _compares(text: Text) -> bool:
    """Whether a label for what was and one for what is each stand above a quotation: fenced, indented, or at Python's prompt."""
    labels = [
        row
        for (row, below), fenced in zip(pairwise(text.rows), text.fenced[1:], strict=True)
        if row.rstrip().endswith((":", ":**")) and (fenced or below.startswith(("  ", "\t", ">>> ")))
    ]
    return bool(count_of(_FORMER, labels) and count_of(_LATTER, labels))


def _says_more(rest: str) -> bool:
    """Whether a line says something besides what it quotes."""
    return len(WORD.findall(rest)) >= 3 or (not rest.isascii() and is_prose(rest))


def _explains(row: str) -> bool:
    """Whether a line tells what something means or what to do; of languages that are not known here, every sentence may."""
    return _EXPLAINS.search(row) is not None or (not row.isascii() and is_prose(row))


def _bare(rows: Sequence[str]) -> bool:
    """Whether something that only programs print stands at the margin."""
    return any(row[0].isalpha() and (UTTERED.match(row) or SPOKEN.match(row)) for row in rows)


def _is_marked_up(text: Text, rows: Sequence[str]) -> bool:
    """Pages whose markup no program prints: directives of reStructuredText, tables of AsciiDoc, titles above tables that explain."""
    if text.logged or text.traced:
        return False
    if (text.headings and count_of(_DIRECTIVE_ROW, rows) >= 3) or (sum(row.startswith("|===") for row in rows) >= 2 and text.prose >= 2):
        return not _bare(rows)
    if count_of(_OUTLINE, rows) >= 3 and any(row.startswith("* ") for row in rows) and any(row.startswith("** ") for row in rows):
        return not _bare(rows)
    if count_of(_TABLE_RULE_ROW, rows) and text.inline >= 2:
        titles = count_of(_TITLE_ROW, rows)
        written = text.prose + text.bullets + titles + sum(row.lstrip().startswith("|") for row in rows)
        if written >= (0.4 if titles >= 2 else 0.8) * len(rows) and (titles >= 2 or text.prose >= 3):
            return not _bare(rows)
    # Under titles, what stands deeper is a quotation.
    margin = [row for row in rows if not row.startswith(("    ", "\t"))]
    return text.headings >= 1 and text.prose >= 6 and share_of(sum(map(is_prose, margin)), margin) >= 0.6 and not _bare(rows)


def _is_essay(text: Text, rows: Sequence[str]) -> bool:
    """Whether a text is nothing but long paragraphs."""
    if text.logged or text.traced or text.uttered:
        return False
    long = sum(is_prose(row) and len(WORD.findall(row)) >= _PARAGRAPH for row in rows)
    return long >= 3 and share_of(text.prose, rows) >= 0.7 and not any(SPOKEN.match(row) for row in rows)


def _is_faq(text: Text, rows: Sequence[str], share: float) -> bool:
    """Whether somebody asks and somebody answers, each by a label, and hardly anything else stands there."""
    asked, answered = count_of(_ASKS, rows), count_of(_ANSWERS, rows)
    if not (asked and answered) or text.logged or text.traced or UTTERED.match(rows[-1]):
        return False
    return text.prose >= 3 and share >= 0.45 and text.uttered <= asked
