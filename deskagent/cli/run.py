"""`deskagent run`: a task for the agent, done with tools until it is finished, and an exit code."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from deskagent.agent.permissions import Mode
from deskagent.errors import DeskagentError, UsageError

if TYPE_CHECKING:
    from deskagent.agent.converse.outcome import Result

_MOST_INPUT = 200_000
"""Characters of stdin that are taken as context."""


def talk_options(command: Any) -> Any:
    """The options that `run` and `chat` share."""
    options = [
        click.option(
            "-m", "--model", default="", metavar="NAME", help="As in `deskagent model list`. Default: yours."
        ),
        click.option(
            "--effort",
            type=click.Choice(["auto", "low", "high", "max"]),
            default=None,
            help="auto: by the kind of each step. Default: as the session had it, else auto.",
        ),
        click.option(
            "--max-effort", type=click.Choice(["low", "high", "max"]), default="max", help="Never above it."
        ),
        click.option(
            "-c", "--continue", "latest", is_flag=True, help="Go on with this folder's latest session."
        ),
        click.option(
            "-r",
            "--resume",
            "session",
            metavar="[ID]",
            is_flag=False,
            flag_value="",
            help="Go on with that session.",
        ),
        click.option(
            "--fork", is_flag=True, help="With -c or -r: in a new session, leaving that one as it is."
        ),
        click.option(
            "--permission-mode",
            type=click.Choice([str(m) for m in Mode]),
            default=None,
            help="plan: nothing changes. ask: before changes and commands. auto: no questions inside the sandbox. "
            "full: no sandbox. Default: as the session had it, else ask.",
        ),
        click.option(
            "--allowed-tools", multiple=True, metavar="RULE", help='Allowed unasked: "terminal(make *)".'
        ),
        click.option("--denied-tools", multiple=True, metavar="RULE", help="Never allowed."),
        click.option("--tools", metavar="NAMES", help="Only these, apart by commas."),
        click.option(
            "--max-turns", type=click.IntRange(min=1), help="End after so many answers of the model."
        ),
        click.option(
            "--max-usd", type=click.FloatRange(min=0, min_open=True), help="End when it has cost so much."
        ),
        click.option("--max-seconds", type=click.FloatRange(min=0, min_open=True), help="End after so long."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command(context_settings={"max_content_width": 100})
@click.argument("task", default="")
@click.option("-p", "--print", "headless", is_flag=True, help="Ask nothing, show nothing but the result.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    show_default=True,
    help="json: the result alone. stream-json: every event, the result last.",
)
@talk_options
def run(task: str, headless: bool, output_format: str, **given: Any) -> int:
    """Do a task with tools: read, search, edit, run commands, until it is done.

    TASK says what to do; what comes on stdin is its context. Exit codes: 0 done, 1 given up, 2 usage or surroundings,
    53 a limit, 75 try again later.
    """
    from deskagent.agent.converse.outcome import Result
    from deskagent.agent.signals import Stopped
    from deskagent.cli import live
    from deskagent.cli.transcript import Transcript, for_terminal

    front: Any
    if output_format == "stream-json":
        front = live.Stream()
    elif output_format == "json" or headless or not sys.stderr.isatty():
        front = live.Quiet()
    else:
        front = for_terminal(interactive=sys.stdin.isatty())
    result = Result(task)
    try:
        _run(task, given, front, result)
    except (DeskagentError, Stopped) as error:
        result.fail(error, error.exit_code)
    finally:
        if isinstance(front, Transcript):
            front.end()
    _say(result, output_format, shown=isinstance(front, Transcript) and sys.stdout.isatty())
    return result.exit_code


def _run(task: str, given: dict[str, Any], front: Any, result: Result) -> None:
    from deskagent.agent.converse.running import run as running
    from deskagent.agent.converse.work import at_work
    from deskagent.cli.pictures import shown
    from deskagent.cli.said import said
    from deskagent.session import events

    piped = "" if sys.stdin.isatty() else sys.stdin.read(_MOST_INPUT + 1)
    if len(piped) > _MOST_INPUT:
        raise UsageError(
            f"stdin has more than {_MOST_INPUT} characters.", hint="Put it into a file and name that."
        )
    if not task.strip() and not piped.strip() and given["session"] is None and not given["latest"]:
        raise UsageError("What is to be done?", hint='deskagent run "…"')
    options = options_of(given)
    with at_work(options, front) as talk:
        result.talk = talk
        talk.recorder.emit(events.Request(text=task))
        try:
            if task.strip() or piped.strip():
                talk.say(said(task, piped, see=partial(shown, talk)))
            result.end(running(talk, on_stop=getattr(getattr(front, "gone", None), "set", lambda: None)))
        except BaseException as error:
            result.fail(error, getattr(error, "exit_code", 70))
            raise
        finally:
            talk.recorder.emit(
                events.SessionEnded(
                    status=result.subtype, exit_code=result.exit_code, result=result.as_dict()
                )
            )


def options_of(given: dict[str, Any]) -> Any:
    """The options of a conversation from the command line's. Errors: UsageError."""
    from deskagent.agent.budget import Tier
    from deskagent.agent.converse import standing
    from deskagent.agent.converse.rules import Rules
    from deskagent.agent.converse.talk import Limits
    from deskagent.agent.converse.work import Options
    from deskagent.cli.going_on import named
    from deskagent.cli.here import here
    from deskagent.cli.models import opened
    from deskagent.cli.permitted import keep, kept

    session = named(given["latest"], given["session"], given["fork"])
    mode = given["permission_mode"]
    always = standing.read()
    rules = Rules.parse(
        [*given["allowed_tools"], *kept(), *always["allow"]],
        always["ask"],
        [*given["denied_tools"], *always["deny"]],
    )
    return Options(
        start=here(),
        argv=tuple(sys.argv),
        model=opened,
        named=given["model"] or os.environ.get("DESKAGENT_TALK_MODEL", ""),
        mode=Mode(mode) if mode else None,
        effort=given["effort"] or "",
        cap=Tier(given["max_effort"]),
        limits=Limits(given["max_turns"], given["max_usd"], given["max_seconds"]),
        rules=rules,
        save=keep,
        tools=tuple(name.strip() for name in given["tools"].split(",")) if given["tools"] else None,
        session=session,
        fork=given["fork"],
    )


def _say(result: Result, output_format: str, *, shown: bool) -> None:
    from deskagent.cli.live import write_json
    from deskagent.terminal.text import printable

    told = result.as_dict()
    if output_format != "text":
        write_json(told)
        return
    if told["result"] and not shown:
        click.echo(printable(told["result"]))
    if shown and result.talk is not None:
        from deskagent.agent.costs import by_tier, line

        click.echo(
            line(by_tier(result.talk.recorder.steps, result.talk.provider.capabilities.price)), err=True
        )
    for word in filter(
        None, [told["why"], (told["error"] or {}).get("message"), (told["error"] or {}).get("hint")]
    ):
        click.echo(printable(f"deskagent: {word}"), err=True)
