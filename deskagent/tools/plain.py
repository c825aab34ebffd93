"""What a command printed on a terminal, as text to read: without escapes, what was overwritten left out, in bounds."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n\r])")
HEAD, TAIL, LONGEST = 6000, 14000, 2000
"""Characters that are kept of both ends, and of a line: errors stand at the end, what was run at the beginning."""


def plain(printed: str) -> str:
    """Without escape sequences and controls; of a line that was written over with carriage returns the last state."""
    text = _ESCAPES.sub("", printed.replace("\r\n", "\n"))
    text = _OVERWRITTEN.sub("", text).replace("\r", "")
    return "\n".join(map(_cut, text.split("\n")))


def shortened(text: str) -> str:
    """Both ends of a long text, and what lies between counted."""
    if len(text) <= HEAD + TAIL:
        return text
    head, tail = text[:HEAD], text[-TAIL:]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :] or tail
    left = text[len(head) : len(text) - len(tail)]
    return f"{head}… {len(left)} characters in {left.count(chr(10))} lines left out …\n{tail}"


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}… ({len(line) - LONGEST} characters more)"
