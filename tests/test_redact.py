"""Two hundred planted secrets of twenty kinds in logs, environments and command lines: none gets out; plain log lines stay whole."""

from __future__ import annotations

import base64
import random
import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifix import redact

ROOT = Path(__file__).resolve().parents[1]
SOURCE = random.Random(11)  # noqa: S311 - the same secrets every time
ALNUM = string.ascii_letters + string.digits


def some(length: int, letters: str = ALNUM) -> str:
    text = "".join(SOURCE.choice(letters) for _ in range(length))
    return text if letters != ALNUM or (re.search(r"\d", text) and re.search("[a-z]", text)) else some(length, letters)


def encoded(length: int) -> str:
    return base64.b64encode(SOURCE.randbytes(length)).decode()


HEX = "0123456789abcdef"
KINDS = {
    "hugging face": lambda: "hf_" + some(34),
    "github": lambda: SOURCE.choice(["ghp_", "gho_", "ghs_"]) + some(36),
    "github fine-grained": lambda: f"github_pat_{some(22)}_{some(59)}",
    "gitlab": lambda: "glpat-" + some(20),
    "openai": lambda: SOURCE.choice(["sk-proj-", "sk-"]) + some(48),
    "anthropic": lambda: "sk-ant-api03-" + some(80) + "-AA",
    "aws id": lambda: SOURCE.choice(["AKIA", "ASIA"]) + some(16, string.ascii_uppercase + "234567"),
    "google": lambda: "AIza" + some(35),
    "google oauth": lambda: "ya29." + some(60),
    "azure secret": lambda: f"{some(3)}8Q~{some(34)}",
    "slack": lambda: f"xoxb-{some(12, string.digits)}-{some(12, string.digits)}-{some(24)}",
    "jwt": lambda: f"eyJ{some(30)}.eyJ{some(60)}.{some(43)}",
    "private key": lambda: f"-----BEGIN RSA PRIVATE KEY-----\n{encoded(48)}\n{encoded(48)}\n-----END RSA PRIVATE KEY-----",
    "npm": lambda: "npm_" + some(36),
    "pypi": lambda: "pypi-AgEIcHlwaS5vcmc" + some(80),
    "digitalocean": lambda: SOURCE.choice(["dop_v1_", "doo_v1_"]) + some(64, HEX),
    "sendgrid": lambda: f"SG.{some(22)}.{some(43)}",
    "w&b of 2025": lambda: f"wandb_v1_{some(22)}_{some(50)}",
    "vault": lambda: "hvs." + some(90),
    "kaggle of 2025": lambda: "KGAT_" + some(32, HEX),
    "telegram": lambda: f"{some(10, '123456789')}:AA{some(33)}",
    "encrypted token": lambda: f"eyJ{some(30)}..{some(16)}.{some(60)}.{some(22)}",
    "neptune": lambda: f"eyJhcGlfYWRkcmVzcyI6{some(80)}==",
    "together": lambda: "tgp_v1_" + some(43),
    "notion, linear, figma": lambda: SOURCE.choice(["ntn_", "lin_api_", "figd_"]) + some(44),
    "e-mail": lambda: f"{some(8, string.ascii_lowercase)}.{some(6, string.ascii_lowercase)}@{some(7, string.ascii_lowercase)}.org",
}
PLACES = [
    "2024-05-01 12:00:01 INFO using {}",
    "Traceback: HTTPError 401 for token {} at step 3",
    'config: {{"key": "{}", "lr": 3e-4}}',
    "export MY_SETTING={}",
    "python train.py --something {} --lr 3e-4",
    "https://example.org/hook?x={}&y=1",
    "('{}',)",
    "[rank3]: login with {} failed",
    "{}",
    "curl -H 'X-Key: {}' https://example.org",
]
NAMED = {
    "w&b": (lambda: some(40, HEX), ["WANDB_API_KEY={}", "wandb login {}", "wandb: Appending key for api.wandb.ai: {}", "wandb.login(key='{}')"]),
    "aws secret": (
        lambda: encoded(30),
        ["AWS_SECRET_ACCESS_KEY={}", "aws_secret_access_key = {}", "aws secret key: {}", '"aws_secret_access_key": "{}"'],
    ),
    "azure": (
        lambda: encoded(64),
        ["DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core.windows.net", "SharedAccessKey={}"],
    ),
    "azure signature": (lambda: some(43) + "%3D", ["https://x.blob.core.windows.net/c/f?sv=2022-11-02&sig={}&sp=r"]),
    "password in url": (
        lambda: some(12),
        [
            "postgresql://user:{}@db.internal:5432/x",
            "git clone https://me:{}@host.org/x.git",
            "redis://:{}@10.0.0.3:6379",
            "http_proxy=http://joe:{}@proxy:3128",
        ],
    ),
    "password": (
        lambda: some(11),
        [
            "mysql -u root --password={} db",
            "PGPASSWORD={} psql",
            "password: {}",
            "--db-password {}",
            "DB_PASS='{}'",
            "login(user='joe', password='{}')",
        ],
    ),
    "bearer": (lambda: some(40), ["Authorization: Bearer {}", "'authorization': 'Bearer {}'", "curl -H 'Authorization: token {}'"]),
    "named key": (
        lambda: some(32),
        ["OPENROUTER_API_KEY={}", "api_key='{}'", "--api-key {}", "client_secret: {}", "access_token={}", "HF_TOKEN={}", "--hub_token={}"],
    ),
    "docker": (lambda: encoded(24), ['{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{}"}}}}}}', '"identitytoken": "{}"']),
    "kubeconfig": (lambda: encoded(90), ["    client-key-data: {}", "    client-certificate-data: {}"]),
    "a file's token": (lambda: some(60), ["users:\n- name: x\n  user:\n    token: {}", 'token = "{}"', "--token {}", "hf auth login --token={}"]),
    "netrc": (lambda: some(14), ["machine github.com login joe password {}", "machine github.com\n\tlogin joe\n\tpassword {}\n"]),
    "npmrc": (lambda: some(36), ["//registry.npmjs.org/:_authToken={}", "//registry.example.org/:_password={}", "_auth={}"]),
    "basic": (lambda: encoded(20), ["Authorization: Basic {}", "Proxy-Authorization: Basic {}", "curl -H 'authorization: basic {}'"]),
    "cookie": (lambda: "sessionid=" + some(32), ["Cookie: {}", "Set-Cookie: {}; Path=/"]),
    "aws session": (lambda: "IQoJb3JpZ2luX2Vj" + encoded(120), ["AWS_SESSION_TOKEN={}", '"SessionToken": "{}"', "X-Amz-Security-Token: {}"]),
    "connection string": (lambda: f"P4s{some(8)}!", ["Server=tcp:x.database.windows.net;User ID=sa;Password={};Encrypt=True", "Uid=sa;Pwd={};"]),
    "password with a sign in it": (lambda: f"p4@s:{some(8)}", ["amqp://user:{}@host:5672/v"]),
    "package index": (lambda: "t0" + some(22), ["https://{}@pkgs.example.org/simple", "https://__token__:{}@gitlab.com/api/v4/simple"]),
    "conda": (lambda: f"tk-{some(8)}-{some(4)}", ["https://conda.anaconda.org/t/{}/channel/linux-64"]),
    "kaggle": (lambda: some(32, HEX), ['{{"username":"joe","key":"{}"}}']),
    "azure subscription": (lambda: some(32, HEX), ["Ocp-Apim-Subscription-Key: {}", "api-key: {}", "AZURE_OPENAI_API_KEY={}"]),
    "webhook": (lambda: f"T{some(8)}/B{some(8)}/{some(24)}", ["https://hooks.slack.com/services/{}"]),
}


