"""The loop of a conversation: observe what is new, have the model plan, act on its calls, verify that it is all.

State lives in the session alone: what the history holds when this starts is what is gone on with, after a crash too.
Who wants to steer a running conversation says something: it is seen before the next request.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Protocol

from deskagent.agent.budget import StepType, Tier, pick_budget
from deskagent.agent.converse import stuck
from deskagent.agent.converse.acting import Hands
from deskagent.agent.converse.asking import Came, ask, tokens_of
from deskagent.agent.converse.modes import Modes
from deskagent.agent.converse.steps import Prefix, step_after, weigh
from deskagent.agent.converse.unseen import refusal, shown
from deskagent.agent.hooks.running import Hooks
from deskagent.agent.loop import FINAL, State, next_state
from deskagent.agent.recorder import Recorder
from deskagent.messages import Author, Part, Said, Text
from deskagent.providers.base import Ask, Provider, Stop, Tool, Trouble
from deskagent.session import events, talk
from deskagent.session.history import History

_GOES_ON = 3
"""Times in a row that an answer which was cut off is gone on with."""
_GO_ON = {
    Stop.LENGTH: "Your answer reached the limit of its length. Go on where it ends.",
    Stop.CUT: "The connection broke while you answered. Calls of that answer were not done. Go on.",
}
_THINKING_LOOPS = (
    "Your thinking repeated itself and was ended. Take another way, with less thinking: act, or ask."
)
_NO_PICTURES = "{model} refused the pictures, so from now on it is only told of them. It said: {why}"
_STUCK = "{why}. Doing it again won't help: try another way, or say what is missing."


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use; None where nothing is set. turns: answers of the model."""

    turns: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass
class Meter:
    """What was used so far: answers of models, and since when (monotonic). Subagents count on their caller's."""

    turns: int = 0
    began: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self) -> None:
        """One more answer."""
        with self._lock:
            self.turns += 1


class Room(Protocol):
    """Makes room in the history."""

    @property
    def full(self) -> bool: ...

    async def __call__(self, words: str = "") -> bool:
        """Whether some was made."""
        ...


