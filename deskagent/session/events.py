"""What a session is made of: typed events, each a tagged struct (field `type` in the file).

Fields may be added, with defaults; a field's meaning, type and default never change (docs/session-format.md).
`sync` says whether an event must be on the disk before `Journal.append` returns: intents before a side
effect, results after it, and whatever a person would miss. Times are Unix seconds, durations seconds,
costs US dollars.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from deskagent.session import talk
from deskagent.session.event import Event


class SessionStarted(Event, frozen=True, tag="session_started"):
    """First event of a session, and again each time a later process goes on with it (`resumed`).

    `forked` is the id of the session from which all before this event was taken over, else "".
    """

    version: str
    cwd: str
    argv: tuple[str, ...] = ()
    mode: str = ""
    resumed: bool = False
    forked: str = ""


class Imported(Event, frozen=True, tag="imported"):
    """The session was another agent's, which `source` names; `key` is its own id of it."""

    source: str
    key: str


class Request(Event, frozen=True, tag="request"):
    """What the person asked for, with the options that held."""

    text: str
    options: dict[str, Any] = msgspec.field(default_factory=dict)


class StateChanged(Event, frozen=True, tag="state_changed"):
    """A transition of the loop. In the file the fields are named `from` and `to`."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    why: str = ""


class StepStarted(Event, frozen=True, tag="step_started"):
    """A step of the loop begins; `step` is its type, `tier` the effort it gets."""

    sync: ClassVar[bool] = False
    id: str
    step: str
    tier: str
    state: str = ""


class StepEnded(Event, frozen=True, tag="step_ended"):
    """What a step cost. `tokens` by kind (prompt, cached, thinking, output)."""

    id: str
    seconds: float
    tokens: dict[str, int] = msgspec.field(default_factory=dict)
    candidates: int = 0
    cost_usd: float = 0.0
    note: str = ""


class CommandIntent(Event, frozen=True, tag="command_intent"):
    """A command is about to run, confined by `rung`."""

    id: str
    argv: tuple[str, ...]
    cwd: str
    rung: str = ""
    purpose: str = ""


class CommandResult(Event, frozen=True, tag="command_result"):
    """How the command of the intent `id` ended. `total` bytes were printed, `head` and `tail` are their two
    ends; `output` names the blob that holds all of it, or is empty."""

    id: str
    end: str
    code: int
    seconds: float
    total: int = 0
    head: str = ""
    tail: str = ""
    output: str = ""


class TestFailure(msgspec.Struct, frozen=True):
    """One failing test: its id, how it ended, the message as the runner prints it."""

    __test__: ClassVar[bool] = False
    id: str
    outcome: str = "failed"
    message: str = ""


class TestsObserved(Event, frozen=True, tag="tests_observed"):
    """What a test run showed; `stage` says when (`observe`, `verify`, …), `green` whether the command was
    content, `patch` the key of the candidate that was in the tree (empty: none), `left` the tests that are all that
    keeps the command from being content, where they failed before too and the request doesn't name them."""

    __test__: ClassVar[bool] = False
    runner: str
    command: str
    failing: int
    passing: int
    failures: tuple[TestFailure, ...] = ()
    seconds: float = 0.0
    stage: str = ""
    green: bool | None = None
    patch: str = ""
    left: tuple[str, ...] = ()


class Place(msgspec.Struct, frozen=True):
    """A suspicious line: project-relative path, 1-based line, score in (0, 1], reasons in words."""

    path: str
    line: int
    score: float
    reasons: tuple[str, ...] = ()


class SuspectsFound(Event, frozen=True, tag="suspects_found"):
    """The suspicious places, the most suspicious first."""

    sync: ClassVar[bool] = False
    suspects: tuple[Place, ...]


class Trial(msgspec.Struct, frozen=True):
    """A candidate that was tried and what came of it; `key` is equal for equal resulting code."""

    key: str
    operator: str
    path: str
    line: int
    note: str
    status: str
    stage: str = ""
    seconds: float = 0.0