def planted() -> list[tuple[str, str, str]]:
    found = [(kind, secret, place.format(secret)) for kind, make in KINDS.items() for place in PLACES for secret in [make()]]
    for kind, (make, places) in NAMED.items():
        for _ in range(3):
            found += [(kind, secret, place.format(secret)) for place in places for secret in [make()]]
    return found


PLANTED = planted()


def test_two_hundred_secrets_of_twenty_kinds() -> None:
    assert len(PLANTED) >= 200
    assert len({kind for kind, _, _ in PLANTED}) >= 20


def leaks(secret: str, shown: str) -> bool:
    return any(part in shown for part in secret.split("\n") if len(part) > 3 and "PRIVATE KEY" not in part)


def test_no_planted_secret_gets_out_of_a_log() -> None:
    escaped = [(kind, text) for kind, secret, text in PLANTED if leaks(secret, redact.redact(text))]
    assert not escaped
    whole = "\n".join(text for _, _, text in PLANTED)
    shown = redact.redact(whole)
    assert not [kind for kind, secret, _ in PLANTED if leaks(secret, shown)]


def test_none_gets_out_of_an_environment_or_a_command_line() -> None:
    for kind, secret, _ in PLANTED:
        if kind in KINDS or kind in {"named key", "w&b", "aws secret"}:
            environ = {"SOME_API_KEY": secret, "PATH": "/usr/bin"}
            shown = redact.redact_environment(environ)
            assert not leaks(secret, shown["SOME_API_KEY"]), kind
            assert shown["PATH"] == "/usr/bin"
            assert not any(leaks(secret, part) for part in redact.redact_command(["x", "--api-key", secret, f"--token={secret}", "--lr", "1"])), kind


