"""Shows the person a finished plan, and asks whether to begin with it."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field

from deskagent.messages import Result
from deskagent.tools.base import Arguments, Context, Effect, Tool, Wish


class PlanArguments(Arguments):
    plan: str = Field(
        min_length=1, max_length=40_000, description="the whole plan, in Markdown, for the person to read"
    )


class Plan(Tool[PlanArguments]):
    name = "plan"
    prompt = (
        "In plan mode alone: shows the person your finished plan and asks whether to begin. When they approve, the "
        "mode changes and you may make changes; when not, they say what they want different. Not for questions."
    )
    arguments = PlanArguments

    def __init__(self, propose: Callable[[str], Result]) -> None:
        self._propose = propose

    def wish(self, arguments: PlanArguments, context: Context) -> Wish:
        return Wish(Effect.NONE, "plan", "plan")

    def run(self, arguments: PlanArguments, context: Context) -> Result:
        return self._propose(arguments.plan)
