"""Tokens of languages with C's look: what makes two edits one and the same code.

Comments, blank lines and spacing don't count; where lines begin does, since a line end may end a statement. Not a
checker: rubbish in, tokens out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    rb"""
      (?P<newline>\r\n|\n|\r)
    | (?P<space>[ \t\f\v]+)
    | (?P<comment>//[^\r\n]* | /\*.*?(?:\*/|\Z))
    | (?P<string>\"(?:\\.|[^"\\\r\n])*\" | '(?:\\.|[^'\\\r\n])*' | `(?:\\.|[^`\\])*`)
    | (?P<name>[A-Za-z_$\x80-\xff][0-9A-Za-z_$\x80-\xff]*)
    | (?P<number>0[xXbBoO][0-9A-Fa-f_]+n? | (?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?n?)
    | (?P<op>>>>= | >>> | === | !== | \*\*= | <<= | >>= | &&= | \|\|= | \?\?= | &\^=
        | \.\.\. | => | -> | <- | := | :: | \+\+ | --
        | && | \|\| | \?\? | \?\. | &\^ | \*\* | << | >> | [-+*/%&|^!=<>]= | .)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN_STRING = re.compile(rb'"([^"\'\\]*)"')


def lex(code: bytes, at: int = 0) -> Iterator[tuple[int, bytes]]:
    """(offset, token) from `at`, which must begin a line outside of strings and comments. A line's first token is
    its newline, at the offset where the line begins."""
    fresh = at  # where the present line began, -1 once its first token is out
    for match in _TOKEN.finditer(code, at):
        kind, token = match.lastgroup, match.group()
        if kind in ("space", "comment"):
            continue
        if kind == "newline":
            fresh = match.end()
            continue
        if fresh >= 0:
            yield fresh, b"\n"
            fresh = -1
        if kind == "string" and _PLAIN_STRING.fullmatch(token):
            token = _PLAIN_STRING.sub(rb"'\1'", token)
        yield match.start(), token
