"""Keeps the list of what is to be done, for the model and the person to see."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from deskagent.messages import Result
from deskagent.tools.base import Arguments, Context, Effect, Tool, Wish


class State(StrEnum):
    OPEN = "open"
    DOING = "doing"
    DONE = "done"


class Item(Arguments):
    text: str = Field(min_length=1, max_length=300)
    state: State = State.OPEN


class TodoArguments(Arguments):
    todos: tuple[Item, ...] = Field(
        max_length=50, description="the whole list, which takes the place of the one before"
    )


class Todo(Tool[TodoArguments]):
    name = "todo"
    prompt = (
        "Sets the list of what is to be done. Use it for work of three steps or more; have one item `doing` at a time, "
        "and mark it `done` as soon as it was seen to work."
    )
    arguments = TodoArguments

    def wish(self, arguments: TodoArguments, context: Context) -> Wish:
        return Wish(Effect.NONE, "todos", "todo")

    def run(self, arguments: TodoArguments, context: Context) -> Result:
        context.plan([(item.text, str(item.state)) for item in arguments.todos])
        left = sum(item.state is not State.DONE for item in arguments.todos)
        return Result.of(f"The list is set: {len(arguments.todos)} items, {left} to be done.")
