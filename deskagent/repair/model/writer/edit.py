"""A model's answer as a candidate: an edit of whole lines that parses and uses names that there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher

from deskagent.repair.candidates.base import shorten
from deskagent.repair.model.excerpt import Excerpt
from deskagent.repair.model.writer.names import Names
from deskagent.repair.source import SourceError
from deskagent.repair.syntax import Syntax
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Candidate, Edit

OPERATOR = "model.written"
PRIOR = 0.02
"""Of every edit that a model writes; what the model says of it tells them apart."""


@dataclass
class Editor:
    """Makes candidates of one file. names: those that may stand in new code; None for a language that isn't
    Python."""

    syntax: Syntax
    stream: TokenStream
    names: Names | None
    made: set[str] = field(default_factory=set)
    """Keys of what was made."""

    def candidate(self, excerpt: Excerpt, after: str) -> Candidate | None:
        """None for what changes layout alone, was made before, doesn't parse, can't be written in the file's encoding,
        or uses names that are nowhere."""
        edits, line, note = _edits(excerpt, after, self.syntax)
        if not edits:
            return None
        try:
            key = self.stream.key(edits)
            self.syntax.source.apply(edits)
        except SourceError:
            return None
        if not key or key in self.made or not self.syntax.still_parses(edits):
            return None
        if self.names is not None and not all(self.names.there(edit, self.syntax) for edit in edits):
            return None
        self.made.add(key)
        return Candidate(edits, OPERATOR, excerpt.path, line, PRIOR, note, key)


def _edits(excerpt: Excerpt, after: str, syntax: Syntax) -> tuple[tuple[Edit, ...], int, str]:
    """One edit for each run of lines that changes, the 1-based line of the first, and a note for people."""
    old = excerpt.text.split("\n")
    ends = "\r" if any(line.endswith("\r") for line in old) else ""
    starts = [excerpt.start]
    for line in old:
        starts.append(starts[-1] + len(line.encode()) + 1)
    plain = [line.removesuffix("\r") for line in old]
    while plain and not plain[-1]:
        plain.pop()
    new = after.split("\n")
    edits: list[Edit] = []
    notes: list[str] = []
    first_line = 0
    for kind, i, j, k, m in SequenceMatcher(None, plain, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        first_line = first_line or syntax.row_of(starts[i]) + 1
        text = "\n".join(new[k:m])
        if kind == "insert" and i:
            end = starts[i] - 1 - len(ends if old[i - 1].endswith("\r") else "")
            edits.append(Edit(excerpt.path, end, end, f"\n{text}"))
        elif kind == "insert":
            edits.append(Edit(excerpt.path, starts[0], starts[0], f"{text}\n"))
        elif kind == "delete":
            edits.append(Edit(excerpt.path, starts[i], min(starts[j], excerpt.end), ""))
        else:
            end = starts[j - 1] + len(plain[j - 1].encode())
            edits.append(Edit(excerpt.path, starts[i], end, text))
        gone, come = (shorten("; ".join(map(str.strip, part))) for part in (plain[i:j], new[k:m]))
        notes.append(f"{gone} → {come}" if gone and come else f"add {come}" if come else f"drop {gone}")
    return tuple(edits), first_line, f"the model writes: {', '.join(notes)}"
