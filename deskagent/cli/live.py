"""Fronts of the command line: a live view on a terminal, a JSON stream, or nothing but questions."""

from __future__ import annotations

import signal
import sys
from typing import Any

import msgspec

from deskagent.agent.front import Passing, Question, Tried, Trying
from deskagent.agent.signals import Stopped
from deskagent.errors import TransientError
from deskagent.messages import Call
from deskagent.session import events, talk
from deskagent.terminal.text import printable

_SHOWN_PLACES = 5
_STATES = {
    "observe": "running the tests",
    "plan": "looking for suspicious places",
    "act": "trying edits",
    "verify": "checking cold",
}


class Quiet:
    """Shows nothing, answers nothing: headless."""

    interactive = False

    def ask(self, question: Question) -> bool:
        return False

    def choose(self, question: Question, choices: tuple[str, ...]) -> str:
        return "no" if "no" in choices else ""

    def show(self, event: events.Event | Passing) -> None:
        return None

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class Stream(Quiet):
    """Every durable event as one line of JSON on stdout, as it happens. When its reader goes away, the run ends."""

    def __init__(self) -> None:
        self._encode = msgspec.json.Encoder(enc_hook=str).encode
        self._read = True

    def show(self, event: events.Event | Passing) -> None:
        if not self._read or not isinstance(event, events.Event):
            return
        try:
            write_json(event, self._encode)
        except OSError as error:
            self._read = False  # what cleans up has events, too
            if isinstance(error, BrokenPipeError):
                raise Stopped(signal.SIGPIPE) from None
            raise TransientError(
                f"The events can't be written: {error}.", hint="The session has them."
            ) from error


def write_json(value: Any, encode: Any = msgspec.json.encode) -> None:
    """One line of JSON on stdout, out at once."""
    sys.stdout.buffer.write(encode(value) + b"\n")
    sys.stdout.buffer.flush()


class Live(Quiet):
    """A view on stderr that is redrawn in place; gone when the run ends, so that stdout has the answer alone."""

    def __init__(self, *, interactive: bool) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self.interactive = interactive
        self._console = Console(stderr=True)
        self._step = "starting"
        self._tier = ""
        self._places: tuple[events.Place, ...] = ()
        self._trying = ""
        self._number = 0
        self._green = 0
        self._share = 0.0
        self._models: dict[str, tuple[str, str]] = {}
        self._live = RichLive(
            console=self._console, transient=True, refresh_per_second=8, get_renderable=self._view
        )

    def __enter__(self) -> Live:
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def ask(self, question: Question) -> bool:
        from rich.prompt import Confirm
        from rich.text import Text

        self._live.stop()
        try:
            self._console.print(Text(printable(question.subject)))
            return Confirm.ask(Text(question.text), console=self._console, default=False)
        except EOFError:
            return False
        finally:
            self._live.start()

    def show(self, event: events.Event | Passing) -> None:
        match event:
            case events.StepStarted():
                self._step, self._tier = _STATES.get(event.state, event.state), event.tier
            case events.SuspectsFound():
                self._places = event.suspects[:_SHOWN_PLACES]
            case Trying():
                where = f"{event.candidate.path}:{event.candidate.line}"
                self._trying = f"{where}  {event.candidate.note}"
                self._number, self._share = event.number, event.share
            case Tried():
                self._share = event.share
                self._green += event.verdict.status == "green"
            case talk.AgentBegun():
                self._models[event.id] = (event.task, "begins")
            case events.Within(agent=agent, event=talk.PartCame(part=Call() as call)) if (
                agent in self._models
            ):
                self._models[agent] = (self._models[agent][0], call.name)
            case events.Notice():
                self._console.print(printable(event.text), markup=False, highlight=False, style="dim")
            case _:
                pass

    def _view(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.spinner import Spinner
        from rich.table import Table
        from rich.text import Text

        head = Table.grid(padding=(0, 1))
        head.add_row(
            Spinner("dots"),
            Text(self._step, style="bold"),
            Text(f"tier {self._tier}" if self._tier else "", style="cyan"),
        )
        parts: list[Any] = [head]
        if self._places:
            places = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
            for place in self._places:
                places.add_row(
                    Text(f"{place.score:.2f}", style="magenta"),
                    Text(printable(f"{place.path}:{place.line}", newlines=False)),
                    Text(
                        printable("; ".join(place.reasons[:2]), newlines=False),
                        style="dim",
                        overflow="ellipsis",
                        no_wrap=True,
                    ),
                )
            parts.append(places)
        if self._trying:
            line = Text(f"  {self._number:>4}  ", style="dim", no_wrap=True, overflow="ellipsis")
            line.append(printable(self._trying, newlines=False), style="default")
            parts.append(line)
            bar = Table.grid(padding=(0, 1))
            bar.add_row(
                "  ",
                ProgressBar(total=1.0, completed=min(1.0, self._share), width=40),
                Text(f"{self._green} green", style="green" if self._green else "dim"),
            )
            parts.append(bar)
        for name, call in self._models.values():
            line = Text("  ", style="dim", no_wrap=True, overflow="ellipsis")
            line.append(printable(f"{name}: {call}", newlines=False), style="cyan")
            parts.append(line)
        return Group(*parts)
