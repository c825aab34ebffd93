"""What the person asked for, as plain data: the command line, what of it is kept, what the workflow needs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from deskagent.agent.permissions import Mode
from deskagent.errors import UsageError
from deskagent.repair.budget import Limits
from deskagent.session import events

_NOT_KEPT = ("env", "argv", "session", "fork", "given")
_LIMITS = {"effort", "max_seconds", "max_candidates"}


@dataclass(frozen=True)
class FixRequest:
    """`project` is the root of the work tree, `start` the folder the command was given in; limits are None
    where the tier decides; `since` is a revision or "auto": the tests were green there; `model` is
    "auto", "none", the name of one of the person's models or a checkpoint's folder; `race` is a number of plans, or
    names of models with commas between; `max_turns` and `max_usd` hold for all models together."""

    text: str
    project: Path
    start: Path
    env: Mapping[str, str]
    test: str | None = None
    effort: str = "auto"
    max_seconds: float | None = None
    max_candidates: int | None = None
    files: tuple[str, ...] = ()
    since: str | None = None
    model: str = "none"
    race: str = ""
    max_turns: int | None = None
    max_usd: float | None = None

    @property
    def limits(self) -> Limits:
        """What the whole run may use."""
        return Limits(
            candidates=math.inf if self.max_candidates is None else self.max_candidates,
            seconds=math.inf if self.max_seconds is None else self.max_seconds,
        )


@dataclass(frozen=True)
class FixOptions:
    """The command line of `fix`. `session` names the session to go on with ("" the latest of this folder, None a
    new one), `fork` says that a new session takes over from it; `given` are the fields that the person set: the
    others are then as in that session."""

    request: str
    start: Path
    env: Mapping[str, str]
    argv: tuple[str, ...]
    test: str | None
    effort: str
    max_seconds: float | None
    max_candidates: int | None
    files: tuple[str, ...]
    apply: bool
    mode: Mode
    since: str | None = None
    model: str = "none"
    race: str = ""
    max_turns: int | None = None
    max_usd: float | None = None
    session: str | None = None
    fork: bool = False
    given: frozenset[str] = frozenset()

    @property
    def new_limits(self) -> bool:
        """Whether the person set a limit anew, so that what was spent before doesn't count."""
        return bool(self.given & _LIMITS)

    def as_dict(self) -> dict[str, Any]:
        """What the journal keeps: everything but the environment and how the session was found."""
        kept = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _NOT_KEPT}
        return kept | {"start": str(self.start), "mode": str(self.mode)}

    def going_on(self, before: events.Request) -> FixOptions:
        """These options with what the person didn't set as it was in `before`. UsageError if that can't be read."""
        own = self.as_dict()
        told = {name: own[name] for name in self.given}
        # The test command is looked up from the folder it was given in.
        told |= {"start": own["start"]} if "test" in self.given else {}
        try:
            kept = msgspec.convert({**own, **before.options, **told}, _Kept)
        except msgspec.ValidationError as error:
            raise UsageError(
                f"The options of this session can't be read: {error}.", hint="Start a new one."
            ) from None
        return dataclasses.replace(self, **{**msgspec.structs.asdict(kept), "start": Path(kept.start)})

    def as_request(self, project: Path) -> FixRequest:
        """What the workflow needs."""
        return FixRequest(
            text=self.request,
            project=project,
            start=self.start.resolve(),
            env=self.env,
            test=self.test,
            effort=self.effort,
            max_seconds=self.max_seconds,
            max_candidates=self.max_candidates,
            files=self.files,
            since=self.since,
            model=self.model,
            race=self.race,
            max_turns=self.max_turns,
            max_usd=self.max_usd,
        )


class _Kept(msgspec.Struct):
    request: str
    start: str
    test: str | None
    effort: str
    max_seconds: float | None
    max_candidates: int | None
    files: tuple[str, ...]
    apply: bool
    mode: Mode
    since: str | None
    model: str = "none"
    race: str = ""
    max_turns: int | None = None
    max_usd: float | None = None
