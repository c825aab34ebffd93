"""Does the calls of an answer: each is looked at, permitted, put on record, run, and gets its result.

A call's intent is on the disk before anything of it happens, so that after a crash nobody takes it for undone.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from deskagent.agent.converse.secret import without_secrets
from deskagent.agent.recorder import Recorder
from deskagent.errors import DeskagentError, TransientError
from deskagent.messages import Call, Outcome, Result
from deskagent.session import talk
from deskagent.tools.base import Arguments, Context, Effect, Tool, ToolError, Wish

W = TypeVar("W")
_PATIENCE = 10.0
"""Seconds that a tool has to end after it was told to."""


class Verdict(StrEnum):
    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Decision:
    """by: the mode, rule or answer that decided. why: for the model, where it was denied."""

    verdict: Verdict
    by: str
    why: str = ""


class Gatekeeper(Protocol):
    """Decides about calls, and asks the person where that is the rule. It may block."""

    def decide(self, tool: str, wish: Wish) -> Decision: ...


class Watch(Protocol):
    """Looks on at calls: hooks, and instructions that hold where a call went. Its methods may block."""

    def before(self, call: Call, context: Context) -> str:
        """Why the call is not to be done; "" where it may."""
        ...

    def after(self, call: Call, wish: Wish, result: Result, context: Context) -> Result:
        """The result, with what there is to be told beside it."""
        ...


class Unwatched:
    """A Watch that has nothing to say."""

    def before(self, call: Call, context: Context) -> str:
        return ""

    def after(self, call: Call, wish: Wish, result: Result, context: Context) -> Result:
        return result


@dataclass(frozen=True)
class Hands:
    """What calls are done with. context: of a call, by its id."""

    recorder: Recorder
    tools: Mapping[str, Tool[Any]]
    gate: Gatekeeper
    context: Callable[[str], Context]
    watch: Watch = field(default_factory=Unwatched)

    async def act(self, calls: Sequence[Call]) -> None:
        """Does all of them: neighbours that may be side by side so, the rest one after the other. When this is
        cancelled, what runs is told to end and gets its result; what hadn't begun gets none.

        Errors: TransientError where the session can't be saved: then nothing more is done.
        """
        beside: list[Call] = []
        for call in calls:
            if self._may_be_beside(call):
                beside.append(call)
                continue
            await self._together(beside)
            beside = []
            await self._one(call)
        await self._together(beside)

    def _may_be_beside(self, call: Call) -> bool:
        tool = self.tools.get(call.name)
        return tool is not None and (tool.looks or tool.beside)

    async def _together(self, calls: Sequence[Call]) -> None:
        for ended in await asyncio.gather(*map(self._one, calls), return_exceptions=True):
            if ended is not None:
                raise ended

    async def _one(self, call: Call) -> None:
        began = time.monotonic()
        result = without_secrets(await self._done(call))
        self.recorder.emit(talk.CallEnded(id=call.id, result=result, seconds=time.monotonic() - began))

    async def _done(self, call: Call) -> Result:
        tool = self.tools.get(call.name)
        if tool is None:
            return _failed(_no_tool(call.name, self.tools))
        try:
            arguments = read_arguments(tool, call.arguments)
        except ToolError as error:
            return _failed(str(error))
        context = self.context(call.id)
        try:
            wish = await asyncio.to_thread(tool.wish, arguments, context)
            if held := await self._watched(context, self.watch.before, call, context):
                return Result.of(held, Outcome.REFUSED)
            decision, context = await self._decided(tool.name, wish, context)
        except (ToolError, DeskagentError) as error:
            return _failed(str(error))
        if decision.verdict is Verdict.DENY:
            return Result.of(decision.why or f"Not permitted ({decision.by}).", Outcome.REFUSED)
        if wish.effect not in (Effect.READ, Effect.NONE):
            self.recorder.emit(
                talk.CallBegun(
                    id=call.id, effect=str(wish.effect), subject=wish.subject, permitted=decision.by
                )
            )
        result = await self._run(tool, arguments, context)
        try:
            return await self._watched(context, self.watch.after, call, wish, result, context)
        except asyncio.CancelledError:
            self.recorder.emit(talk.CallEnded(id=call.id, result=result))
            raise

    async def _decided(self, tool: str, wish: Wish, context: Context) -> tuple[Decision, Context]:
        """The gate's decision, and the context that it is about: the person may change the mode at any moment."""
        while True:
            decision = await asyncio.to_thread(self.gate.decide, tool, wish)
            now = replace(self.context(context.call), cancel=context.cancel)
            if (now.sandbox.rung, now.policy) == (context.sandbox.rung, context.policy):
                return decision, context
            context = now

    async def _watched(self, context: Context, look: Callable[..., W], *told: Any) -> W:
        """What a Watch says; told to end where the call is."""
        try:
            return await asyncio.to_thread(look, *told)
        except asyncio.CancelledError:
            context.cancel.set()
            raise

    async def _run(self, tool: Tool[Any], arguments: Arguments, context: Context) -> Result:
        running = asyncio.ensure_future(asyncio.to_thread(_guarded, tool, arguments, context))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            context.cancel.set()
            told = _cancelled(tool, None)
            with contextlib.suppress(TimeoutError):
                told = _cancelled(tool, await asyncio.wait_for(asyncio.shield(running), _PATIENCE))
            self.recorder.emit(talk.CallEnded(id=context.call, result=told))
            raise


def read_arguments(tool: Tool[Any], text: str) -> Arguments:
    """What a model wrote, as the tool's type. Errors: ToolError, in words that let the model do better."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolError(f"The arguments of {tool.name} are no JSON: {error}. Nothing was done.") from None
    if not isinstance(found, dict):
        raise ToolError(f"The arguments of {tool.name} have to be a JSON object. Nothing was done.")
    try:
        return tool.arguments.model_validate(found)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in error.errors()
        )
        raise ToolError(f"The arguments of {tool.name} don't fit: {wrong}. Nothing was done.") from None


def _guarded(tool: Tool[Any], arguments: Arguments, context: Context) -> Result:
    """A tool's run, whose failures are results. A session that can't be saved is none of them."""
    try:
        return without_secrets(tool.run(arguments, context))
    except TransientError as error:
        return _failed(f"{error} It may succeed later.")
    except (ToolError, DeskagentError) as error:
        return _failed(str(error))
    except Exception as error:  # a fault in the tool ends the call, not the session
        return _failed(f"{tool.name} broke: {type(error).__name__}: {error}. What it did before that holds.")


def _cancelled(tool: Tool[Any], result: Result | None) -> Result:
    if result is None:
        return Result.of(
            f"{tool.name} was told to end, and didn't: what it does is not known.", Outcome.UNKNOWN
        )
    return result if result.outcome is Outcome.DONE else Result(Outcome.CANCELLED, result.content)


def _failed(text: str) -> Result:
    return Result.of(text, Outcome.FAILED)


def _no_tool(name: str, tools: Mapping[str, Tool[Any]]) -> str:
    near = difflib.get_close_matches(name, tools, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no tool {name!r}.{hint} There are: {', '.join(tools)}. Nothing was done."
