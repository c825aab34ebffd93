"""What is to be done: the todos as they stand, and the plan that was proposed last."""

from __future__ import annotations

import json
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static

from deskagent.agent.front import Passing
from deskagent.messages import Call
from deskagent.session import talk
from deskagent.session.event import Event
from deskagent.session.talk import Todo
from ui.log.inert import inert
from ui.panes.base import Session
from ui.widgets.markdown import parser

_NONE = """Nothing is planned.

For work of several steps the agent keeps a list here; a plan that it proposes in plan mode stands below it."""
_MARKS = {"done": ("✓", "$text-success"), "doing": ("▸", "$text-warning"), "open": ("○", "$text-muted")}


class PlanReader:
    """todos: as they were set last. plan: the text of the last one that was proposed, "" for none."""

    def __init__(self) -> None:
        self.todos: tuple[Todo, ...] = ()
        self.plan = ""

    def take(self, event: Event | Passing) -> None:
        match event:
            case talk.TodosSet(todos=todos):
                self.todos = todos
            case talk.PartCame(part=Call(name="plan", arguments=arguments)):
                try:
                    found = json.loads(arguments)
                    self.plan = str(found["plan"])
                except (ValueError, KeyError, TypeError):
                    return  # a call that was refused for it


class PlanPane(VerticalScroll, can_focus=True):
    """Shows what its reader knows."""

    DEFAULT_CSS = """
    PlanPane {
        padding: 0 1; scrollbar-size-vertical: 1;
        & > Static { height: auto; }
        & > #plan-none { padding: 1; color: $text-muted; }
        & > #plan-count { color: $text-muted; }
        & > Markdown { margin: 1 0 0 0; padding: 0; background: $background; border-top: solid $panel; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
    ]

    def __init__(self, reader: PlanReader, session: Session | None = None) -> None:
        super().__init__()
        self.reader = reader
        self._shown: tuple[tuple[Todo, ...], str] | None = None

    def compose(self) -> ComposeResult:
        yield Static(Content(_NONE), id="plan-none")
        yield Static(id="plan-count")
        yield Static(id="plan-todos")
        yield Markdown(parser_factory=parser, open_links=False)

    async def on_mount(self) -> None:
        self.fresh()

    def fresh(self) -> None:
        todos, plan = self.reader.todos, self.reader.plan
        if not self.children or self._shown == (todos, plan):
            return
        before, self._shown = self._shown, (todos, plan)
        self.query_one("#plan-none").display = not (todos or plan)
        done = sum(todo.state == "done" for todo in todos)
        counted, listed = self.query_one("#plan-count", Static), self.query_one("#plan-todos", Static)
        counted.display = listed.display = bool(todos)
        counted.update(Content(f"{done} of {len(todos)} done"))
        listed.update(Content("\n").join(map(_line, todos)))
        words = self.query_one(Markdown)
        words.display = bool(plan)
        if before is None or before[1] != plan:
            words.update(inert(plan))


def _line(todo: Todo) -> Content:
    mark, look = _MARKS.get(todo.state, _MARKS["open"])
    text = inert(todo.text, newlines=False)
    style = {"done": "$text-muted", "doing": "bold"}.get(todo.state, "")
    return Content.assemble((mark, look), " ", (text, style))
