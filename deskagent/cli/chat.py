"""`deskagent chat`: a conversation in a plain terminal, line by line."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deskagent.cli.run import options_of, talk_options
from deskagent.errors import DeskagentError, UsageError

if TYPE_CHECKING:
    from deskagent.agent.converse.talk import Talk
    from deskagent.agent.given.found import Given
    from deskagent.cli.transcript import Transcript

_PROMPT = "\n> "
_GREETING = "deskagent · {model} · {mode} mode · {project}\nEnter sends, Ctrl-C interrupts, Ctrl-D leaves, /help helps."


@click.command(context_settings={"max_content_width": 100})
@talk_options
def chat(**given: Any) -> int:
    """Talk with a model that works in this folder by tools.

    What you type goes to the model; lines that begin with / are commands, with ! shell lines that run here and whose
    output the model sees. A line that ends in a backslash goes on in the next. Commands of your own are
    files, NAME.md, in .agents/commands of a trusted project, and in `commands` beside your settings.
    """
    from deskagent.agent.converse.work import at_work
    from deskagent.cli.transcript import for_terminal
    from deskagent.session import events

    if not sys.stdin.isatty():
        raise UsageError("chat needs a terminal.", hint='For a script: deskagent run "…"')
    front = for_terminal(interactive=True)
    with at_work(options_of(given), front) as talk:
        mode, project = talk.history.chosen.get("mode", ""), talk.hands.context("").project
        print(_GREETING.format(model=talk.provider.name, mode=mode, project=project))
        try:
            _lines(talk, front, _own(project))
        finally:
            talk.recorder.emit(events.SessionEnded(status="left", exit_code=0))
    print(f"To go on: deskagent chat -r {talk.recorder.journal.id}")
    return 0


def _own(project: Path) -> dict[str, Given]:
    """Commands of the person's and of a trusted project's."""
    from deskagent.agent.given.commands import commands
    from deskagent.agent.permissions import is_trusted
    from deskagent.cli.slash import COMMANDS
    from deskagent.terminal.text import printable

    return commands(
        project, trusted=is_trusted(project), warn=lambda text: print(printable(text)), taken=COMMANDS
    )


def _lines(talk: Talk, front: Transcript, own: Mapping[str, Given]) -> None:
    """Until the person leaves."""
    import readline

    from deskagent.agent.given.commands import expanded
    from deskagent.cli.shelled import shelled
    from deskagent.cli.slash import COMMANDS, Leave, command
    from deskagent.terminal.text import printable

    readline.set_completer_delims(" \t\n")
    names = [f"/{name}" for name in (*COMMANDS, *own)]
    readline.set_completer(lambda text, n: [*(x for x in names if text and x.startswith(text)), None][n])
    readline.parse_and_bind("tab: complete")
    while True:
        try:
            line = _line()
            name, _, words = line[1:].partition(" ")
            if line.startswith("/") and name in own:
                _turn(expanded(own[name], words.strip()), talk, front)
            elif line.startswith("/"):
                print(printable(command(line, talk)))
                for each in own.values() if name == "help" else ():
                    print(printable(f"/{each.name:<12}{each.says}", newlines=False))
            elif line.startswith("!"):
                talk.say(shelled(line[1:], talk))
            elif line.strip():
                _turn(line, talk, front)
        except (EOFError, Leave):
            return
        except KeyboardInterrupt:
            print("\nCtrl-D leaves.")
        except DeskagentError as error:
            from deskagent.cli.app import tell

            tell(error)


def _line() -> str:
    """What is typed, with lines that a backslash joins. Errors: EOFError, KeyboardInterrupt."""
    lines = [input(_PROMPT)]
    while lines[-1].endswith("\\"):
        lines[-1] = lines[-1][:-1]
        lines.append(input("… "))
    return "\n".join(lines)


def _turn(line: str, talk: Talk, front: Transcript) -> None:
    """Says a line, and lets the model work until it has nothing more to do, or is interrupted."""
    from deskagent.agent.converse.running import run
    from deskagent.agent.loop import State
    from deskagent.agent.signals import Stopped
    from deskagent.cli.pictures import shown
    from deskagent.cli.said import said
    from deskagent.session import events

    talk.recorder.emit(events.Request(text=line))
    talk.say(said(line, see=partial(shown, talk)))
    front.gone.clear()
    try:
        state = run(talk, on_stop=front.gone.set)
    except Stopped as stop:
        front.end()
        print("(interrupted; what you say next goes on from here)")
        if stop.exit_code != 130:
            raise
        return
    front.end()
    if state is not State.DONE:
        print(f"({talk.why})")
