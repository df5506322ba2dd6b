"""Secrets and names out of texts: before anything is stored, exported, or leaves the machine in a report.

`redact` takes out what opens doors: tokens, keys, passwords, addresses. With `leaving`, it also takes out whose machine it was: home
folders, user and host names. Plain log lines stay as they are: `token_id=50256` and `loss: 1e-4` are no secrets, and nobody can
debug with a log in which every number is gone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping

_EDGE = r"(?<![A-Za-z0-9_])"
_NAMED = (
    r"(?:[A-Za-z0-9_.-]*(?:pass(?:word|wd|phrase)|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?(?:key|token)|access[_-]?(?:key|token)"
    r"|auth[_-]?(?:key|token)|(?:account|private|signing|encryption|storage|shared[_-]?access|license|session|refresh|bearer|client)[_-]?(?:key|token|secret)"
    r"|credentials?|connection[_-]?string|subscription[_-]?key|identity[_-]?token|security[_-]?token)|pwd|[A-Z][A-Z0-9_]*_(?:TOKEN|PAT|PASS|PWD|KEY)|(?:hf|hub|use_auth|gh|github|gitlab|wandb|slack|bot)[_-]?(?:token|key))"
)
_VALUE = r"(?:\"(?P<{0}q>[^\"\n]{{4,400}})\"|'(?P<{0}s>[^'\n]{{4,400}})'|(?P<{0}v>[^\s\"',;&)}}\]]{{4,400}}))"

# Each kind: its name, as the placeholder shows it, and where it stands. A group named `value…` is the secret; without one the whole match is.
_KINDS: tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...] = (
    (
        "private key",
        lazy_re(
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[\s\S]){0,16000}?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)"  # noqa: E501
        ),
        ("PRIVATE KEY",),
    ),
    (  # a text that was cut begins in the midst of one
        "private key",
        lazy_re(r"\A(?:[A-Za-z0-9+/=]{1,76}\r?\n){1,400}-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
        ("PRIVATE KEY",),
    ),
    ("Hugging Face token", lazy_re(_EDGE + r"(?:hf|api_org)_[A-Za-z0-9]{30,}"), ("hf_", "api_org_")),
    ("GitHub token", lazy_re(_EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})"), ("gh", "github_pat_")),
    ("GitLab token", lazy_re(_EDGE + r"gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_.-]{20,}"), ("gl",)),
    ("Anthropic key", lazy_re(_EDGE + r"sk-ant-[A-Za-z0-9_-]{20,}"), ("sk-ant-",)),
    ("OpenAI key", lazy_re(_EDGE + r"sk-(?:proj-|svcacct-|admin-|None-|or-v1-)?[A-Za-z0-9_-]{20,}"), ("sk-",)),
    ("W&B key", lazy_re(_EDGE + r"(?:local-[0-9a-f]{40}|wandb_v1_[A-Za-z0-9_]{20,})"), ("local-", "wandb_v1_")),
    ("W&B key", lazy_re(r"(?i)\b(?:wandb|w&b|weights ?& ?biases|api\.wandb\.ai)[^\n]{0,60}?(?<![0-9a-f])(?P<value>[0-9a-f]{40})(?![0-9a-f])"), ("wandb", "W&B", "WANDB", "Wandb", "eights")),  # noqa: E501
    ("AWS key id", lazy_re(_EDGE + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])"), ("AKIA", "ASIA", "ABIA", "ACCA")),
    ("AWS secret key", lazy_re(r"(?i)aws[^\n]{0,40}?(?:secret|key)[^\n]{0,20}?[=:\s\"']+(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"), ("aws", "AWS", "Aws")),  # noqa: E501
    ("Google key", lazy_re(_EDGE + r"(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_.-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,})"), ("AIza", "ya29.", "GOCSPX-", "1//0")),  # noqa: E501
    ("Azure key", lazy_re(r"(?i)(?:AccountKey|SharedAccessKey|AZURE[A-Z_]*KEY)\"?\s*[=:]\s*\"?(?P<value>[A-Za-z0-9+/]{32,}={0,2})"), ("Key", "KEY", "key")),  # noqa: E501
    ("Azure signature", lazy_re(r"[?&](?:amp;)?(?:sig|Signature|X-Amz-Signature|X-Goog-Signature|X-Amz-Security-Token)=(?P<value>[A-Za-z0-9%+/=_.~-]{16,})"), ("sig=", "ignature=", "Token=")),  # noqa: E501
    ("Azure secret", lazy_re(r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"), ("Q~",)),
    ("Slack token", lazy_re(_EDGE + r"(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})"), ("xox", "xapp-")),
    ("Slack webhook", lazy_re(r"https://hooks\.slack\.com/(?:services|workflows)/(?P<value>[A-Za-z0-9/_+-]{20,})"), ("hooks.slack.com",)),
    ("webhook", lazy_re(r"https://(?:discord(?:app)?\.com/api/webhooks|[\w.-]+\.webhook\.office\.com/webhookb2)/(?P<value>[\w./@+-]{20,})"), ("webhook",)),  # noqa: E501
    ("PyPI token", lazy_re(_EDGE + r"pypi-[A-Za-z0-9_-]{50,}"), ("pypi-",)),
    ("npm token", lazy_re(_EDGE + r"npm_[A-Za-z0-9]{36}|_authToken=(?P<value>[^\s\"']{8,})"), ("npm_", "_authToken")),
    ("service key", lazy_re(_EDGE + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|nvapi-[A-Za-z0-9_-]{40,}|dckr_pat_[A-Za-z0-9_-]{20,}|do[opr]_v1_[0-9a-f]{60,}|SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{30,}|pplx-[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|lsv2_[a-z]{2}_[A-Za-z0-9_]{30,}|dapi[0-9a-f]{32}|KGAT_[0-9a-f]{32}|tgp_v1_[A-Za-z0-9_-]{30,}|hv[sbr]\.[A-Za-z0-9_-]{24,}|lin_api_[A-Za-z0-9]{30,}|(?:ntn|secret)_[A-Za-z0-9]{40,}|figd_[A-Za-z0-9_-]{30,}|AGE-SECRET-KEY-1[0-9A-Z]{50,})"),  # noqa: E501
     ("k_", "r8_", "nvapi-", "dckr_pat_", "_v1_", "SG.", "pplx-", "xai-", "lsv2_", "dapi", "KGAT_", "hvs.", "hvb.", "hvr.", "lin_api_", "ntn_", "secret_", "figd_", "AGE-")),  # noqa: E501
    ("JWT", lazy_re(_EDGE + r"eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{0,}|[A-Za-z0-9_-]{0,}(?:\.[A-Za-z0-9_-]{8,}){3})"), ("eyJ",)),  # noqa: E501
    ("API token", lazy_re(_EDGE + r"eyJhcGlf[A-Za-z0-9+/_-]{40,}={0,2}"), ("eyJhcGlf",)),  # Neptune's: JSON in base64, `{"api_…`
    ("registry password", lazy_re(r"[\"'](?:auth|identitytoken|registrytoken)[\"']\s*:\s*[\"'](?P<value>[A-Za-z0-9+/_.=-]{16,})[\"']"), ("auth", "token")),  # noqa: E501
    ("registry password", lazy_re(r"(?:^|[\s/:])_(?:auth|password)\s*=\s*[\"']?(?P<value>[^\s\"']{8,})"), ("_auth", "_password")),
    ("kubeconfig", lazy_re(r"\bclient-(?:key|certificate)-data[\"']?\s*:\s*[\"']?(?P<value>[A-Za-z0-9+/=]{40,})"), ("client-",)),
    # a line that says no more than `token: …`, as files of settings do; in a sentence the word stands for what a model reads
    ("secret", lazy_re(r"(?m)^[ \t-]*[\"']?token[\"']?[ \t]*[:=][ \t]*[\"']?(?P<value>[A-Za-z0-9._~+/=-]{20,})[\"']?,?[ \t]*$"), ("token",)),
    ("secret", lazy_re(r"(?:^|[\s\"'])--?token[= ][\"']?(?P<value>[^\s\"']{12,})"), ("-token",)),
    ("Telegram token", lazy_re(r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"), (":AA",)),
    ("Kaggle key", lazy_re(r"[\"']username[\"']\s*:\s*[\"'][^\"'\n]{1,60}[\"']\s*,\s*[\"']key[\"']\s*:\s*[\"'](?P<value>[0-9a-f]{32})[\"']"), ("username",)),  # noqa: E501
    ("package index token", lazy_re(r"/t/(?P<value>[a-z]{2}-[0-9A-Za-z-]{8,})/"), ("/t/",)),
    ("package index token", lazy_re(r"\bhttps?://(?P<value>(?=[A-Za-z0-9_-]{0,40}\d)[A-Za-z0-9_-]{20,200})@(?=[\w.-])"), ("://",)),
    ("token id", lazy_re(r"\bMODAL_TOKEN_ID\s*[=:]\s*(?P<value>ak-[A-Za-z0-9]{16,})"), ("MODAL_",)),
    ("authorization", lazy_re(r"(?i)\b(?:Proxy-)?Authorization[\"']?\s*[:=]\s*[\"']?(?:(?:Bearer|Basic|Token|Digest|ApiKey)\s+)?(?P<value>[A-Za-z0-9._~+/=-]{8,})"), ("uthorization", "UTHORIZATION")),  # noqa: E501
    ("authorization", lazy_re(r"(?i)\bBearer\s+(?P<value>[A-Za-z0-9._~+/=-]{16,})"), ("earer", "EARER")),
    ("cookie", lazy_re(r"(?i)\b(?:Set-)?Cookie[\"']?:\s*[\"']?(?P<value>[^\s=;]+=[^\n\"']{8,})"), ("ookie", "OOKIE")),
    ("password", lazy_re(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,100}:(?P<value>[^\s/@\"'<>]{1,200}(?:@[^\s/@\"'<>:]{1,100}:[^\s/@\"'<>]{1,100})?)@(?=[\w\[.-])"), ("://",)),  # noqa: E501
    ("password", lazy_re(r"\bmachine \S+ login \S+ password (?P<value>\S+)"), ("machine ",)),
    ("password", lazy_re(r"(?:^|[\s\"'])(?:mysql|mysqldump|mariadb|sshpass)\b[^\n]{0,80}? -p(?P<value>[^\s\"']{4,})"), (" -p",)),
    ("password", lazy_re(r"(?:^|\s)curl\b[^\n]{0,200}? (?:-u|--user)[ =][\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"']{3,})"), ("curl",)),
    (
        "secret",
        lazy_re(rf"(?<![A-Za-z0-9_-])(?:--?)?(?i:{_NAMED})[\"']?(?:\s*(?:=|:(?!/)|=>|:=)\s*|(?<=[A-Za-z\"'])\s+(?<=[a-zA-Z\"']\s)(?=\S*\d)){_VALUE.format('value')}"),
        ("ass", "ASS", "ecret", "ECRET", "oken", "OKEN", "key", "KEY", "Key", "pwd", "PWD", "Pwd", "redential", "REDENTIAL", "tring", "STRING", "PAT"),  # noqa: E501
    ),
    ("e-mail address", lazy_re(r"(?<![\w.+/:@-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.)+(?!(?:py|so|c|h|cu|cpp|git|json|yaml|txt|log)\b)[A-Za-z]{2,18}\b(?!:\S)"), ("@",)),  # noqa: E501
)  # fmt: skip

_PLAIN_VALUE = lazy_re(
    r"(?i)(?:none|null|nil|true|false|yes|no|unset|empty|missing|required|invalid|expired|undefined|not|is|was|the|for|and|or|str|int|bool|bytes|string|optional.*"
    r"|<.*|\[.*|\{.*|\(.*|\$.*|%.*|\*+|x{3,}|\.{2,}|-+|_+|redacted|hidden|\d{1,9}(?:\.\d+)?|[\w.]+\(.*"
    # a line of source, as tracebacks print it: a name that stands for the value
    r"|[a-z_.]*_?(?:pass(?:word|wd|phrase)?|pwd|secret|token|key|credentials?)(?:type)?|(?:self|cls|args|cfg|config|opts?|options|settings|kwargs|params?)\.[a-z_.]+"
    r"|os\.environ.*|getenv.*|/[\w./-]*|~/.*)"
)
"""What stands where a secret could, and is none: placeholders, types, numbers, calls, paths."""


class Found(NamedTuple):
    """A secret in a text: what it is, and where it stands."""

    kind: str
    start: int
    end: int


class Person(NamedTuple):
    """Whose machine it is: what is taken out of what leaves it."""

    homes: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


def find(text: str) -> list[Found]:
    """Find the secrets of a text, in order, none within another."""
    found: list[Found] = []
    for kind, expression, words in _KINDS:
        if not any(word in text for word in words):
            continue
        for match in expression.finditer(text):
            start, end = _place(match)
            if end > start and not (kind == "secret" and _is_plain(text, match, start, end)):
                found.append(Found(kind, start, end))
    found.sort(key=lambda item: (item.start, -item.end))
    kept: list[Found] = []
    for item in found:
        if not kept or item.start >= kept[-1].end:
            kept.append(item)
        elif item.end > kept[-1].end:
            kept[-1] = Found(kept[-1].kind, kept[-1].start, item.end)
    return kept


def _place(match: re.Match[str]) -> tuple[int, int]:
    for name in match.re.groupindex:
        if name.startswith("value") and match[name] is not None:
            return match.span(name)
    return match.span()


def _is_plain(text: str, match: re.Match[str], start: int, end: int) -> bool:
    """Tell whether a value behind a name like `api_key` is none: a placeholder, a type, a number, or a word of a sentence."""
    value = text[start:end]
    if _PLAIN_VALUE.fullmatch(value):
        return True
    name = text[match.start() : start].lower()
    if "pass" in name or "pwd" in name or "secret" in name:
        return len(value) < 4
    # keys and tokens are random: `api_key=openai` is a setting, `key: value` a sentence
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return len(value) < 12 or not mixed


def redact(text: str, *, leaving: Person | None = None) -> str:
    """Take the secrets out of a text; what they were stays in angle brackets.

    Args:
        text: a line, a log, a command line, an environment.
        leaving: the text leaves the machine: take out home folders, user and host names too.
    """
    found = find(text)
    if found:
        parts: list[str] = []
        at = 0
        for item in found:
            parts += [text[at : item.start], f"<{item.kind}>"]
            at = item.end
        text = "".join([*parts, text[at:]])
    return text if leaving is None else _anonymous(text, leaving)


def redact_environment(environ: Mapping[str, str], *, leaving: Person | None = None) -> dict[str, str]:
    """Take the secrets out of environment variables; one whose name says so is taken out whatever its value is."""
    return {name: _of_environment(name, value, leaving) for name, value in environ.items()}


def _of_environment(name: str, value: str, leaving: Person | None) -> str:
    if value and _VARIABLE.fullmatch(name) and not _FLAG.fullmatch(value):
        return "<secret>"
    shown = redact(f"{name}={value}", leaving=leaving)
    return shown[len(name) + 1 :] if shown.startswith(f"{name}=") else redact(value, leaving=leaving)


def redact_command(arguments: Iterable[str], *, leaving: Person | None = None) -> list[str]:
    """Take the secrets out of a command line: values of options like `--password`, and what is a secret by its form."""
    shown: list[str] = []
    secret_next = False
    for argument in arguments:
        if secret_next and not argument.startswith("-"):
            shown.append("<secret>")
            secret_next = False
            continue
        secret_next = _OPTION.fullmatch(argument) is not None
        option, equals, value = argument.partition("=")
        if equals and value and _OPTION.fullmatch(option):
            shown.append(f"{option}=<secret>")
        else:
            shown.append(redact(argument, leaving=leaving))
    return shown


_VARIABLE = lazy_re(rf"(?i:{_NAMED}|.*_?TOKEN)")
_FLAG = lazy_re(r"(?i)true|false|yes|no|on|off|none|\d{1,6}")
_OPTION = lazy_re(r"(?i)--?(?:[a-z0-9_.-]*(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|[_-]token)|token|pwd|pass)")
_HOME = lazy_re(r"(?<![\w.-])(/(?:home|Users|root/home|scratch|data/home|mnt/home)/|[A-Za-z]:\\Users\\)(?!<)([^/\\\s:\"'<>|]+)")
_KEPT_HOMES = frozenset({"shared", "public", "Public", "Shared", "Default", "runner", "ubuntu", "user", "conda", "miniconda3", "data", "datasets"})


def _anonymous(text: str, person: Person) -> str:
    for home in sorted(filter(None, person.homes), key=len, reverse=True):
        if len(home) > 3:
            text = text.replace(home, "~")
    text = _HOME.sub(lambda match: match[0] if match[2] in _KEPT_HOMES else f"{match[1]}<user>", text)
    for names, shown in ((person.hosts, "<host>"), (person.users, "<user>")):
        for name in sorted(filter(None, names), key=len, reverse=True):
            if len(name) > 2 and name not in _KEPT_HOMES and name not in {"root", "localhost"} and name in text:
                text = _whole(name).sub(shown, text)
    return text


def _whole(name: str) -> re.Pattern[str]:
    import re

    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")


def person_here() -> Person:
    """Give whose machine this is, as far as it is known without asking the network."""
    homes = [os.path.expanduser("~"), os.environ.get("HOME", ""), os.environ.get("USERPROFILE", "")]  # noqa: PTH111
    users = [os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")]
    hosts = [os.environ.get(name, "") for name in ("HOSTNAME", "COMPUTERNAME", "SLURMD_NODENAME", "HOST")]
    if hasattr(os, "uname"):
        hosts.append(os.uname().nodename)
    hosts += [host.partition(".")[0] for host in hosts]
    return Person(*(tuple(dict.fromkeys(part for part in parts if part and part not in {"/", "~"})) for parts in (homes, users, hosts)))