def test_home_folders_and_hosts_go_where_a_report_leaves_the_machine() -> None:
    person = redact.Person(("/home/joe",), ("joe",), ("gpu-node-17", "gpu-node-17.cluster.local"))
    text = 'File "/home/joe/x/train.py" on gpu-node-17.cluster.local, /home/ann/y, gpu-node-17:29500, user joe, joes'
    shown = redact.redact(text, leaving=person)
    assert "joe/" not in shown
    assert "ann" not in shown
    assert "gpu-node-17" not in shown
    assert shown.endswith("user <user>, joes")
    assert redact.redact(text) == text
    assert redact.person_here().homes


@pytest.mark.parametrize(
    "line",
    [
        "The attention mask and the pad token id were not set. Setting `pad_token_id` to `eos_token_id`:50256 for open-end generation.",
        "tokens/s 48612, token_count=4096, eos_token_id=2, bos_token='<s>', pad_token=[PAD]",
        "RuntimeError: The size of tensor a (768) must match the size of tensor b (512)",
        "KeyError: 'api_key'",
        "wandb: ERROR api_key not configured (no-tty). call wandb.login(key=[your_api_key])",
        "ValueError: password must not be empty",
        "commit 3f786850e387550fdaab836ed7e6dc881de23001",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables",
        '  File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1751, in _wrapped_call_impl',
        "past_key_values=None, key=query, secret_key_path=/etc/x, hf_token=None, access_token=os.environ['X']",
        "git@github.com:org/repo.git and npm package @types/node@18.0.0",
        "        self.password = password; self.key_password = key_password",
        "    certfile=certfile, keyfile=keyfile, password=password, token=self.token)",
        "token: <s>, next token: 50256, special_tokens=['<pad>'], token='▁the'",
        "https://user@host/x https://conda.anaconda.org/pytorch/linux-64/t/x 12:34:56:AA",
        "tokens per second: 1523.4, total_tokens=4194304 secret_sauce=True key_data: [1, 2]",
        "sk-learn 1.2, task-sk-1, https://user@host/path",
        "layer.k_proj.weight, model.layers.0.self_attn.k_proj.lora_A.weight: key mismatch",
    ],
)
def test_plain_lines_stay_whole(line: str) -> None:
    assert redact.redact(line) == line


def test_false_redactions_on_the_corpus_are_few() -> None:
    lines = changed = 0
    samples: list[str] = []
    for folder in (ROOT / "tests" / "corpus", ROOT / "tests" / "intake", ROOT / "src" / "aifix" / "examples"):
        for path in sorted(folder.rglob("*")):
            if path.suffix not in {".log", ".txt"}:
                continue
            for line in path.read_text("utf-8", "replace").split("\n"):
                lines += 1
                found = [item for item in redact.find(line) if item.kind != "e-mail address"]
                changed += bool(found)
                samples += [f"{item.kind}: {line[max(0, item.start - 40) : item.end + 10]}" for item in found][:2]
    print(f"{changed} of {lines} lines changed: {changed / max(lines, 1) * 1e6:.0f} in a million", *samples[:20], sep="\n")
    assert changed <= 3 + lines * 2e-4, samples


@given(st.text(max_size=400))
def test_any_text_is_taken_and_what_is_redacted_stays_redacted(text: str) -> None:
    once = redact.redact(text)
    assert redact.redact(once) == once


def test_no_input_is_slow() -> None:
    import time

    for text in (
        "a" * 200_000,
        "password " * 20_000,
        "sk-" * 60_000,
        "http://" * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 2000,
        "x@" * 60_000,
        "eyJ" * 50_000,
        "aws " * 30_000,
    ):
        start = time.process_time()
        redact.redact(text, leaving=redact.Person(("/home/joe",), ("joe",), ("node",)))
        assert time.process_time() - start < 2, text[:20]
