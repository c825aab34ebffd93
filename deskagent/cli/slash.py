"""The commands of a conversation: a line that begins with a slash, and what is told of it."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deskagent.agent.budget import Tier
from deskagent.agent.converse.compact import Compactor
from deskagent.agent.converse.sizes import size
from deskagent.agent.converse.talk import Talk
from deskagent.agent.permissions import Mode
from deskagent.errors import UsageError
from deskagent.messages import Author, Said, Text
from deskagent.session import talk as events
from deskagent.terminal.text import printable
from deskagent.tools import registry
from deskagent.tools.fitting import fitting


class Leave(Exception):
    """The person leaves."""


@dataclass(frozen=True, slots=True)
class Slash:
    """says: in a line of /help. run: with the words behind the name; gives what the person is told."""

    says: str
    run: Callable[[Talk, list[str]], str]


def command(line: str, talk: Talk) -> str:
    """What the person is told, not yet made inert. Errors: UsageError, Leave, what the command raises."""
    try:
        name, *words = shlex.split(line[1:]) or [""]
    except ValueError as error:
        raise UsageError(f"{line!r} can't be read: {error}.") from error
    if name not in COMMANDS:
        raise UsageError(f"There is no command /{name}.", hint="/help lists them.")
    return COMMANDS[name].run(talk, words)


def _help(talk: Talk, words: list[str]) -> str:
    return "\n".join(f"/{name:<12}{slash.says}" for name, slash in COMMANDS.items())


def _leave(talk: Talk, words: list[str]) -> str:
    raise Leave


def _compact(talk: Talk, words: list[str]) -> str:
    assert isinstance(talk.room, Compactor)
    made = asyncio.run(talk.make_room(" ".join(words), trigger="manual"))
    return COMPACTED[made]


COMPACTED = {True: "Earlier turns are sent as a summary now.", False: "There is nothing to leave out yet."}


def _budget(talk: Talk, words: list[str]) -> str:
    if words:
        if words[0] not in ("auto", *Tier):
            raise UsageError(f"{words[0]!r} is no effort.", hint="auto, low, high or max.")
        talk.effort = words[0]
        talk.recorder.emit(events.Chosen(what="effort", value=words[0]))
    return f"Effort: {talk.effort}"


def _model(talk: Talk, words: list[str]) -> str:
    from deskagent.cli.models import opened

    if words:
        talk.provider, talk.moves = opened(words[0])
        assert isinstance(talk.room, Compactor)
        talk.room.provider = talk.provider
        talk.tools = talk.room.tools = registry.told(fitting(talk.hands.tools, talk.provider.capabilities))
        talk.recorder.emit(events.Chosen(what="model", value=talk.provider.name))
    return f"Model: {talk.provider.name}, {talk.provider.capabilities.context} tokens of context"


def _rewind(talk: Talk, words: list[str]) -> str:
    own = [
        entry
        for entry in talk.history.all
        if isinstance(entry.turn, Said) and entry.turn.author is Author.PERSON
    ]
    if not words:
        lines = []
        for number, entry in enumerate(own, 1):
            said = " ".join(part.text for part in entry.turn.parts if isinstance(part, Text))
            lines.append(f"{number:>3}  {_line(said, 100)}")
        last = "/rewind N takes that and all after it out of the conversation; files stay (see /undo)."
        return "\n".join([*lines, last])
    if not words[0].isdigit() or not 1 <= int(words[0]) <= len(own):
        raise UsageError(f"{words[0]!r} is none of them.", hint="/rewind lists what you said.")
    talk.recorder.emit(events.Rewound(to=own[int(words[0]) - 1].id))
    return "Taken out of the conversation."


def _undo(talk: Talk, words: list[str]) -> str:
    from deskagent.agent.undo import undo_latest

    diff = undo_latest(talk.recorder, talk.hands.context("").project)
    talk.say((Text(f"The person took back this change of yours:\n{diff}"),), Author.DESKAGENT)
    return diff


def _cost(talk: Talk, words: list[str]) -> str:
    from deskagent.agent.costs import by_tier, table

    told = table(by_tier(talk.recorder.steps, talk.provider.capabilities.price)) or "Nothing was asked yet."
    full = f"about {size(talk.history.turns()):.0f} of {talk.provider.capabilities.context} tokens"
    return f"{told}\nContext: {full}"


def _mode(talk: Talk, words: list[str]) -> str:
    assert talk.modes is not None
    if words:
        if words[0] not in list(Mode):
            raise UsageError(f"{words[0]!r} is no mode.", hint="plan, ask, auto or full.")
        talk.modes.change(Mode(words[0]))
    return f"Mode: {talk.modes.rights.mode}"


def _permissions(talk: Talk, words: list[str]) -> str:
    gate = talk.hands.gate
    return "\n".join(f"{name}: {getattr(gate, name, '')}" for name in ("mode", "rules"))


def _export(talk: Talk, words: list[str]) -> str:
    return f"deskagent sessions export {talk.recorder.journal.id}"


def _sessions(talk: Talk, words: list[str]) -> str:
    from deskagent.agent.which import sessions_of

    found = sessions_of(talk.hands.context("").project)[:20]
    return "\n".join(f"{summary.id}  {_line(summary.title, 80)}" for summary in found)


def _line(text: str, most: int) -> str:
    """The beginning of a text, on one line."""
    return printable(text[:most], newlines=False)


COMMANDS: Mapping[str, Slash] = {
    "help": Slash("this list", _help),
    "budget": Slash("[auto|low|high|max]: how much thinking a step gets", _budget),
    "effort": Slash("as /budget", _budget),
    "model": Slash("[NAME]: the model that goes on", _model),
    "compact": Slash("[WORDS]: make room now; words say what matters", _compact),
    "undo": Slash("take back the last change of files", _undo),
    "rewind": Slash("[N]: go back to what you said before", _rewind),
    "cost": Slash("tokens and cost by tier, and how full the context is", _cost),
    "mode": Slash("[plan|ask|auto|full]: what may happen without asking, from now on", _mode),
    "permissions": Slash("the mode, and what is allowed without asking", _permissions),
    "sessions": Slash("this folder's sessions", _sessions),
    "export": Slash("how to write this session out", _export),
    "exit": Slash("leave", _leave),
}
