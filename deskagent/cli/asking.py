"""A front that asks on the terminal, and shows nothing beside."""

from __future__ import annotations

from dataclasses import dataclass

import click

from deskagent.agent.front import Question
from deskagent.terminal.text import printable


@dataclass
class Asking:
    """`interactive` says whether there is a person to ask."""

    interactive: bool

    def ask(self, question: Question) -> bool:
        click.echo(printable(question.subject), err=True)
        return click.confirm(question.text, default=False, err=True)

    def show(self, event: object) -> None:
        return None
