"""Has a subagent do a piece of work in a conversation of its own, and gives what it says at the end."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field

from deskagent.messages import Result
from deskagent.tools.base import Arguments, Context, Effect, Tool, Wish


class AgentArguments(Arguments):
    description: str = Field(min_length=1, max_length=200, description="three to eight words for the person")
    task: str = Field(
        min_length=1, description="all that it needs to know: it sees nothing of this conversation"
    )
    kind: str = Field("", description="one of the kinds that you were told of; empty for a general one")
    resume: str = Field("", description="the id of an earlier subagent, which then goes on with this task")


class Agent(Tool[AgentArguments]):
    name = "agent"
    prompt = (
        "Has a subagent do a task on its own: it has a context of its own, the same tools and no wider rights than "
        "you, and its last message is your result. For searches that read much, or parts of a job that don't need each "
        "other: several calls in one answer work at the same time. It can't start subagents itself. Say what it should "
        "report."
    )
    arguments = AgentArguments
    beside = True

    def __init__(self, work: Callable[[AgentArguments, Context], Result]) -> None:
        self._work = work

    def wish(self, arguments: AgentArguments, context: Context) -> Wish:
        return Wish(Effect.NONE, arguments.description, f"agent:{arguments.kind}:{arguments.description}")

    def run(self, arguments: AgentArguments, context: Context) -> Result:
        return self._work(arguments, context)
