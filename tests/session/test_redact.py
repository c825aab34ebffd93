from __future__ import annotations

import argparse
import ast
import csv
import inspect
import textwrap
import time
import tokenize
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from deskagent.session.redact import redact, redact_text, secret_values

quick = settings(max_examples=40, deadline=None)
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def run_of(alphabet: str, low: int, high: int) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(alphabet), min_size=low, max_size=high)


def after(prefix: str, alphabet: str, low: int, high: int) -> st.SearchStrategy[str]:
    return run_of(alphabet, low, high).map(lambda body: prefix + body)


BODY = run_of(ALNUM + "+/", 40, 64)
PEM = st.lists(BODY, min_size=1, max_size=5).map("\n".join)
SHAPES: dict[str, st.SearchStrategy[str]] = {
    "openai": after("sk-proj-1", ALNUM + "_-", 30, 60),
    "anthropic": after("sk-ant-api03-", ALNUM + "_-", 20, 90),
    "github": after("ghp_", ALNUM, 36, 36),
    "github fine": after("github_pat_", ALNUM + "_", 40, 80),
    "gitlab": after("glpat-", ALNUM + "_-", 20, 20),
    "slack": after("xoxb-", "0123456789-" + ALNUM, 20, 50),
    "google": after("AIza", ALNUM + "_-", 35, 35),
    "aws id": after("AKIA", UPPER, 16, 16),
    "stripe": after("sk_live_", ALNUM, 24, 24),
    "hugging face": after("hf_", ALNUM, 34, 34),
    "npm": after("npm_", ALNUM, 36, 36),
    "pypi": after("pypi-AgEIcHlwaS5vcmc", ALNUM + "_-", 40, 90),
    "jwt": st.tuples(*[run_of(ALNUM + "_-", 20, 60)] * 3).map(lambda p: f"eyJ{p[0]}.eyJ{p[1]}.{p[2]}"),
}
# What a password may be made of where it stands unquoted; ten such characters are never a harmless word.
PASSWORD = run_of(ALNUM + "!#%&()*+,-./:;<=>?@[]^_`{|}~$", 10, 30).filter(
    lambda p: (
        not p.startswith(("=", ":", ">", "-", "[redacted", "self.", "os.")) and not p.startswith(("$", "{"))
    )
)
NAMED = [
    "password={}",
    "DB_PASSWORD={}",
    "export MY_API_KEY={}",
    "aws_secret_access_key = {}",
    '{{"password": "{}"}}',
    r"{{\"client_secret\": \"{}\"}}",
    "passwd: {}",
    "Authorization: Bearer {}",
    "authorization: Basic {}",
    "curl -H 'Authorization: token {}' https://x",
    'Authorization: Digest username="bob", response="{}"',
    "X-Api-Key: {}",
    "Cookie: session={}",
    "tool --password {} --verbose",
    "tool --api-key={}",
    "machine h login me password {}",
    "curl -u me:{} https://x",
    "AccountKey={}",
]
AROUND = st.text(st.sampled_from("ab \n.,;()[]{}'\"=:é\u202e\x00"), max_size=20)


@pytest.mark.parametrize("kind", SHAPES)
def test_a_secret_with_a_shape_never_appears(kind: str) -> None:
    @quick
    @given(SHAPES[kind], AROUND, AROUND)
    def check(secret: str, before: str, behind: str) -> None:
        shown = redact_text(before + " " + secret + " " + behind)
        assert secret not in shown and secret[12:] not in shown

    check()


@pytest.mark.parametrize("form", NAMED)
def test_a_secret_beside_its_name_never_appears(form: str) -> None:
    @quick
    @given(PASSWORD, AROUND, AROUND)
    def check(secret: str, before: str, behind: str) -> None:
        if form.startswith(("machine", "curl -u")):
            secret = secret.replace(":", "x")
        assume(secret not in before + behind)
        shown = redact_text(f"{before}\n{form.format(secret)}\n{behind}")
        assert secret not in shown

    check()


