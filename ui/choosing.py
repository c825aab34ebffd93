"""What the person picks on a screen of its own: a session, a model, how much thinking, what to say again, where to go
back to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent.agent import which
from deskagent.agent.budget import Tier
from deskagent.agent.converse.talk import Talk
from deskagent.agent.undo import undo_since
from deskagent.errors import DeskagentError
from deskagent.messages import Author, Text
from deskagent.providers import catalog
from deskagent.session import export, store, talk
from deskagent.session.files import storage_errors
from deskagent.session.journal import Journal
from deskagent.session.render import moment
from ui.log.items import Said
from ui.screens.picker import Choice, Picked, Picker, Row

if TYPE_CHECKING:
    from ui.app import DeskApp
    from ui.live.conversation import Conversation

_FORK, _EXPORT = "ctrl+f", "ctrl+e"


async def session(app: DeskApp, conversation: Conversation) -> None:
    """Another session of this folder: gone on with, forked, or written out."""
    project = conversation.project
    found = await asyncio.to_thread(which.sessions_of, project)
    rows = [
        Row(
            summary.id,
            summary.title,
            f"{moment(summary.started)} · {summary.status} · {summary.events} events",
        )
        for summary in found
    ]
    keys = {_FORK: "forks", _EXPORT: "exports"}
    picked = await app.push_screen_wait(Picker(Choice("Sessions of this folder", rows, keys)))
    if picked is None:
        return
    if picked.key == _EXPORT:
        app.note("info", await asyncio.to_thread(_exported, picked.value, project))
    elif picked.key == _FORK or picked.value != app.session:
        options = replace(conversation.options, session=picked.value, fork=picked.key == _FORK)
        await app.open(lambda: options)


def _exported(session: str, folder: Path) -> str:
    """Writes a session beside the project's files, and says where."""
    target = folder / f"session-{session}.md"
    try:
        with Journal.open(store.find(session), write=False) as journal, storage_errors("export", target):
            target.write_text("".join(export.export(journal, "md")), "utf-8")
    except DeskagentError as error:
        return str(error)
    return f"Exported to {target}, with its secrets taken out. Read it before you pass it on."


async def model(app: DeskApp, conversation: Conversation) -> None:
    """The model that goes on, then how much it thinks."""
    try:
        entries = catalog.read().entries
    except DeskagentError as error:
        app.note("error", str(error))
        return
    rows = [
        Row(
            name,
            name,
            " · ".join(
                filter(
                    None,
                    [entry.dialect, f"{entry.context:,} tokens", "sees pictures" if entry.images else ""],
                )
            ),
        )
        for name, entry in entries.items()
    ]
    rows.sort(key=lambda row: row.value != app.facts.model)
    picked = await app.push_screen_wait(Picker(Choice("Models", rows, {"ctrl+t": "thinking"})))
    if picked is None:
        return
    if picked.key == "enter" and picked.value != app.facts.model:
        conversation.send(f"/model {picked.value}")
    if picked.key != "enter":
        await thinking(app, conversation)


async def thinking(app: DeskApp, conversation: Conversation) -> None:
    says = {
        "auto": "by the kind of each step",
        Tier.LOW: "little, for quick steps",
        Tier.HIGH: "more, for changes of code",
        Tier.MAX: "as much as it takes",
    }
    rows = [Row(name, name, text) for name, text in says.items()]
    picked = await app.push_screen_wait(Picker(Choice("Thinking", rows)))
    if picked is not None:
        conversation.send(f"/budget {picked.value}")


async def again(app: DeskApp, conversation: Conversation) -> None:
    """Something that was said before, in this session or another one of this folder, to be changed and sent."""
    own = list(reversed(app.composer.said))
    others = [s.title for s in await asyncio.to_thread(which.sessions_of, conversation.project)]
    rows = [Row(text, " ".join(text.split())[:300]) for text in dict.fromkeys([*own, *others])]
    picked = await app.push_screen_wait(Picker(Choice("Said before", rows, ranked=False)))
    if picked is not None:
        app.composer.put(picked.value)


async def rewind(app: DeskApp, conversation: Conversation) -> None:
    """Back to before something that the person said: the conversation, the files, or both."""
    said = [item for item in reversed(app.fold.items) if isinstance(item, Said) and item.turn]
    rows = [Row(item.turn, " ".join(item.text.split())[:300]) for item in said]
    picked = await app.push_screen_wait(Picker(Choice("Go back to before…", rows, ranked=False)))
    if picked is None:
        return
    ways = [
        Row("both", "conversation and files"),
        Row("chat", "the conversation alone; files stay as they are"),
        Row("code", "files alone; the conversation goes on"),
    ]
    way = await app.push_screen_wait(Picker(Choice("Take back", ways, ranked=False)))
    if way is not None:
        text = next(item.text for item in said if item.turn == picked.value)
        conversation.later(partial(_taken_back, picked, way.value), partial(_say_taken, app, way.value, text))


def _taken_back(picked: Picked, way: str, talking: Talk) -> str:
    diff = ""
    if way != "chat":
        diff = undo_since(talking.recorder, talking.hands.context("").project, picked.value)
    if way != "code":
        talking.recorder.emit(talk.Rewound(to=picked.value))
    elif diff:
        talking.say((Text(f"The person took back these changes of yours:\n{diff}"),), Author.DESKAGENT)
    return diff


def _say_taken(app: DeskApp, way: str, text: str, diff: str) -> None:
    if way != "code" and not app.composer.text:
        app.composer.put(text)
    if way != "chat":
        app.note("info", f"Taken back:\n{diff}" if diff else "No file was changed since then.")
