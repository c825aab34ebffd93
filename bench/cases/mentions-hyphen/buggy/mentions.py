"""Finds @mentions and #numbers in comments."""

import re

PATTERNS = [
    ("user", re.compile(r"(?<!\w)@(\w+)")),
    ("issue", re.compile(r"(?<!\w)#(\d+)\b")),
]


def mentions(text):
    """(kind, value) of everything that is mentioned, in the order of the text."""
    found = []
    for kind, pattern in PATTERNS:
        for match in pattern.finditer(text):
            found.append((match.start(), kind, match.group(1)))
    return [(kind, value) for _, kind, value in sorted(found)]


def users(text):
    """Users mentioned, each once, in order."""
    return list(dict.fromkeys(value for kind, value in mentions(text) if kind == "user"))


def link(text, base):
    """`text` with the users made into links."""
    pattern = PATTERNS[0][1]
    return pattern.sub(lambda match: f"[{match.group(0)}]({base}/{match.group(1)})", text)
