"""What a tool is: a name, words for the model, typed arguments, what a call would do, and the doing.

`wish` says what a call would do without doing any of it; the agent's gate decides, asks a person where it must, and
only then is `run` called. A tool has no way around that: whatever has an effect is in its Context.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from deskagent.messages import Result
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import Policy
from deskagent.tools.jobs import Jobs


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown ones are refused, so that a model learns of a slip."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)


class Effect(StrEnum):
    """What a call touches. READ: the project, nothing changes. WRITE: files of the project. RUN: a command in the
    sandbox. NETWORK: a host. OUTSIDE: what the sandbox doesn't hold. NONE: the session itself (todos, questions)."""

    READ = "read"
    WRITE = "write"
    RUN = "run"
    NETWORK = "network"
    OUTSIDE = "outside"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a call would do. subject: shown whole to who is asked: the command, the diff. key: what would really happen
    (command, arguments, folder, environment), so that an approval holds for the same alone. commands: a shell line's
    simple commands, all of which rules have to allow. paths: project-relative files that it reads or changes. host: it
    talks to."""

    effect: Effect
    subject: str
    key: str
    commands: tuple[tuple[str, ...], ...] = ()
    paths: tuple[str, ...] = ()
    host: str = ""


Changes = Mapping[str, tuple[bytes | None, bytes | None]]
"""Project-relative path → contents before and after; None where there is no file."""


@dataclass(frozen=True)
class Context:
    """What a tool may work with.

    project: the folder, resolved. call: the call's id. sandbox, policy, env: how commands are confined, and what they
    find in their environment. seen: SHA-256 of
    each file's contents as the model last read or wrote it, by project-relative path; tools keep it. change: writes
    files, on record and so that it can be undone; errors as `repo.apply`. keep: saves bytes with the session and gives
    their name. say: output as it comes, for who watches. cancel: set when the call is to end. ask: puts a question with
    choices to the person; "" where nobody answers. plan: sets the todos, each a text and its state.
    jobs: the conversation's commands in the background. seen_at: where commands see the project, None where it is.
    diagnose: new problems after changes that were made, in words.
    """

    project: Path
    call: str
    sandbox: Sandbox
    policy: Policy
    env: Mapping[str, str]
    seen: dict[str, str]
    change: Callable[[Changes], str]
    keep: Callable[[bytes], str]
    say: Callable[[str], None] = lambda text: None
    cancel: threading.Event = field(default_factory=threading.Event)
    ask: Callable[[str, tuple[str, ...]], str] = lambda question, choices: ""
    plan: Callable[[list[tuple[str, str]]], None] = lambda todos: None
    jobs: Jobs = field(default_factory=Jobs)
    seen_at: Path | None = None
    diagnose: Callable[[Changes, Context], str] = lambda changes, context: ""

    def changed(self, changes: Changes) -> str:
        """Writes files by `change`, and tells beside its note what is wrong now that wasn't before."""
        note = self.change(changes)
        return "\n".join(filter(None, [note, self.diagnose(changes, self)]))

    @property
    def folder(self) -> Path:
        """The folder that commands run in."""
        return self.seen_at or self.project


class Tool(Generic[A]):
    """name: as models call it. prompt: what they are told of it. arguments: their type; field descriptions are told
    too. looks: its calls change nothing anywhere, so several may run at once. beside: so may several of this one,
    though they may change something."""

    name: ClassVar[str]
    prompt: ClassVar[str]
    arguments: ClassVar[type[Arguments]]
    looks: ClassVar[bool] = False
    beside: ClassVar[bool] = False

    def wish(self, arguments: A, context: Context) -> Wish:
        """What the call would do. Errors: ToolError for arguments that lead nowhere: no such file, say."""
        raise NotImplementedError

    def run(self, arguments: A, context: Context) -> Result:
        """Does it, on a thread of its own. Errors: ToolError, and DeskagentErrors of what it uses; both are told to
        the model as a failed result."""
        raise NotImplementedError


class ToolError(Exception):
    """What the model did wrong or found wrong, in words that let it do better."""
