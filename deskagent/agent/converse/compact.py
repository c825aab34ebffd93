"""Makes room in a long conversation: its head and its tail stay, what lies between is sent as a summary.

What the person said in between stands in the summary word for word, and so do the todos. The whole stays on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deskagent.agent.budget import StepType, Tier
from deskagent.agent.converse.asking import ask, tokens_of
from deskagent.agent.converse.log import Log
from deskagent.agent.converse.sizes import size
from deskagent.agent.converse.unseen import shown
from deskagent.agent.loop import State
from deskagent.agent.recorder import Recorder
from deskagent.messages import Answer, Author, Said, Text
from deskagent.providers.base import Ask, Choice, Provider, Tool
from deskagent.session import talk
from deskagent.session.history import Entry, History

HIGH, TAIL = 0.8, 0.3
"""Shares of the context: from which room is made, and that stays as the tail."""
_QUOTED = 4000
_ASK = """Summarise the conversation so far, so that the work can go on from your summary alone. Be exact: names, paths,
commands, numbers, error messages as they stand. Use these headings and leave out what has nothing to say:
Goal. Decisions and their reasons. Files read or changed, and what matters in them. Commands that were run and how they
ended. What was ruled out. What is open. Next step."""
_FRAME = "Earlier parts of this conversation were summarised to make room.{log}\n\n{told}"
_LOG = " The whole of them, events up to #{seq}, is found by `log`."


@dataclass
class Compactor:
    """system, tools: as the conversation sends them, so that its prefix is found in the server's cache."""

    recorder: Recorder
    history: History
    provider: Provider
    system: str
    tools: tuple[Tool, ...]

    @property
    def full(self) -> bool:
        """Whether there is hardly room for another answer."""
        return size(self.history.turns()) > HIGH * self.provider.capabilities.context

    async def __call__(self, words: str = "") -> bool:
        """Makes room; False where nothing can be left out. words: of the person, on what matters."""
        entries = self.history.sent
        middle = between(entries, TAIL * self.provider.capabilities.context)
        if middle is None:
            return False
        first, last = middle
        told = await self._told(entries[: last + 1], words)
        kept = entries[first : last + 1]
        summary = _FRAME.format(
            log=_LOG.format(seq=self.recorder.journal.seq) if self._searchable else "",
            told="\n\n".join(filter(None, [told or mechanical(kept), said(kept), self._todos()])),
        )
        self.recorder.emit(
            talk.Compacted(
                id=self.recorder.new_id("summary"),
                first=entries[first].id,
                last=entries[last].id,
                summary=summary,
            )
        )
        return True

    @property
    def _searchable(self) -> bool:
        return any(tool.name == Log.name for tool in self.tools)

    async def _told(self, entries: Sequence[Entry], words: str) -> str:
        """The model's summary; "" where it can't give one."""
        wish = Said((Text(f"{_ASK}\n{words}".strip()),), Author.DESKAGENT)
        turns = [entry.turn for entry in entries if entry.turn.parts]
        request = Ask(
            self.system,
            self.tools,
            (*shown(turns, self.history, self.provider.name), wish),
            tier="low",
            choice=Choice.NONE,
            blob=self.recorder.journal.blobs.get,
            session=self.recorder.journal.id,
        )
        step = StepType.SUMMARIZE_DOCS
        with self.recorder.step(step, Tier.LOW, State.OBSERVE) as told:
            came = await ask(self.recorder, self.provider, request, tier=Tier.LOW, step=step, why="summary")
            told.tokens, told.cost_usd = tokens_of(came.usage), came.usage.cost or 0.0
        return came.text.strip()

    def _todos(self) -> str:
        lines = [f"[{todo.state}] {todo.text}" for todo in self.history.todos]
        return "\n".join(["Todos, as they stand:", *lines]) if lines else ""


def between(entries: Sequence[Entry], tail: float) -> tuple[int, int] | None:
    """First and last of the entries to be summarised: from the second on, up to where the rest has `tail` tokens. None
    where that is less than two."""
    room, last = tail, len(entries) - 1
    while last > 0 and (room := room - size([entries[last].turn])) > 0:
        last -= 1
    return (1, last) if last >= 2 else None


def said(entries: Sequence[Entry]) -> str:
    """What the person said, word for word."""
    words = [
        part.text if isinstance(part, Text) else f"(a picture, {part.origin}, that isn't sent any more)"
        for entry in entries
        if isinstance(entry.turn, Said) and entry.turn.author is Author.PERSON
        for part in entry.turn.parts
    ]
    return (
        "\n".join(["The person said meanwhile:", *(f"> {each[:_QUOTED]}" for each in words)]) if words else ""
    )


def mechanical(entries: Sequence[Entry]) -> str:
    """What can be said of turns without a model: which calls there were, and how they ended."""
    lines = [
        f"{used.call.name} {used.call.arguments[:200]}: {used.result.outcome}"
        for entry in entries
        if isinstance(entry.turn, Answer)
        for used in entry.turn.used
    ]
    return "\n".join(["Calls that were made:", *lines])
