"""`deskagent fix`: from the command line to a session, a run of the loop, an answer and an exit code."""

from __future__ import annotations

import itertools
import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from deskagent.agent.permissions import Mode
from deskagent.errors import DeskagentError, UsageError

if TYPE_CHECKING:
    from deskagent.agent.report import Report
    from deskagent.agent.request import FixOptions


class _Seconds(click.FloatRange):
    """A finite number of seconds above zero."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return number


class _Fix(click.Command):
    """A command whose stream ends with a result also where its options can't be read."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        words = list(args)
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.ClickException as error:
            if _streams(words):
                from deskagent.agent.report import Report
                from deskagent.cli.live import write_json

                report = Report("")
                report.fail(UsageError(error.format_message(), hint="deskagent fix --help"), error.exit_code)
                write_json(report.result())
            raise


def _streams(words: list[str]) -> bool:
    """Whether `words`, perhaps no right ones, ask for JSON."""
    told = [b if a == "--output-format" else "" for a, b in itertools.pairwise(words)]
    told += [word.partition("=")[2] for word in words if word.startswith("--output-format=")]
    return bool({"json", "stream-json"} & set(told))


@click.command(cls=_Fix, context_settings={"max_content_width": 100})
@click.argument("request", default="")
@click.option("--test", metavar="CMD", help="The command that shows the bug. Default: detected, and said.")
@click.option(
    "--effort",
    type=click.Choice(["auto", "low", "high", "max"]),
    default="auto",
    show_default=True,
    help="How far to go: low 50 candidates or 20 s, high 200 or 60 s, max 1,000 or 300 s; auto climbs.",
)
@click.option(
    "--max-seconds",
    type=_Seconds(min=0, min_open=True),
    help="End after this many seconds in all. A patch found by then still gets its proof: at most 10 s and twice the "
    "first test run more.",
)
@click.option("--max-candidates", type=click.IntRange(min=1), help="End after this many candidates.")
@click.option("--files", multiple=True, metavar="GLOB", help="Edit only files that match; can be repeated.")
@click.option(
    "--since",
    metavar="REF|auto",
    help="The tests passed at that commit (auto: look for one): what changed since is suspected first.",
)
@click.option(
    "-c", "--continue", "latest", is_flag=True, help="Go on with this folder's latest session, after any end."
)
@click.option(
    "-r",
    "--resume",
    "session",
    metavar="[ID]",
    is_flag=False,
    flag_value="",
    help="Go on with that session; without ID it asks which. What you don't set is as it was.",
)
@click.option(
    "--fork", is_flag=True, help="With -c or -r: go on in a new session and leave that one as it is."
)
@click.option(
    "--model",
    envvar="DESKAGENT_MODEL",
    default="auto",
    show_default=True,
    metavar="auto|none|NAME|FOLDER",
    help="NAME, as in `deskagent model list`: works beside the search once 50 edits or 20 s found nothing. FOLDER: of "
    "a checkpoint that has a say in which edits come first; auto: the one that comes with deskagent, if any.",
)
@click.option(
    "--race",
    metavar="N|NAME,NAME",
    default="",
    help="Have that many plans of the model, or these models, work at once from the beginning, each in a copy; the "
    "tests choose.",
)
@click.option("--max-turns", type=click.IntRange(min=1), help="So many answers of models, of all together.")
@click.option(
    "--max-usd", type=click.FloatRange(min=0, min_open=True), help="So much for models, for all together."
)
@click.option("--accept-license", is_flag=True, help="Agree to the licence that the checkpoint is under.")
@click.option("--no-model", is_flag=True, help="As --model none.")
@click.option("--no-apply", is_flag=True, help="Show the patch and leave the working tree alone.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    show_default=True,
    help="json: the result alone. stream-json: every event, the result last.",
)
@click.option(
    "--permission-mode",
    type=click.Choice([str(m) for m in Mode]),
    default=str(Mode.ASK),
    show_default=True,
    help="plan: never writes. ask: before a detected command and before applying. auto: no questions inside "
    "the sandbox. full: no sandbox.",
)
def fix(request: str, **options: Any) -> int:
    """Repair the bug that a failing test shows, and prove it.

    REQUEST says in your words what is wrong; what it names is searched first. Runs in this folder's git
    repository, or in this folder. Exit codes: 0 a verified patch or nothing to fix, 1 nothing passes, 2 usage or
    surroundings, 53 a limit ended the search, 75 try again later.
    """
    began = time.monotonic()
    from deskagent.agent.report import Report
    from deskagent.agent.run_fix import run_fix
    from deskagent.agent.signals import Stopped, ignore, signals_raise

    report = Report(request, started=began)
    format_ = options["output_format"]
    with signals_raise():
        try:
            run = _run_options(request, options)
            with _front(format_) as front:
                run_fix(run, front, report, _opened)
        except DeskagentError as error:
            report.fail(error, error.exit_code)
        except Stopped as stop:  # while its end was written down, or the view taken off
            report.fail(stop, stop.exit_code)
        finally:
            ignore()
            _say(format_, report)
    return report.exit_code


