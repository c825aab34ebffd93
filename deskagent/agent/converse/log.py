"""The session's own log as a tool: what was said, called and found, also what the conversation holds no more."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from pydantic import Field

from deskagent.messages import Author, Call, Image, Part, Result, Text, Thinking
from deskagent.session import talk
from deskagent.session.event import Event
from deskagent.session.journal import Journal
from deskagent.tools.base import Arguments, Context, Effect, Tool, ToolError, Wish

HITS, PIECE, AROUND = 20, 10_000, 120
"""Events of an answer; characters of one that is shown whole; characters around a word."""


class LogArguments(Arguments):
    words: str = Field("", description="finds the events that hold all of these words, the latest first")
    before: int = Field(0, ge=0, description="only events with a smaller number: the next page")
    event: int = Field(0, ge=0, description="shows the event of this number as a whole instead")
    start: int = Field(0, ge=0, description="with event: the character to begin with")


class Found(msgspec.Struct, frozen=True):
    """An event that a conversation is made of. seq: its number. who: whose words they are."""

    seq: int
    who: str
    text: str


class Log(Tool[LogArguments]):
    name = "log"
    prompt = (
        "Searches all that was said and done in this session, also what was summarised since: words, calls, results, "
        "thinking. Gives numbers of events and the text around; `event` shows one as a whole."
    )
    arguments = LogArguments
    looks = True

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def wish(self, arguments: LogArguments, context: Context) -> Wish:
        if not arguments.words.split() and not arguments.event:
            raise ToolError("Give words to look for, or the number of an event.")
        return Wish(Effect.NONE, f"log {arguments.words or arguments.event}", "log")

    def run(self, arguments: LogArguments, context: Context) -> Result:
        if arguments.event:
            return Result.of(self._whole(arguments))
        words = [word.casefold() for word in arguments.words.split()]
        hits: list[Found] = []
        more = 0
        for found in events(self._journal):
            if arguments.before and found.seq >= arguments.before:
                break
            text = found.text.casefold()
            if all(word in text for word in words):
                hits.append(found)
                if len(hits) > HITS:
                    hits.pop(0)
                    more += 1
        lines = [f"#{hit.seq} {hit.who}: {_around(hit.text, words)}" for hit in reversed(hits)]
        if more:
            lines.append(f"({more} earlier ones: before={hits[0].seq})")
        return Result.of("\n".join(lines) or "Nothing in the log holds all of these words.")

    def _whole(self, arguments: LogArguments) -> str:
        found = next((each for each in events(self._journal) if each.seq == arguments.event), None)
        if found is None:
            raise ToolError(f"Event {arguments.event} holds no words of the conversation.")
        piece = found.text[arguments.start : arguments.start + PIECE]
        end = arguments.start + len(piece)
        left = len(found.text) - end
        return f"#{found.seq} {found.who}:\n{piece}" + (
            f"\n({left} characters more: start={end})" if left > 0 else ""
        )


def events(journal: Journal) -> Iterator[Found]:
    """What the session's conversation is made of, in order, without looks into the log itself."""
    names: dict[str, str] = {}
    for record in journal.read():
        who, text = _said(record.event, names)
        if text.strip():
            yield Found(record.seq, who, text)


def _said(event: Event, names: dict[str, str]) -> tuple[str, str]:
    match event:
        case talk.Spoken(parts=parts, author=author):
            return ("the person" if author is Author.PERSON else "deskagent"), _text(parts)
        case talk.PartCame(part=Call(id=id, name=name, arguments=arguments)):
            names[id] = name
            return f"call of {name}", "" if name == Log.name else arguments
        case talk.PartCame(part=Thinking(text=text)):
            return "your thinking", text
        case talk.PartCame(part=Text(text=text)):
            return "you", text
        case talk.CallEnded(id=id, result=result):
            name = names.get(id, "a call")
            return f"result of {name}", "" if name == Log.name else _text(result.content)
        case talk.Compacted(summary=summary):
            return "summary", summary
    return "", ""


def _text(parts: tuple[Part, ...]) -> str:
    return "\n".join(f"[picture {part.origin}]" if isinstance(part, Image) else part.text for part in parts)


def _around(text: str, words: list[str]) -> str:
    """The text around the first of the words, on one line."""
    at = max(0, text.casefold().find(words[0]) - AROUND)
    piece = " ".join(text[at : at + 2 * AROUND + len(words[0])].split())
    return f"{'…' if at else ''}{piece}{'…' if at + 2 * AROUND + len(words[0]) < len(text) else ''}"
