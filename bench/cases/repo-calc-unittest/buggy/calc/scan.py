"""Splits an expression into tokens."""

import re

from calc.problems import SyntaxProblem

TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([-+*/^()]))")


def scan(text):
    """Numbers as floats and operators as strings."""
    text = text.rstrip()
    at = 0
    found = []
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise SyntaxProblem(f"unexpected {text[at:].strip()[:1]!r}")
        number, operator = match.groups()
        found.append(float(number) if number else operator)
        at = match.end()
    return found