@dataclass
class Talk:
    """system, tools: the stable head of every request. room: is made before a request where the history is full.
    moves: the provider's server keeps the effort in front of the conversation. why: after FAILED, what ended it. modes:
    where the person may change the mode. hooks: at its moments, None for a subagent."""

    recorder: Recorder
    history: History
    provider: Provider
    hands: Hands
    system: str
    tools: tuple[Tool, ...]
    room: Room
    effort: str = "auto"
    cap: Tier = Tier.MAX
    limits: Limits = field(default_factory=Limits)
    moves: bool = False
    why: str = ""
    meter: Meter = field(default_factory=Meter)
    modes: Modes | None = None
    hooks: Hooks | None = None

    def __post_init__(self) -> None:
        self._tier: Tier | None = None
        self._failed: Tier | None = None
        self._prompt = 0
        self._cut = 0
        self._ruts: set[str] = set()
        self._heard: set[str] = set()
        self._kept_on = 0

    @property
    def turns(self) -> int:
        return self.meter.turns

    @property
    def usd(self) -> float:
        """What the steps so far cost, summaries and subagents too, in US dollars."""
        return sum(step.cost_usd for step in self.recorder.steps)

    def say(self, parts: tuple[Part, ...], author: Author = Author.PERSON, id: str = "") -> None:
        """Puts something into the conversation, also while it runs. id: of what waited until now, "" for a new one."""
        self.recorder.emit(talk.Spoken(id=id or self.recorder.new_id("turn"), parts=parts, author=author))

    async def run(self) -> State:
        """From where the history stands until the model has nothing more to do, or something ends it."""
        for event in self.history.lost():
            self.recorder.emit(event)
        handlers = {
            State.OBSERVE: self.observe,
            State.PLAN: self.plan,
            State.ACT: self.act,
            State.VERIFY: self.verify,
        }
        state = State.OBSERVE
        while state not in FINAL:
            event = await handlers[state]()
            following = next_state(state, event)
            self.recorder.emit(events.StateChanged(source=str(state), target=str(following), why=event))
            state = following
        return state

    async def observe(self) -> str:
        """Is there something to answer, room for it, and a reason to think that it leads anywhere?"""
        if self._spent():
            return "limit"
        if self.hooks is not None and not await self._permitted(self.hooks):
            return "stuck"
        if rut := stuck.stuck(self.history.turns()):
            if rut.key in self._ruts:
                self.why = f"It got nowhere: {rut.why}."
                return "stuck"
            self._ruts.add(rut.key)
            self._failed = self._tier
            self._tell(_STUCK.format(why=rut.why[:1].upper() + rut.why[1:]))
        if not self.history.turns():
            return "nothing_asked"
        if self.room.full:
            await self.make_room()
        return "asked"

    async def make_room(self, words: str = "", *, trigger: str = "auto") -> bool:
        """Whether some was made. words: of the person, on what matters. trigger: `manual` where the person wants it."""
        if self.hooks is not None:
            about = {"trigger": trigger, "custom_instructions": words}
            await self.hooks.wait("PreCompact", about)
        return await self.room(words)

    async def _permitted(self, hooks: Hooks) -> bool:
        """Whether hooks let what the person said stand, and the work go on; `why` says why not."""
        new = []
        for entry in reversed(self.history.sent):
            if not isinstance(entry.turn, Said):
                break
            if entry.turn.author is Author.PERSON and entry.id not in self._heard:
                new.append(entry)
        for entry in reversed(new):
            self._heard.add(entry.id)
            prompt = "\n".join(part.text for part in entry.turn.parts if isinstance(part, Text))
            answer = await hooks.wait("UserPromptSubmit", {"prompt": prompt})
            if answer.held:
                self.recorder.emit(talk.Rewound(to=entry.id))
                self.why = f"A hook held up what was said: {answer.held}"
                return False
            if answer.context:
                self._tell(answer.context)
        self.why = f"A hook ended the work: {hooks.ended[-1]}" if hooks.ended else self.why
        return not hooks.ended

    async def plan(self) -> str:
        """One answer of the model."""
        turns = self.history.turns()
        step = step_after(turns)
        wanted = pick_budget(step, effort=self.effort, cap=self.cap, failed_at=self._failed)
        tier = weigh(wanted, self._tier, Prefix(self._prompt, self.moves))
        request = Ask(
            self.system,
            self.tools,
            shown(turns, self.history, self.provider.name),
            tier=str(tier),
            blob=self.recorder.journal.blobs.get,
            session=self.recorder.journal.id,
        )
        with self.recorder.step(step, tier, State.PLAN) as told:
            came = await ask(
                self.recorder, self.provider, request, tier=tier, step=step, known=self.history.calls
            )
            told.tokens, told.cost_usd = tokens_of(came.usage), came.usage.cost or 0.0
        self.meter.add()
        self._tier, self._failed, self._prompt = tier, None, came.usage.prompt
        return await self._outcome(came)

    async def _outcome(self, came: Came) -> str:
        if came.error is not None and came.error.trouble is Trouble.CONTEXT and await self.make_room():
            return "cut"
        if blind := refusal(came.error, self.history, self.provider.name):
            self.recorder.emit(blind)
            self.recorder.notice("warning", _NO_PICTURES.format(model=self.provider.name, why=came.error))
            return "cut"
        if came.error is not None and (came.error.trouble is not Trouble.NETWORK or came.empty):
            self.why = str(came.error)
            return "gave_up"
        whole = came.stop not in _GO_ON or (came.stop is Stop.LENGTH and came.calls)
        if came.thinking_loops or not whole:
            self._cut += 1
            if self._cut > _GOES_ON:
                self.why = "Its answers were cut off again and again."
                return "gave_up"
            self._failed = self._tier if came.thinking_loops else None
            self._tell(_THINKING_LOOPS if came.thinking_loops else _GO_ON[came.stop])
            return "cut"
        self._cut = 0
        return "calls" if came.calls else "answered"

    async def act(self) -> str:
        """Does the calls of the answer."""
        with self.recorder.step(StepType.CODE_PATCH, self._tier or Tier.LOW, State.ACT):
            await self.hands.act(self.history.waiting)
        return "results"

    async def verify(self) -> str:
        """Was something said meanwhile?"""
        last = self.history.turns()[-1:]
        if last and isinstance(last[0], Said):
            return "more"
        if self.hooks is not None and self._kept_on < _GOES_ON:
            answer = await self.hooks.wait("Stop", {"stop_hook_active": self._kept_on > 0})
            if answer.held:
                self._kept_on += 1
                self._tell(f"You can't stop yet: {answer.held}")
                return "more"
        self._kept_on = 0
        return "finished"

    def _tell(self, text: str) -> None:
        self.say((Text(text),), Author.DESKAGENT)

    def _spent(self) -> bool:
        used = {
            "turns": (self.turns, self.limits.turns),
            "usd": (self.usd, self.limits.usd),
            "seconds": (time.monotonic() - self.meter.began, self.limits.seconds),
        }
        over = [name for name, (spent, most) in used.items() if most is not None and spent >= most]
        self.why = f"The limit of {over[0]} is reached." if over else self.why
        return bool(over)
