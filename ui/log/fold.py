"""The transcript of a session, folded from its events and from what passes without being kept.

Items are added at the end and replaced in place; only a retry or a rewind takes some out. The same events make the same
items, however much of them was seen live: deltas are forgotten once the part that they became is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deskagent.agent.front import Passing, Printed, Streamed
from deskagent.messages import Author, Call, Image, Outcome, Part, Text, Thinking
from deskagent.providers.base import CallDelta, Delta, Retrying, TextDelta, ThinkingDelta
from deskagent.session import events, talk
from deskagent.session.event import Event
from deskagent.tools.plain import plain
from ui.log.about import about
from ui.log.inert import inert
from ui.log.items import Aside, Item, Notice, Said, State, Thought, Words, Work
from ui.log.listed import Listed

_WRITES = "write"
"""The effect of calls whose subject is a diff, see `tools.base.Effect`."""
_PRINTED = 8000
"""Characters of a running call's output that are kept to show."""
_INNER = 200
"""Lines of a subagent that are kept to show."""
_FILE = re.compile(r"<file path=(['\"])(.*?)\1>")
_RAN = re.compile(r"I ran `(.*?)`:\n(.*)", re.DOTALL)


class Fold(Listed):
    """A list that is folded from events."""

    def __init__(self) -> None:
        super().__init__()
        self._beside: set[str] = set()
        self._ask = self._tier = self._request = ""
        self._parts: list[str] = []
        self._live: dict[int, str] = {}
        self._calls: dict[str, str] = {}
        self._agents: dict[str, str] = {}
        self._numbers = 0

    def take(self, event: Event | Passing) -> None:
        if self._request and not isinstance(event, talk.Spoken):
            self._show_request()
        if handle := _HANDLERS.get(type(event)):
            handle(self, event)

    def note(self, level: str, text: str) -> None:
        """Something for the person that isn't in the log."""
        self._put(Notice(self._key("note"), "", level, inert(text)))

    def tell(self, text: str) -> None:
        """Markdown of deskagent's own for the person, that isn't in the log."""
        self._put(Words(self._key("told"), "", text))

    def _key(self, kind: str) -> str:
        self._numbers += 1
        return f"{kind}:{self._numbers}"

    # what the person and deskagent say

    def request(self, event: events.Request) -> None:
        """Shown by itself only where it isn't spoken next: a run of `fix`."""
        self._request = event.text.strip()

    def _show_request(self) -> None:
        text, self._request = self._request, ""
        self._put(Said(self._key("request"), "", inert(text)))

    def spoken(self, event: talk.Spoken) -> None:
        text = next((part.text for part in event.parts if isinstance(part, Text)), "")
        if event.author is not Author.PERSON:
            self._put(Aside(event.id, event.id, "told the model", inert(text)))
            return
        if ran := _RAN.fullmatch(text):
            line, printed = inert(ran[1]), inert(plain(ran[2]))
            self._put(Work(event.id, event.id, "!", line, state=Outcome.DONE, subject=line, result=printed))
            return
        self._request = ""
        self._put(Said(event.id, event.id, inert(text), tuple(map(inert, _beside(event.parts)))))

    def compacted(self, event: talk.Compacted) -> None:
        self._put(Aside(event.id, "", "earlier turns are sent as this summary", inert(event.summary)))

    def rewound(self, event: talk.Rewound) -> None:
        first = next((at for at, item in enumerate(self.items) if item.turn == event.to), None)
        if first is not None:
            after = {item.key for item in self.items[first:]}
            self._keep(lambda item: item.key not in after)

    # an answer of the model

    def asked(self, event: talk.ModelAsked) -> None:
        if event.why:
            self._beside.add(event.id)
            return
        self._ask, self._tier, self._parts, self._live = event.id, event.tier, [], {}

    def streamed(self, passing: Streamed) -> None:
        if passing.ask != self._ask:
            return
        if isinstance(passing.delta, Retrying):
            self._forget()
            self.note("info", f"{passing.delta.why}; once more in {passing.delta.seconds:.0f} s")
            return
        if not isinstance(passing.delta, ThinkingDelta | TextDelta | CallDelta):
            return
        delta = passing.delta
        key = self._live.setdefault(delta.part, f"{self._ask}:{len(self._live)}")
        self._put(self._grown(key, delta))

    def _grown(self, key: str, delta: Delta) -> Item:
        before = self.get(key)
        match delta:
            case ThinkingDelta(text=text):
                base = (
                    before
                    if isinstance(before, Thought)
                    else Thought(key, self._ask, "", self._tier, live=True)
                )
                return replace(base, text=base.text + inert(text))
            case TextDelta(text=text):
                base = before if isinstance(before, Words) else Words(key, self._ask, live=True)
                return replace(base, text=base.text + inert(text))
            case CallDelta():
                base = before if isinstance(before, Work) else Work(key, self._ask)
                # while it is written, `subject` holds the arguments so far
                written = base.subject + delta.arguments
                name = inert(delta.name, newlines=False) or base.name
                return replace(base, name=name, subject=written, about=inert(about(written)))
        raise AssertionError(delta)

    def came(self, event: talk.PartCame) -> None:
        """The part as it is kept takes the place of what was seen of it."""
        if event.ask != self._ask:
            return
        key = f"{self._ask}:{len(self._parts)}"
        match event.part:
            case Call(id=id, name=name, arguments=arguments):
                self._calls[id] = key
                shown = inert(name, newlines=False)
                self._put(Work(key, self._ask, shown, inert(about(arguments)), state=State.WAITING))
            case Thinking(text=text):
                self._put(Thought(key, self._ask, inert(text), self._tier))
            case Text(text=text):
                self._put(Words(key, self._ask, inert(text)))
        self._parts.append(key)

    def answered(self, event: talk.ModelAnswered) -> None:
        if event.ask != self._ask:
            return
        self._forget()
        thoughts = [item for key in self._parts if isinstance(item := self.get(key), Thought)]
        if thoughts and (tokens := event.tokens.get("thinking", 0)):
            self._put(replace(thoughts[-1], tokens=tokens))
        if event.error:
            self._put(Notice(f"{event.ask}:error", self._ask, "error", inert(event.error)))

    def _forget(self) -> None:
        """What was streamed and didn't become a part."""
        gone = set(self._live.values()) - set(self._parts)
        self._live = {}
        if gone:
            self._keep(lambda item: item.key not in gone)

    # calls

    def _call(self, id: str) -> Item | None:
        return self.get(self._calls.get(id, ""))

    def begun(self, event: talk.CallBegun) -> None:
        if isinstance(item := self._call(event.id), Work):
            diff = event.effect == _WRITES
            subject, permitted = inert(event.subject), inert(event.permitted)
            self._put(replace(item, state=State.RUNNING, subject=subject, diff=diff, permitted=permitted))

    def printed(self, passing: Printed) -> None:
        if isinstance(item := self._call(passing.call), Work) and not item.ended:
            text = (item.printed + inert(plain(passing.text)))[-_PRINTED:]
            self._put(replace(item, printed=text))

    def ended(self, event: talk.CallEnded) -> None:
        item = self._call(event.id)
        if isinstance(item, Work) and not item.ended:
            told = inert(_text(event.result.content))
            self._put(
                replace(item, state=event.result.outcome, result=told, printed="", seconds=event.seconds)
            )

    def agent(self, event: talk.AgentBegun) -> None:
        self._agents[event.id] = event.call

    def within(self, event: events.Within) -> None:
        item = self._call(self._agents.get(event.agent, ""))
        inner = event.event
        if isinstance(item, Work) and isinstance(inner, talk.PartCame) and isinstance(inner.part, Call):
            line = inert(f"{inner.part.name} {about(inner.part.arguments)}", newlines=False)
            self._put(replace(item, inner=(*item.inner, line)[-_INNER:]))

    # the rest

    def notice(self, event: events.Notice) -> None:
        self.note(event.level, event.text)

    def patch(self, event: events.PatchFound) -> None:
        if event.diff:
            subject, state = inert(event.diff), Outcome.DONE
            self._put(Work(self._key("patch"), "", "patch", inert(event.path), state, subject, diff=True))


def _beside(parts: tuple[Part, ...]) -> list[str]:
    """The names of what went with the words."""
    files = [found[2] for part in parts[1:] if isinstance(part, Text) and (found := _FILE.match(part.text))]
    return files + [
        f"{part.origin or 'picture'} ({part.width}×{part.height})"
        for part in parts
        if isinstance(part, Image)
    ]


def _text(parts: tuple[Part, ...]) -> str:
    return "\n".join(f"[picture {part.origin}]" if isinstance(part, Image) else part.text for part in parts)


_HANDLERS: dict[type, Callable[[Fold, Any], None]] = {
    events.Request: Fold.request,
    events.Notice: Fold.notice,
    events.PatchFound: Fold.patch,
    events.Within: Fold.within,
    talk.Spoken: Fold.spoken,
    talk.Compacted: Fold.compacted,
    talk.Rewound: Fold.rewound,
    talk.ModelAsked: Fold.asked,
    talk.PartCame: Fold.came,
    talk.ModelAnswered: Fold.answered,
    talk.CallBegun: Fold.begun,
    talk.CallEnded: Fold.ended,
    talk.AgentBegun: Fold.agent,
    Streamed: Fold.streamed,
    Printed: Fold.printed,
}
