"""Secrets taken out of what leaves the machine: by their shape, by the name they stand beside, by value."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

_KEY_BLOCK = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_SURE = (  # part of a name that always means a secret
    r"passw(?:or)?d|passphrase|(?<=\w[_-])pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key"
    r"|encryption[_-]?key|signing[_-]?key|(?:auth|access|refresh|session|bot)[_-]?token"
)
# part of a name that means one if the value looks random
_MAYBE = r"token(?![a-z])|credentials?|(?<![a-z])(?:auth|pat|pass)(?![a-z])"
_IS = r"[\w-]{0,40}\\?[\"']?\s{0,4}(?:=>|:=|:|={1,3})\s{0,4}"
# A value that only says of which type it is or where it comes from; the last row is our own mark.
_HARMLESS = (
    r"(?:None|null|nil|undefined|[Tt]rue|[Ff]alse|str|[Ss]tring|bytes|int|bool|Any|Optional|input|getpass"
    r"|\$\{?[A-Z_][A-Z0-9_]*\}?|%s|\{\w*\})(?=[\s\"',;|()\[\]{}]|$)"
    r"|(?:self|cls|os\.environ|os|process\.env)[.\[]"
    r"|\[redacted: "
)
_VALUE = r"\"(?:[^\"\\\n]|\\.)+\"|'(?:[^'\\\n]|\\.)+'|\\[\"'][^\"'\n]+|[^\s\"']+"

# Kind and pattern; a first group is kept. A pattern takes linear time on any text: what can fail after a
# repetition has a bound on it.
_RULES = tuple(
    (re.compile(pattern), kind)
    for kind, pattern in (
        (
            "private key",
            rf"(?s)-----BEGIN {_KEY_BLOCK}(?:.{{0,8000}}?-----END {_KEY_BLOCK}|[\w\s+/=\\:,-]*)",
        ),
        # the end of a block whose beginning was cut off
        ("private key", rf"(?<![\w\s+/=\\])[\w\s+/=\\]{{16,}}+-----END {_KEY_BLOCK}"),
        ("header", r"(?i)(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?)(?:digest|aws4)[^\r\n]*"),
        (
            "header",
            r"(?i)(authorization\\?[\"']?\s{0,4}[:=]\s{0,4}(?:[bfru]{0,2}\\?[\"'])?)[^\s\"'][^\"'\r\n]*",
        ),
        ("header", r"(?i)((?:set-)?cookie:[ \t]{0,4})[^\s\"'][^\"'\r\n]*"),
        ("bearer", r"(?i)(\bbearer[ \t]+)[\w.~+/=-]{8,}"),
        ("url password", r"(\w://[^\s:/@\"']{0,200}:)[^\s/@\"']{1,500}(?=@)"),
        ("JWT", r"eyJ[\w-]{8,2000}\.[\w-]{8,}(?:\.[\w-]*)?"),
        ("Anthropic key", r"sk-ant-[\w-]{8,}"),
        ("API key", r"(?<![A-Za-z0-9])sk-(?=[\w-]{0,60}\d)[\w-]{20,}"),
        ("GitHub token", r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
        ("GitLab token", r"gl(?:pat|dt|ptt|rt|cbt)-[\w-]{16,}"),
        ("Slack token", r"xox[abeoprs]-[\w-]{8,}|https://hooks\.slack\.com/services/[\w/]+"),
        ("Google key", r"AIza[\w-]{30,}|ya29\.[\w-]{10,}|GOCSPX-[\w-]{20,}"),
        ("AWS key id", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
        ("Stripe key", r"[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}"),
        ("Hugging Face token", r"hf_[A-Za-z0-9]{20,}"),
        ("npm token", r"npm_[A-Za-z0-9]{30,}"),
        ("PyPI token", r"pypi-[\w-]{30,}"),
        ("SendGrid key", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
        ("xAI or Groq key", r"(?:xai-|gsk_)[A-Za-z0-9]{20,}"),
        ("DigitalOcean token", r"do[opr]_v1_[0-9a-f]{32,}"),
        ("Telegram token", r"\b\d{8,10}:AA[\w-]{30,}"),
        ("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
        ("secret", rf"(?i)((?:{_SURE}){_IS})(?-i:(?!{_HARMLESS}))(?:{_VALUE})"),
        (
            "secret",
            rf"(?i)((?:{_MAYBE}){_IS}\\?[\"']?)"
            r"(?=[A-Za-z_./+=-]{0,80}[0-9])(?=[0-9_./+=-]{0,80}[A-Za-z])[\w./+=-]{16,}",
        ),
        ("secret", rf"(?i)((?<![\w-])--?(?:{_SURE}|{_MAYBE})[ \t]+)(?!-)(?:{_VALUE})"),
        ("secret", r"(?i)(\blogin\s{1,4}\S{1,200}\s{1,4}password\s{1,4})\S+"),  # .netrc
        ("secret", r"(\bcurl\b[^\n]{0,500}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,200}:)[^\s\"']+"),
    )
)
_SECRET_NAME = re.compile(rf"(?i)(?:{_SURE})|(?:^|[_-])(?:{_MAYBE})(?:$|[_-])")
_OPTION = re.compile(rf"(?i)--?(?:[\w-]*-)?(?:{_SURE}|{_MAYBE})")
_SHORTEST = 6  # characters; a shorter value would be found in ordinary words


def secret_values(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The values of the variables whose name says that they are secret, the longest first."""
    named = {value for name, value in environment.items() if _SECRET_NAME.search(name)}
    return tuple(sorted((v for v in named if len(v) >= _SHORTEST), key=len, reverse=True))


def redact_text(text: str, values: tuple[str, ...] = ()) -> str:
    """`text` with every secret that is recognised, and every one of `values`, replaced by
    `[redacted: KIND]`."""
    for value in values:
        text = text.replace(value, "[redacted: environment]")
    for pattern, kind in _RULES:
        text = pattern.sub(rf"\1[redacted: {kind}]" if pattern.groups else f"[redacted: {kind}]", text)
    return text


def redact(value: Any, values: tuple[str, ...] = ()) -> Any:
    """`value` (strings in dicts and lists, as JSON has them) redacted throughout, keys included."""
    if isinstance(value, str):
        return redact_text(value, values)
    if isinstance(value, dict):
        return {
            redact_text(key, values): "[redacted: secret]"
            if isinstance(item, str) and item and _SECRET_NAME.search(key)
            else redact(item, values)
            for key, item in value.items()
        }
    if isinstance(value, list):
        redacted = [redact(item, values) for item in value]
        for index, item in enumerate(value[:-1]):  # `--password`, `hunter2`
            if isinstance(item, str) and isinstance(value[index + 1], str) and _OPTION.fullmatch(item):
                redacted[index + 1] = "[redacted: secret]"
        return redacted
    return value
