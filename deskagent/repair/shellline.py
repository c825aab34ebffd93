"""Reads a shell line that is simple enough to run without a shell: words, quotes, assignments, `&&`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from deskagent.errors import UsageError

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_NEEDS_SHELL = set("$`|;<>()\n")
_KEYWORDS = {"if", "for", "while", "until", "case", "time", "function", "select", "{", "[[", "!"}


@dataclass(frozen=True)
class Word:
    """A word after quote removal; whether it has unquoted `*`, `?` or `[`; whether it is `NAME=…`."""

    text: str
    globs: bool = False
    assigns: bool = False


def parse(line: str) -> list[list[Word]] | None:
    """The simple commands of `line`, joined by `&&`; None where only a shell can run it.

    UsageError for an empty line or a quote that is not closed.
    """
    commands: list[list[Word]] = [[]]
    reader = _Reader(line)
    while (word := reader.word()) is not None:
        if word == "&&":
            commands.append([])
        elif isinstance(word, str):
            return None
        else:
            commands[-1].append(word)
    if commands == [[]]:
        raise UsageError("The test command is empty.", hint='Give one: --test "pytest -q".')
    if not all(commands) or any(command[0].text in _KEYWORDS for command in commands):
        return None
    return commands


class _Reader:
    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0

    def word(self) -> Word | str | None:
        """The next word; "&&"; "sh" where a shell is needed; None at the end (or at a comment)."""
        while self._peek() in (" ", "\t"):
            self.at += 1
        start = self.at
        if self._peek() in ("", "#"):
            return None
        if self._peek() == "~":
            return "sh"
        if self.line.startswith("&&", start):
            self.at += 2
            return "&&"
        text, globs = "", False
        while (char := self._peek()) not in ("", " ", "\t"):
            if self.line.startswith("&&", self.at):
                break
            piece = self._piece(char)
            if piece is None:
                return "sh"
            globs = globs or (char in "*?[" and piece == char)
            text += piece
        raw = self.line[start : self.at]
        if "{" in raw and ("," in raw or ".." in raw) and "'" not in raw and '"' not in raw:
            return "sh"  # brace expansion
        return Word(text, globs, _ASSIGNMENT.match(raw) is not None)

    def _peek(self) -> str:
        return self.line[self.at : self.at + 1]

    def _piece(self, char: str) -> str | None:
        """What the next character, escape or quoted part stands for; None if a shell has to say."""
        self.at += 1
        if char == "\\":
            self.at += 1
            escaped = self.line[self.at - 1 : self.at]
            return None if escaped in ("", "\n") else escaped
        if char == "'":
            return self._until("'")
        if char == '"':
            inner = self._until('"')
            return None if re.search(r"(?<!\\)[$`]", inner) else re.sub(r'\\([\\"$`])', r"\1", inner)
        return None if char in _NEEDS_SHELL or char == "&" else char

    def _until(self, quote: str) -> str:
        begin = self.at
        while (char := self._peek()) != quote:
            if not char:
                raise UsageError(
                    f"A quote is not closed in the test command: {self.line}",
                    hint=f"Add the missing {quote}.",
                )
            self.at += 2 if char == "\\" and quote == '"' else 1
        self.at += 1
        return self.line[begin : self.at - 1]
