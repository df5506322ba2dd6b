"""Source code, rule files and markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence


from aifix.intake.genre.reading import CODE_MAYBE, CODE_SURE, ENOUGH, SPOKEN, UTTERED, Text, count_of, share_of

_DEFINITION = lazy_re(
    r"\s*(?:import |from \S+ import|(?:async )?def |class |#include|#define|function |const |export |fn |func |package |typedef |extern |struct )"
)
_YAML = lazy_re(r"\s*(?:- )?[\w./ -]{1,60}:(?: .*|$)|\s*- \S|\s*#|---$|\s{4,}\S|\s*[|>]-?$")
_YAML_ITEM = lazy_re(r"\s*- [\w-]+: \S|\s*- ['\"]")
_ALERT_KEY = lazy_re(r"\s*(?:- )?(?:alert|expr|annotations|regex|pattern|match|matcher|query|runbook_url|for_each|condition):(?: |$)")
_HOLES = lazy_re(r"%[sd]|%\(\w+\)|\{\w*\}|\$\{?\w+|\(\?|\\\\?[wdsS]")  # where a program puts its values into a text
_JSON_ROW = lazy_re(r"\s*(?:[{}\[\]]+,?$|\"[^\"]*\" ?: ?.*|\".*\",?$)")
_TAG_ROW = lazy_re(r"\s*</?[a-zA-Z!?][\w:-]*(?:\s[^>]*)?/?>")
_RESULT_TAG = lazy_re(r"<(?:testcase|failure|error|testsuites?|Error|Code)\b")
_PO_ROW = lazy_re(r"(?:msgid|msgstr|msgctxt|#[:,.~|])(?:\[\d\])? ?|\"")
_DOCKER_ROW = lazy_re(
    r"(?:FROM|RUN|COPY|ADD|ENV|ARG|WORKDIR|CMD|ENTRYPOINT|EXPOSE|USER|LABEL|SHELL|VOLUME|HEALTHCHECK|ONBUILD|STOPSIGNAL"
    r"|MAINTAINER) |\s*#|\s+\S|.*\\$|&& "
)
_SHELL_END = lazy_re(r"\s*(?:fi|done|esac)(?:\s*(?:[|;>&].*|# .*))?$")
_SHELL_OPEN = lazy_re(r"\s*(?:if|for|while|until|case|elif) .*(?:; ?(?:then|do)| in|\\)$|\s*(?:then|do)$")
_SHELL_ROW = lazy_re(
    r"\s*(?:if |elif |else$|fi\b|for .*; ?do$|do$|then$|done\b|while |until |case |esac|echo |printf |local |export |set [-+]|shift$|exit\b|trap "
    r"|\w+=|\w+ ?\(\) ?\{|\}|;;|#|.*[|\\]$|\[\[? |[\w./-]+ .*[$\"'|])"
)
_SQL_HEAD = lazy_re(r"(?i)(?:insert into|create (?:table|index|view)|select|update|delete from|alter table|with|begin|--|drop table) ?")
_TEX_ROW = lazy_re(r"\s*(?:\\[a-zA-Z]+\*?(?:[\[{ ]|$)|%)")
_AT_MARGIN = lazy_re(r"(?:import |from \S+ import|(?:async )?def \w|class \w|if __name__|@\w|#\s*(?:include|define|if|ifdef|ifndef|endif)\b)")
_TRAILING_COMMENT = lazy_re(r"(?<=\S)\s+(?:/\*.*\*/|//.*|#(?!include|define|if|endif|pragma|undef|el).*)\s*$|(?<=\S)\s*/\*.*\*/\s*$")
# What a sample of a data set, or an entry of a table of known texts, says of itself; a logger's record says when it was written.
_SAMPLE_KEY = lazy_re(
    r"[\"'](?:label|labels|class|category|tag|tags|target|answer|question|prompt|completion|instruction|pattern|regex|match|advice|hint|fix|remedy|solution|split)"
    r"[\"'] ?:"
)
_RECORD_KEY = lazy_re(
    r"[\"'](?:time|ts|t|timestamp|@timestamp|asctime|level|levelname|severity|stream|log|exc_info|traceback|stack|exception|error)[\"'] ?:"
)
_CONFIG_ROW = lazy_re(r"\s*(?:- )*(?:[\w.\"'-]+: ?.*|- \S.*|[|>]-?)$|\s*#|---$|\.\.\.$|\s{4,}\S")
_REGEX_BITS = lazy_re(r"\\[.dws(\[]|\(\?[P:i]|\.\*|\[\^|\\\\")


def _code_kinds(rows: Sequence[str]) -> list[bool | None]:
    """For each line: surely code, possibly (comments, strings and what goes on inside brackets), or no code at all."""
    kinds: list[bool | None] = []
    closing = ""  # what ends the docstring or block comment that is open
    depth = 0
    for whole in rows:
        row = _TRAILING_COMMENT.sub("", whole) or whole
        stripped = row.strip()
        if closing:
            kinds.append(False)
            if closing in stripped:
                closing = ""
            continue
        opening = next((mark for mark in ('"""', "'''", "/*") if stripped.lstrip("rbfuRBFU").startswith(mark)), "")
        if opening:
            end = "*/" if opening == "/*" else opening
            body = stripped.lstrip("rbfuRBFU")[len(opening) :]
            if end not in body:
                closing = end
            kinds.append(False)
            continue
        sure = CODE_SURE.match(row) is not None
        if sure and _AT_MARGIN.match(row):
            depth = 0  # a bracket inside a string was taken for one that is open
        if sure or depth:
            depth = min(max(depth + sum(map(row.count, "([{")) - sum(map(row.count, ")]}")), 0), 40)
            kinds.append(sure)
        elif row.endswith(('= """', "= '''", '("""')):
            closing = row[-3:]
            kinds.append(False)
        else:
            kinds.append(False if CODE_MAYBE.match(row) else None)
    return kinds


def is_source(text: Text) -> bool:
    """Tell whether a text is source code, a notebook, a list of rules or markup."""
    rows = text.rows
    joined = "\n".join(rows[:60])
    if '"cells"' in joined and ('"cell_type"' in joined or '"nbformat"' in joined):
        return True
    if text.logged:
        return False
    if _is_rule_list(text):
        return True
    if text.traced:
        return False
    if _is_other_language(text) or _is_samples(rows) or (text.uttered == 0 and _is_config(rows)):
        return True
    kinds = [kind for kind in _code_kinds(rows) if kind is not None]
    sure, maybe = kinds.count(True), kinds.count(False)
    hard = sum(UTTERED.match(row) is not None and CODE_SURE.match(row) is None and row[0].isalpha() for row in rows)
    if sure >= 3 and hard <= 0.03 * len(rows) and share_of(sure + maybe, rows) >= 0.75:
        defined = any(_DEFINITION.match(row) for row in rows)
        if (defined and sure >= 0.15 * len(rows)) or (share_of(sure + maybe, rows) >= 0.9 and sure >= 0.3 * len(rows)):
            return True
    # Little but comments, docstrings and tables, between definitions at the margin.
    margin = count_of(_AT_MARGIN, rows)
    return margin >= 2 and sure >= 2 and hard == 0 and share_of(sure + maybe, rows) >= 0.92 and _ends_as_code(rows)


def _ends_as_code(rows: Sequence[str]) -> bool:
    """Tell whether the last line is none that a run ends with."""
    return not UTTERED.match(rows[-1].lstrip()) and not SPOKEN.match(rows[-1])


def _is_samples(rows: Sequence[str]) -> bool:
    """JSON, one object a line or one array of them: samples of a data set or entries of a table, none of them a logger's record."""
    objects = [row for row in rows if re.fullmatch(r"\s*\{.*\},?\s*", row)]
    if len(objects) < 3 or len(objects) < len(rows) - 2:
        return False
    return sum(_SAMPLE_KEY.search(row) is not None for row in objects) >= 0.9 * len(objects) and not any(_RECORD_KEY.search(row) for row in objects)


def _is_config(rows: Sequence[str]) -> bool:
    """YAML with comments at the margin: a file, no dump of settings that a run prints."""
    if sum(re.match(r"# \S", row) is not None for row in rows) < 2 or count_of(_CONFIG_ROW, rows) < len(rows):
        return False
    return sum(re.match(r"\s*(?:- )*[\w.\"'-]+:(?: |$)", row) is not None for row in rows) >= max(4, 0.4 * len(rows))


def _is_rule_list(text: Text) -> bool:
    """YAML whose items hold patterns or sentences; tracebacks may stand in it, as examples."""
    rows = text.rows
    hard = sum(UTTERED.match(row) is not None and CODE_SURE.match(row) is None and row[0].isalpha() for row in rows)
    if share_of(count_of(_YAML, rows), rows) < 0.9 or count_of(_YAML_ITEM, rows) < 2 or hard:
        return False
    quoted = sum(re.search(r": ['\"]|: \|$|- ['\"]", row) is not None for row in rows)
    if count_of(_ALERT_KEY, rows) >= 2:
        return True
    return quoted >= 2 and (sum(_REGEX_BITS.search(row) is not None for row in rows) >= 2 or text.prose >= 2)


def _is_other_language(text: Text) -> bool:
    """Markup, catalogues of texts, and files for shells, Docker, databases and TeX."""
    rows = text.rows
    size = len(rows)
    bare = sum(UTTERED.match(row) is not None and row[0].isalpha() for row in rows)
    if rows[0].startswith("#!") and "/" in rows[0]:
        return bare == 0
    if count_of(_SHELL_END, rows) >= 2 and count_of(_SHELL_OPEN, rows) and count_of(_SHELL_ROW, rows) >= 0.8 * size:
        return bare == 0
    if count_of(_TAG_ROW, rows) >= max(ENOUGH, 0.75 * size):
        return not any(_RESULT_TAG.search(row) for row in rows)
    if rows[0].strip() in ("{", "[") and rows[-1].strip() in ("}", "]") and count_of(_JSON_ROW, rows) >= 0.95 * size:
        if sum(_HOLES.search(row) is not None for row in rows) >= 2:
            return True
        return sum(_SAMPLE_KEY.search(row) is not None for row in rows) >= 3 and not any(_RECORD_KEY.search(row) for row in rows)
    if sum(row.startswith(("msgid ", "msgstr ")) for row in rows) >= ENOUGH and count_of(_PO_ROW, rows) >= 0.9 * size:
        return True
    if any(row.startswith("FROM ") for row in rows) and any(row.startswith(("RUN ", "CMD ", "COPY ", "ENV ", "ENTRYPOINT ")) for row in rows):
        return count_of(_DOCKER_ROW, rows) >= 0.9 * size and bare == 0
    if _SQL_HEAD.match(rows[0]) and any(row.rstrip().endswith(";") for row in rows[-2:]):
        return sum(row.rstrip().endswith((",", ";", "(")) for row in rows) >= 0.75 * size and bare == 0
    return count_of(_TEX_ROW, rows) >= max(3, 0.5 * size) and bare == 0
