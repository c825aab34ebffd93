"""The events of a conversation with a model: what was said and asked, what came, what tools did.

Deltas aren't kept: each part of an answer is one event when it is whole, or as far as it came when the answer was cut.
`session.history` makes the conversation of them.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from deskagent.messages import Author, Call, Part, Result, Text, Thinking
from deskagent.session.event import Event


class Spoken(Event, frozen=True, tag="spoken"):
    """Somebody said something that the model gets to see. `id` names the turn."""

    id: str
    parts: tuple[Part, ...]
    author: Author = Author.PERSON


class Queued(Event, frozen=True, tag="queued"):
    """The person said this while something was being done: it is to be sent once that has ended. It waits until a
    `spoken` or `unqueued` event has its id. `beside`: pictures that go with it."""

    id: str
    text: str
    beside: tuple[Part, ...] = ()


class Unqueued(Event, frozen=True, tag="unqueued"):
    """What waited under this id doesn't any more: it was a command and is about to run, or the person took it back."""

    id: str


class ModelAsked(Event, frozen=True, tag="model_asked"):
    """A model is about to be asked; `id` names its answer, `model` is `provider/model`. `turns` of the history it gets;
    `prefix` is a digest of the request's stable head, so that a lost cache can be explained. `why`: a word on what the
    request is for where it is no step of the conversation (a summary, a title); its answer is then no turn."""

    id: str
    model: str
    tier: str = ""
    step: str = ""
    turns: int = 0
    prefix: str = ""
    why: str = ""


class PartCame(Event, frozen=True, tag="part_came"):
    """A part of the answer `ask`. The answer's end, which is synced, makes it durable too."""

    sync: ClassVar[bool] = False
    ask: str
    part: Thinking | Text | Call


class ModelAnswered(Event, frozen=True, tag="model_answered"):
    """The answer `ask` is over: `stop` says why (`providers.base.Stop`). `tokens` by kind (prompt, cached, thinking,
    output), `cost_usd` where it is known. `raw` is the blob of what the server sent, `error` what went wrong, `mended`
    what had to be put right in what the model wrote."""

    ask: str
    stop: str
    seconds: float = 0.0
    tokens: dict[str, int] = msgspec.field(default_factory=dict)
    cost_usd: float = 0.0
    raw: str = ""
    error: str = ""
    mended: tuple[str, ...] = ()


class CallBegun(Event, frozen=True, tag="call_begun"):
    """The call `id` is about to be done: on the disk before anything of it happens. `permitted` says by what: a mode, a
    rule, an answer."""

    id: str
    effect: str
    subject: str = ""
    permitted: str = ""


class CallEnded(Event, frozen=True, tag="call_ended"):
    """What became of the call `id`, begun or not. `output` is the blob of all that was printed, where the result has
    only a part of it."""

    id: str
    result: Result
    seconds: float = 0.0
    output: str = ""


class Compacted(Event, frozen=True, tag="compacted"):
    """From now on the turns from `first` to `last`, by their ids, are sent as `summary`."""

    id: str
    first: str
    last: str
    summary: str


class Rewound(Event, frozen=True, tag="rewound"):
    """The turn `to` and all after it are no longer part of the conversation. They stay in the session."""

    to: str


class Todo(msgspec.Struct, frozen=True):
    """`state` is `open`, `doing` or `done`."""

    text: str
    state: str = "open"


class TodosSet(Event, frozen=True, tag="todos_set"):
    todos: tuple[Todo, ...]


class Chosen(Event, frozen=True, tag="chosen"):
    """A setting that holds from now on: `what` is `model`, `effort`, `mode`; `head`, whose value is the blob of the
    system message; or `unseen`, the name of a model whose server takes no pictures."""

    what: str
    value: str


class AgentBegun(Event, frozen=True, tag="agent_begun"):
    """The call `call` has the subagent `id` work, of the kind `name` (empty: of none). What it says and does are the
    `within` events of that id. A subagent that is gone on with begins again under its own id."""

    id: str
    call: str
    name: str = ""
    task: str = ""
    model: str = ""


class HookBegun(Event, frozen=True, tag="hook_begun"):
    """A hook's command is about to run, at the moment `on`; `source` is the file that names it."""

    id: str
    on: str
    command: str
    source: str = ""


class HookEnded(Event, frozen=True, tag="hook_ended"):
    """How the hook `id` ended. `output` is the beginning of what it printed, `blocked` whether it held something up."""

    id: str
    end: str
    code: int
    seconds: float = 0.0
    output: str = ""
    blocked: bool = False


KNOWN = (
    Spoken
    | ModelAsked
    | PartCame
    | ModelAnswered
    | CallBegun
    | CallEnded
    | Compacted
    | Rewound
    | TodosSet
    | Queued
    | Unqueued
    | Chosen
    | AgentBegun
    | HookBegun
    | HookEnded
)