class CandidatesTried(Event, frozen=True, tag="candidates_tried"):
    """A batch of trials, in the order they ended. Not synced: trying again is cheaper than a sync."""

    sync: ClassVar[bool] = False
    trials: tuple[Trial, ...]


class FileChange(msgspec.Struct, frozen=True):
    """A file that a patch changes: SHA-256 of its blobs before and after (None: it doesn't exist), and its
    mode bits."""

    path: str
    before: str | None
    after: str | None
    mode: int = 0o644


class TextEdit(msgspec.Struct, frozen=True):
    """Bytes [start, end) of a file's text in UTF-8 become `new`."""

    path: str
    start: int
    end: int
    new: str


class PatchFound(Event, frozen=True, tag="patch_found"):
    """A candidate that passes, as a unified diff, as edits, and as files; `number` counts candidates in the
    order of trying."""

    key: str
    diff: str
    operator: str = ""
    path: str = ""
    line: int = 0
    note: str = ""
    status: str = "green"
    number: int = 0
    prior: float = 0.0
    edits: tuple[TextEdit, ...] = ()
    files: tuple[FileChange, ...] = ()


class TreeRecorded(Event, frozen=True, tag="tree_recorded"):
    """The project as a run found it, in a form that it can be built from again (docs/session-format.md).

    `digest` is equal for equal trees (paths, modes, contents); `manifest` and `contents` are blobs; `commit`
    is git's HEAD, which holds what `contents` lacks; of `files`, `missing` are in neither.
    """

    digest: str
    manifest: str
    contents: str = ""
    commit: str = ""
    files: int = 0
    missing: int = 0


class ApplyIntent(Event, frozen=True, tag="apply_intent"):
    """Files are about to be changed; the blobs named are on the disk already. `purpose` is `apply`, `undo`, or
    `reject` where the person took back a part of a change in review; an undo takes back the steps that `undoes` names
    by their intents' ids."""

    id: str
    files: tuple[FileChange, ...]
    purpose: str = "apply"
    undoes: tuple[str, ...] = ()


class ApplyResult(Event, frozen=True, tag="apply_result"):
    """Whether the changes of the intent `id` were made; if not, the files are as before, but for those in
    `left`: found as neither after an interruption, and left alone."""

    id: str
    ok: bool
    detail: str = ""
    left: tuple[str, ...] = ()


class Kept(Event, frozen=True, tag="kept"):
    """The person reviewed a hunk of what the session changed in the file `path` and keeps it; `hunk` is its digest
    (`agent.reviewing`). `kept` is False where that is taken back."""

    path: str
    hunk: str
    kept: bool = True


class Notice(Event, frozen=True, tag="notice"):
    """Something a person should know. `level` is `info`, `warning` or `error`."""

    level: str
    text: str


class SessionEnded(Event, frozen=True, tag="session_ended"):
    """The last event of a run: its status, the process's exit code, the result as printed."""

    status: str
    exit_code: int
    result: dict[str, Any] = msgspec.field(default_factory=dict)


OF_CONVERSATIONS = StateChanged | talk.KNOWN
"""What makes a conversation, the session's own or a subagent's."""


class Within(Event, frozen=True, tag="within"):
    """An event of the conversation of the subagent `agent`. What its calls change is on record beside it."""

    agent: str
    event: OF_CONVERSATIONS


KNOWN = (
    SessionStarted
    | Imported
    | Request
    | StateChanged
    | StepStarted
    | StepEnded
    | CommandIntent
    | CommandResult
    | TestsObserved
    | SuspectsFound
    | CandidatesTried
    | PatchFound
    | TreeRecorded
    | ApplyIntent
    | ApplyResult
    | Kept
    | Notice
    | SessionEnded
    | Within
    | talk.KNOWN
)
"""All that a session may hold."""
