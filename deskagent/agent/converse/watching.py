"""Tells the model of instructions that hold where a call went: those of folders below, once they are entered."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from deskagent.agent.given import instructions
from deskagent.messages import Answer, Call, Outcome, Result, Text
from deskagent.session.history import History
from deskagent.tools.base import Context, Wish


@dataclass
class Watching:
    """A Watch. head: what the conversation begins with. trusted: the project's instructions count."""

    project: Path
    head: str
    history: History
    trusted: bool
    _told: set[tuple[str, int]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def before(self, call: Call, context: Context) -> str:
        return ""

    def after(self, call: Call, wish: Wish, result: Result, context: Context) -> Result:
        if not self.trusted or result.outcome is not Outcome.DONE:
            return result
        news = tuple(Text(instructions.told(path, self.project)) for path in self._new(wish.paths))
        return msgspec.structs.replace(result, content=(*result.content, *news)) if news else result

    def _new(self, names: Iterable[str]) -> list[Path]:
        """Files that the model doesn't have before it: never told, or told in what is a summary now."""
        found = instructions.below(self.project, names)
        if not found:
            return []
        with self._lock:
            titles = {path: instructions.title(path, self.project) for path in found}
            sent = self._sent()
            summaries = self.history.summaries
            new = [
                path
                for path, title in titles.items()
                if f"\n{title}\n" not in f"\n{self.head}"
                and title not in sent
                and (title, summaries) not in self._told
            ]
            self._told |= {(titles[path], summaries) for path in new}
            return new

    def _sent(self) -> set[str]:
        """The first lines of what is told beside results."""
        return {
            part.text.partition("\n")[0]
            for turn in self.history.turns()
            if isinstance(turn, Answer)
            for used in turn.used
            for part in used.result.content[1:]
            if isinstance(part, Text)
        }
