"""One request to a model: put on record, streamed to who watches, and kept part by part however it ends."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Sequence, Set
from contextlib import aclosing
from dataclasses import dataclass, replace

import msgspec

from deskagent.agent.budget import StepType, Tier
from deskagent.agent.converse.stuck import loops
from deskagent.agent.front import Streamed
from deskagent.agent.recorder import Recorder
from deskagent.messages import Call, Text, Thinking
from deskagent.providers.base import Ask, Provider, ProviderError, Stop, ThinkingDelta, Usage
from deskagent.providers.gather import Gather
from deskagent.session import talk

_LOOK = 512
"""Letters of thinking after which it is looked at anew whether it goes round."""


@dataclass(frozen=True, slots=True)
class Came:
    """How an answer ended, and what it took and cost. text, calls: in it. empty: nothing came. error: where it broke.
    thinking_loops: it was ended since its thinking went round."""

    stop: Stop
    usage: Usage
    text: str
    calls: tuple[Call, ...]
    empty: bool
    error: ProviderError | None = None
    thinking_loops: bool = False


async def ask(
    recorder: Recorder,
    provider: Provider,
    request: Ask,
    *,
    tier: Tier,
    step: StepType,
    known: Set[str] = frozenset(),
    why: str = "",
) -> Came:
    """Asks, and gives what came of it. Cancelled, it keeps what came and raises on. known: ids of calls that the
    session has already. why: see talk.ModelAsked.

    Errors: TransientError where the session can't be saved: then nothing was asked, or what came is lost and said so.
    """
    id = recorder.new_id("answer")
    recorder.emit(
        talk.ModelAsked(
            id=id,
            model=provider.name,
            tier=str(tier),
            step=str(step),
            turns=len(request.turns),
            prefix=prefix_of(request),
            why=why,
        )
    )
    gather, began = Gather(), time.monotonic()
    error: ProviderError | None = None
    thought, looked, rounds = "", 0, False
    try:
        async with aclosing(provider.stream(request)) as deltas:
            async for delta in deltas:
                gather.take(delta)
                recorder.pass_on(Streamed(id, delta))
                if isinstance(delta, ThinkingDelta):
                    thought += delta.text
                    if len(thought) - looked > _LOOK:
                        looked = len(thought)
                        if rounds := loops(thought):
                            break
    except ProviderError as failed:
        error = failed
    finally:
        parts, mended = with_own_ids(gather.parts(), known)
        for part in parts:
            recorder.emit(talk.PartCame(ask=id, part=part))
        recorder.emit(
            talk.ModelAnswered(
                ask=id,
                stop=str(gather.stop),
                seconds=time.monotonic() - began,
                tokens=tokens_of(gather.usage),
                cost_usd=provider.capabilities.price.of(gather.usage),
                raw=recorder.journal.blobs.put(gather.raw) if gather.raw else "",
                error=error.message if error else "",
                mended=mended,
            )
        )
    calls = tuple(part for part in parts if isinstance(part, Call))
    text = "".join(part.text for part in parts if isinstance(part, Text))
    usage = replace(gather.usage, cost=provider.capabilities.price.of(gather.usage))
    return Came(gather.stop, usage, text, calls, not parts, error, rounds)


def with_own_ids(
    parts: Sequence[Thinking | Text | Call], known: Set[str]
) -> tuple[tuple[Thinking | Text | Call, ...], tuple[str, ...]]:
    """The parts with calls' ids that the session doesn't have yet, and what was put right for that: some servers
    count anew in every answer."""
    taken, made, mended = set(known), [], []
    for part in parts:
        if isinstance(part, Call) and part.id in taken:
            number = next(n for n in itertools.count(2) if f"{part.id}-{n}" not in taken)
            mended.append(f"the id {part.id} of a call was there before")
            part = msgspec.structs.replace(part, id=f"{part.id}-{number}")
        if isinstance(part, Call):
            taken.add(part.id)
        made.append(part)
    return tuple(made), tuple(mended)


def tokens_of(usage: Usage) -> dict[str, int]:
    return {
        "prompt": usage.prompt,
        "cached": usage.cached,
        "thinking": usage.thinking,
        "output": usage.output,
    }


def prefix_of(request: Ask) -> str:
    """A digest of what has to stay the same from ask to ask: system and tools."""
    head = msgspec.json.encode(
        [request.system, [[t.name, t.description, dict(t.parameters)] for t in request.tools]]
    )
    return hashlib.sha256(head).hexdigest()[:16]
