"""Edits as a model writes them: hunks without context, so that what is new is all that has to be said.

hunk ::= number newline ("-" text newline)* ("+" text newline)*       nothing to change ::= "none" newline
The number is a line's, from 1. With both signs the text after "-" stands once in that line (it may go on in the next)
and becomes the text after "+". "+" alone puts lines below that line, 0 meaning above the first; "-" alone takes whole
lines away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from engine.errors import RequestError

NONE = "none\n"
_PIECE = re.compile(r"\w+|\s+|->|([-+*/%&|^<>=!@:])\1?=?|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Edit:
    """line: from 1. old: None where lines are put in. new: None where whole lines go."""

    line: int
    old: str | None
    new: str | None


def write(edits: Sequence[Edit]) -> str:
    if not edits:
        return NONE
    return "".join(
        f"{edit.line}\n"
        + "".join(
            sign + text + "\n"
            for sign, whole in (("-", edit.old), ("+", edit.new))
            if whole is not None
            for text in whole.split("\n")
        )
        for edit in edits
    )


def parse(text: str) -> list[Edit]:
    """Errors: RequestError for what is no list of hunks."""
    if text == NONE:
        return []
    hunks = re.fullmatch(r"(?:[0-9]{1,7}\n(?:-.*\n)*(?:\+.*\n)*)+", text)
    if hunks is None:
        raise RequestError("an edit has a line's number, lines with - and lines with +, or says none")
    found = []
    for number, removed, added in re.findall(r"([0-9]+)\n((?:-.*\n)*)((?:\+.*\n)*)", text):
        if not removed and not added:
            raise RequestError(f"the edit of line {number} says nothing")
        found.append(Edit(int(number), _body(removed), _body(added)))
    return found


def apply(edits: Sequence[Edit], text: str) -> str:
    """The text with its edits, whose numbers are all those of `text`. Errors: RequestError for one that doesn't fit."""
    # from the end, so that numbers stay right; what goes below a line is put there before the line may go
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.old is None), reverse=True):
        text = _applied(edit, text)
    return text


def between(before: str, after: str) -> list[Edit]:
    """The edits that lead from one text to the other, small ones within lines where lines stay the same number."""
    old, new = before.split("\n"), after.split("\n")
    found: list[Edit] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "insert":
            found.append(Edit(i, None, "\n".join(new[k:m])))
        elif kind == "delete":
            found.append(Edit(i + 1, "\n".join(old[i:j]), None))
        elif kind == "replace" and j - i == m - k:
            found += [_within(i + 1 + n, old[i + n], new[k + n]) for n in range(j - i)]
        elif kind == "replace":
            found.append(Edit(i + 1, "\n".join(old[i:j]), None))
            found.append(Edit(j, None, "\n".join(new[k:m])))
    return found


def _body(marked: str) -> str | None:
    return "\n".join(line[1:] for line in marked[:-1].split("\n")) if marked else None


def _starts(text: str, line: int) -> tuple[list[str], int]:
    lines = text.split("\n")
    if not 0 <= line <= len(lines):
        raise RequestError(f"an edit of line {line}, of {len(lines)}")
    return lines, sum(len(each) + 1 for each in lines[: max(line - 1, 0)])


def _applied(edit: Edit, text: str) -> str:
    lines, start = _starts(text, edit.line)
    if edit.old is None:
        lines[edit.line : edit.line] = (edit.new or "").split("\n")
        return "\n".join(lines)
    if edit.line < 1:
        raise RequestError("an edit of line 0 can only put lines in")
    if edit.new is None:
        gone = edit.old.split("\n")
        first = edit.line - 1
        if lines[first : first + len(gone)] != gone:
            raise RequestError(f"line {edit.line} isn't what the edit takes away")
        del lines[first : first + len(gone)]
        return "\n".join(lines)
    places = list(_found(text, edit.old, start, start + len(lines[edit.line - 1])))
    if len(places) != 1:
        raise RequestError(f"what the edit replaces stands in line {edit.line} {len(places)} times, not once")
    return text[: places[0]] + edit.new + text[places[0] + len(edit.old) :]


def _found(text: str, piece: str, first: int, last: int) -> Iterator[int]:
    """Where the piece begins, from `first` to `last`."""
    place = text.find(piece, first)
    while 0 <= place <= last:
        yield place
        place = text.find(piece, place + 1)


def _within(line: int, before: str, after: str) -> Edit:
    """The smallest run of whole words and signs that tells the change and stands in the line once."""
    if not before:
        # nothing there to name: the empty line goes, the new one comes
        return Edit(line, "", after)
    old = [piece[0] for piece in _PIECE.finditer(before)]
    new = [piece[0] for piece in _PIECE.finditer(after)]
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    right = True
    while True:
        a = "".join(old[first : len(old) - last])
        b = "".join(new[first : len(new) - last])
        if a.strip() and b.strip() and len(list(_found(before, a, 0, len(before)))) == 1:
            return Edit(line, a, b)
        if not first and not last:
            return Edit(line, before, after)
        if (right and last) or not first:
            last -= 1
        else:
            first -= 1
        right = not right