def _run_options(request: str, options: dict[str, Any]) -> FixOptions:
    from deskagent.agent.request import FixOptions
    from deskagent.cli.here import here

    return FixOptions(
        request=request,
        start=here(),
        env=dict(os.environ),
        argv=tuple(sys.argv),
        test=options["test"],
        effort=options["effort"],
        max_seconds=options["max_seconds"],
        max_candidates=options["max_candidates"],
        files=options["files"],
        since=options["since"],
        model=_model(options),
        race=options["race"],
        max_turns=options["max_turns"],
        max_usd=options["max_usd"],
        apply=not options["no_apply"],
        mode=Mode(options["permission_mode"]),
        session=_session(options),
        fork=options["fork"],
        given=_given(request),
    )


def _opened(name: str) -> Any:
    from deskagent.cli.models import opened  # with what speaks to servers

    return opened(name)


def _model(options: dict[str, Any]) -> str:
    """What `--model` names; a checkpoint's folder is made absolute, and its licence agreed to."""
    wanted = "none" if options["no_model"] else options["model"]
    if wanted == "none":
        return wanted
    from pathlib import Path

    from deskagent.cli.engine_extra import engine
    from deskagent.cli.licence import agree
    from deskagent.providers import catalog
    from deskagent.repair.model import find

    if wanted == find.AUTO:
        folder = find.choose(wanted).folder
    elif wanted in catalog.read().entries:
        return wanted
    else:
        folder = Path.cwd() / Path(wanted).expanduser()
    if folder is not None and folder.is_dir():
        with engine():
            agree(folder, accepted=options["accept_license"])
        return wanted if wanted == find.AUTO else str(folder)
    return wanted


_LIMITS = ("max_turns", "max_usd")
_FIELDS = {"no_apply": "apply", "no_model": "model", "permission_mode": "mode"}
_KEPT = {
    "test",
    "effort",
    "max_seconds",
    "max_candidates",
    "files",
    "since",
    "model",
    "race",
    *_LIMITS,
    *_FIELDS,
}


def _given(request: str) -> frozenset[str]:
    """The fields of FixOptions that stand on the command line."""
    source = click.get_current_context().get_parameter_source
    told = {name for name in _KEPT if source(name) is click.core.ParameterSource.COMMANDLINE}
    return frozenset({_FIELDS.get(name, name) for name in told} | ({"request"} if request else set()))


def _session(options: dict[str, Any]) -> str | None:
    """The session to go on with as FixOptions names it."""
    from deskagent.cli.going_on import named

    latest, format_ = options["latest"], options["output_format"]
    session = named(latest, options["session"], options["fork"])
    if session == "" and not latest and format_ == "text" and sys.stdin.isatty() and sys.stderr.isatty():
        from deskagent.cli.choosing import choose_session
        from deskagent.cli.here import here

        return choose_session(here())
    return session


def _front(format_: str) -> Any:
    from deskagent.cli import live

    if format_ == "stream-json":
        return live.Stream()
    if format_ == "json" or not sys.stderr.isatty():
        return live.Quiet()
    return live.Live(interactive=sys.stdin.isatty())


def _say(format_: str, report: Report) -> None:
    """The answer on stdout; what went wrong, if that is all there is to say, on stderr."""
    from deskagent.cli.answer import answer, complaint
    from deskagent.cli.live import write_json
    from deskagent.terminal.text import printable

    result = report.result()
    if format_ == "text" and not sys.stderr.isatty() and report.recorder:
        # Nobody watched: what a person should know, and the answer doesn't say, is told at the end.
        for notice in report.recorder.notices:
            if notice.level != "info" or report.resumed:
                click.echo(printable(f"{notice.level}: {notice.text}"), err=True)
    if format_ != "text":
        write_json(result)
    elif result["status"] == "error":
        click.echo(complaint(result), err=True)
    else:
        click.echo(answer(result), color=False if os.environ.get("NO_COLOR") else None)
