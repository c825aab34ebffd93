"""Skills: `skills/NAME/SKILL.md`. The model is told names and descriptions; it reads one when it uses it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deskagent.agent.given import matter
from deskagent.agent.given.found import MOST_BYTES, Given, Warn, given
from deskagent.terminal.sandbox.secrets import secret_paths
from deskagent.tools.base import ToolError

MOST_TOLD = 16_000
"""Characters of names and descriptions that the head of a conversation holds."""


@dataclass(frozen=True)
class Skills:
    found: Mapping[str, Given]

    @classmethod
    def read(cls, project: Path, *, trusted: bool, warn: Warn) -> Skills:
        return cls(given("skills", project, trusted=trusted, warn=warn))

    def told(self, warn: Warn) -> str:
        """As the head of a conversation tells them; "" where there are none."""
        lines, room = [], MOST_TOLD
        for one in self.found.values():
            line = f"- {one.name}: {one.says or 'no description'}"
            if room < len(line):
                warn(f"There are {len(self.found)} skills; the model is told of {len(lines)} of them.")
                break
            lines.append(line)
            room -= len(line)
        return "\n".join(["Skills that `skill` reads:", *lines]) if lines else ""

    def load(self, name: str, file: str) -> str:
        """A skill's text, or that of a file beside it. Errors: ToolError."""
        one = self.found.get(name)
        if one is None:
            raise ToolError(f"There is no skill {name!r}. There are: {', '.join(self.found) or 'none'}.")
        folder = one.path.parent
        if not file:
            beside = sorted(str(p.relative_to(folder)) for p in list(folder.rglob("*"))[:200] if p.is_file())
            others = ", ".join(each for each in beside if each != one.path.name)
            more = f"\n\n(Beside it, in {folder}: {others})" if others else ""
            return f"{one.body}{more}"
        path = (folder / file).resolve()
        secret = any(path == each or each in path.parents for each in secret_paths(os.environ))
        if "\0" in file or not path.is_relative_to(folder.resolve()) or secret:
            raise ToolError(f"{file!r} doesn't lie in the skill's folder.")
        try:
            text, cut = matter.bounded(path, MOST_BYTES)
        except OSError as error:
            raise ToolError(f"{file} can't be read: {error.strerror or error}.") from error
        return f"{text}\n(cut after {MOST_BYTES} bytes)" if cut else text