@quick
@given(
    PEM, st.sampled_from(["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]), st.sampled_from(["\n", "\\n", "\n+"])
)
def test_private_keys_whole_and_cut(body: str, kind: str, newline: str) -> None:
    block = f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----".replace(
        "\n", newline
    )
    lines = body.split("\n")
    middle = len(block) // 2
    for text in (f"before. {block} after", f"before. {block[:-60]}"):
        shown = redact_text(text)
        assert shown.startswith("before. [redacted") and not any(line[:30] in shown for line in lines)
    if newline == "\n":
        assert not any(line[-20:] in redact_text(block[middle:]) for line in lines[-1:])


@quick
@given(st.text(st.sampled_from(ALNUM + "-_/+"), min_size=6), AROUND)
def test_values_of_secret_variables(value: str, before: str) -> None:
    values = secret_values({"MY_TOKEN": value, "PWD": "/home/me", "EDITOR": "vi"})
    assert values == (value,)
    assume(value not in before + before)
    assert value not in redact_text(f"{before}{value}{before}", values).replace("[redacted: environment]", "")


def test_which_variables_are_secret() -> None:
    names = [
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASS",
        "MYSQL_PWD",
        "OPENAI_API_KEY",
        "NPM_AUTH",
        "X_PAT",
    ]
    plain = [
        "PWD",
        "OLDPWD",
        "PATH",
        "PYTHONPATH",
        "HOME",
        "COMPAT_MODE",
        "XAUTHORITY",
        "TOKENIZERS_PARALLELISM",
    ]
    found = secret_values({name: f"value-of-{name}" for name in names + plain} | {"API_KEY": "short"})
    assert set(found) == {f"value-of-{name}" for name in names}


@pytest.mark.parametrize("module", [argparse, ast, csv, textwrap, tokenize, time])
def test_ordinary_source_is_unchanged(module: Any) -> None:
    text = inspect.getsource(module) if hasattr(module, "__file__") else str(module.__doc__)
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "def login(user: str, password: str | None = None) -> Token:",
        "token = self.tokens[self.position]",
        "path=/usr/lib/python3.11/site-packages/x.py",
        "3 passed, 1 failed; pass: 12345678901234567890",
        "password = os.environ['DB']; secret = None",
        "pattern: [a-z]{16}0123456789abcdefgh",
        "commit 6f70a9d2b1c3d4e5f60718293a4b5c6d7e8f9012",
        "url = https://example.org:8080/a@b?x=1",
        "password=${DB_PASSWORD}",
        "risk-averse task-oriented disk-1234567890123456789012",
    ],
)
def test_text_about_secrets_is_unchanged(text: str) -> None:
    assert redact_text(text) == text


@quick
@given(
    st.lists(st.sampled_from(["the", "x1", "=", ":", "foo_bar", "12345", "\n", "a.b", "(", ")", "é", "'"]))
)
def test_ordinary_words_are_unchanged(words: list[str]) -> None:
    text = " ".join(words)
    assert redact_text(text) == text


@quick
@given(
    st.text(st.sampled_from("aZ09 \n=:\"'\\[]-_.é\0")),
    st.sampled_from(["password", "token:", "sk-", "Bearer "]),
)
@example("password=[redacted: secret]", "")
def test_redacting_twice_is_redacting_once(text: str, word: str) -> None:
    text = text + word + text
    assert redact_text(redact_text(text)) == redact_text(text)


def test_structures() -> None:
    plain = {
        "argv": ["mysql", "--password", "hunter2hunter2", "-h", "x"],
        "options": {"api_key": "k", "tokens": {"prompt": 3}, "effort": "auto"},
        "nested": [["Authorization: Bearer abcdefgh12345"]],
        "count": 3,
    }
    assert redact(plain) == {
        "argv": ["mysql", "--password", "[redacted: secret]", "-h", "x"],
        "options": {"api_key": "[redacted: secret]", "tokens": {"prompt": 3}, "effort": "auto"},
        "nested": [["Authorization: [redacted: header]"]],
        "count": 3,
    }


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN PRIVATE KEY-----.", "eyJ", "password", "passwordpassword=", "a" * 50, "curl ", "login x ",
        "://", "A+/=\n", "token:", "\\\"", "Authorization", "-----", "sk-", " \t", "xoxb-",
    ],
)  # fmt: skip
def test_hostile_text_takes_no_more_than_linear_time(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    started = time.monotonic()
    redact_text(text)
    assert time.monotonic() - started < 30  # quadratic: hours
