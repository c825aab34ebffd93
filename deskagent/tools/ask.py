"""Asks the person something that only they can decide."""

from __future__ import annotations

from pydantic import Field

from deskagent.messages import Outcome, Result
from deskagent.tools.base import Arguments, Context, Effect, Tool, Wish


class AskArguments(Arguments):
    question: str = Field(min_length=1, max_length=2000)
    choices: tuple[str, ...] = Field(
        (), max_length=6, description="answers to choose from; others can be given too"
    )


class Ask(Tool[AskArguments]):
    name = "ask"
    prompt = (
        "Asks the person a question and waits for the answer. Only for what they alone can decide; find out the rest "
        "yourself."
    )
    arguments = AskArguments

    def wish(self, arguments: AskArguments, context: Context) -> Wish:
        return Wish(Effect.NONE, arguments.question, "ask")

    def run(self, arguments: AskArguments, context: Context) -> Result:
        answer = context.ask(arguments.question, arguments.choices)
        if answer:
            return Result.of(f"The person answers: {answer}")
        return Result.of(
            "Nobody is there to answer. Decide yourself, and say what you took for granted.", Outcome.FAILED
        )
