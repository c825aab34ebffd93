"""The command group: names and one-line helps here, each command's module imported when it is called."""

from __future__ import annotations

import importlib
import keyword
import os
import sys

import click

from deskagent import __version__
from deskagent.agent.signals import Stopped
from deskagent.errors import DeskagentError, TransientError

COMMANDS: dict[str, tuple[str, str]] = {
    "tui": ("deskagent.cli.tui", "The app in this terminal; `deskagent` alone opens it too."),
    "web": ("deskagent.cli.web", "The app in a browser of this machine."),
    "fix": ("deskagent.cli.fix", "Repair a bug that a test shows, and prove it."),
    "run": ("deskagent.cli.run", "Do a task with tools and a model of yours."),
    "chat": ("deskagent.cli.chat", "Talk with a model that works in this folder."),
    "undo": ("deskagent.cli.undo", "Take back what a session changed."),
    "verify": ("deskagent.cli.verify", "Replay a session's proof on clean copies."),
    "index": ("deskagent.cli.index", "Index a project; ask it, draw its map."),
    "sessions": ("deskagent.cli.sessions", "List, show, export and search past sessions."),
    "import": ("deskagent.cli.importing", "Bring sessions and settings over from another agent."),
    "model": ("deskagent.cli.model", "Look into checkpoints, verify, quantise, export, compare them."),
    "mcp": ("deskagent.cli.mcp", "Tool servers: add, list, approve, remove them."),
    "hooks": ("deskagent.cli.hooks", "Commands at moments of a conversation: list, approve them."),
    "trust": (
        "deskagent.cli.trust",
        "Trust a folder, so that what is detected in it may run in the sandbox.",
    ),
    "doctor": ("deskagent.cli.doctor", "Check this machine: Python, sandbox, git, disk, terminal."),
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        return getattr(module, f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="deskagent %(version)s")
def cli() -> None:
    """A coding agent for your own workstation."""


def run(args: list[str]) -> int:
    """Runs the command line and returns its exit code; expected errors are told on stderr in plain words."""
    _open_what_is_closed()
    try:
        return int(cli.main(_meant(args), prog_name="deskagent", standalone_mode=False) or 0)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except DeskagentError as error:
        tell(error)
        return error.exit_code
    except Stopped as stop:
        return stop.exit_code
    except SystemExit:
        # So click says that the reader of stdout went away, and in no other way; 1 would mean something else.
        if type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):
            return 141
        raise
    except OSError as error:  # also a disk that is full under what stdout leads to
        # Python must not complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        tell(TransientError(f"{error}.", hint="Try again when that is over."))
        return 75


def _meant(args: list[str]) -> list[str]:
    """Without a command the app is meant, where there is a terminal for it; its options may stand alone."""
    if args:
        return ["tui", *args] if args[0].startswith("-") and args[0] not in _OF_GROUP else args
    return ["tui"] if sys.stdin.isatty() and sys.stdout.isatty() else args


_OF_GROUP = ("-h", "--help", "-V", "--version")


def _open_what_is_closed() -> None:
    """Standard streams that the caller has closed lead nowhere: else the next file opened would take their place."""
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            setattr(sys, name, open(fd, mode, closefd=False))  # noqa: SIM115 - a descriptor


def tell(error: DeskagentError) -> None:
    """Prints an expected error to stderr: what was wrong, then what to do."""
    from deskagent.terminal.text import printable

    print(f"deskagent: {printable(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"  {printable(error.hint)}", file=sys.stderr)
