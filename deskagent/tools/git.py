"""Looks into the project's git repository, running nothing that the repository brings along; and commits."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from deskagent.messages import Outcome, Result
from deskagent.repo import git
from deskagent.terminal import spawn
from deskagent.terminal.sandbox.protect import commit_paths, protected_paths
from deskagent.terminal.types import Command, End, Limits, Policy
from deskagent.tools.base import Arguments, Context, Effect, Tool, ToolError, Wish
from deskagent.tools.plain import plain, shortened

_MOST = 200
_SECONDS = 60.0
_QUIET = ("--no-ext-diff", "--no-textconv")
_OWN = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgSign=false",
    "core.editor=false",
    "gc.auto=0",
)
_COMMIT = (
    'git "${@:3:$2}" add -A -- "${@:3+$2}" && '
    'git "${@:3:$2}" commit -q --no-verify -m "$1" --only -- "${@:3+$2}"'
)
"""$1: the message. $2: how many of the words behind it are options of git; the rest are files."""


class Do(StrEnum):
    STATUS = "status"
    DIFF = "diff"
    LOG = "log"
    SHOW = "show"
    BLAME = "blame"
    COMMIT = "commit"


class GitArguments(Arguments):
    do: Do
    path: str = Field("", description="diff, log, show, blame: only this file or folder; blame needs one")
    revision: str = Field("", description="log, show, blame, diff: a commit, branch or tag; default HEAD")
    most: int = Field(20, ge=1, le=_MOST, description="log: how many commits")
    first: int = Field(1, ge=1, description="blame: the first line")
    last: int = Field(0, ge=0, description="blame: the last line, 0 for the end")
    message: str = Field("", description="commit: the message")
    files: tuple[str, ...] = Field((), description="commit: exactly these files go into it")


class Git(Tool[GitArguments]):
    name = "git"
    prompt = (
        "Looks into the git repository: `status`, `diff` against HEAD or a revision, `log`, `show` a commit or a file "
        "at a revision, `blame`. `commit` commits the named files, without hooks; only when "
        "the person asked for a commit."
    )
    arguments = GitArguments

    def wish(self, arguments: GitArguments, context: Context) -> Wish:
        if git.root(context.project) is None:
            raise ToolError(f"{context.project} is no git repository.")
        if arguments.do is not Do.COMMIT:
            return Wish(Effect.READ, f"git {arguments.do}", f"git:{arguments.do}")
        if not arguments.message.strip() or not arguments.files:
            raise ToolError("A commit needs a message and the files that go into it.")
        names = tuple(_name(context.project, name) for name in arguments.files)
        shown = "\n".join(["commit:", *(f"  {name}" for name in names), "", arguments.message])
        return Wish(Effect.WRITE, shown, f"commit:{names}:{arguments.message}", paths=names)

    def run(self, arguments: GitArguments, context: Context) -> Result:
        project = context.project
        if arguments.do is Do.COMMIT:
            return _commit(arguments, context)
        if arguments.do is Do.STATUS:
            head = git.head(project)
            lines = [f"{change.code} {change.path}" for change in git.status(project)]
            where = f"On {head.branch or 'a detached HEAD'} at {(head.commit or 'no commit yet')[:12]}."
            return Result.of("\n".join([where, *(lines[:_MOST] or ["Nothing is changed."])]))
        try:
            if arguments.do is Do.SHOW and arguments.path:
                raw = _of_file(arguments, project)
            else:
                raw = git.run(project, *_words(arguments, project))
        except git.GitError as error:
            raise ToolError(error.message) from error
        return Result.of(shortened(raw.decode("utf-8", "replace").strip("\n")) or "Nothing.")


def _of_file(arguments: GitArguments, project: Path) -> bytes:
    """A file as a revision has it. Errors: ToolError, GitError."""
    revision, path = _revision(arguments), _name(project, arguments.path)
    found = git.show(project, revision, path)
    if found is None:
        raise ToolError(f"{revision} has no file {path}.")
    return found


def _revision(arguments: GitArguments) -> str:
    """Errors: ToolError."""
    revision = arguments.revision or "HEAD"
    if revision.startswith("-") or any(ord(c) < 33 for c in revision):
        raise ToolError(f"{revision!r} is no revision.")
    return revision


def _words(arguments: GitArguments, project: Path) -> list[str]:
    """The command line of what only reads. Errors: ToolError."""
    revision = _revision(arguments)
    path = _name(project, arguments.path) if arguments.path else ""
    behind = ["--", path] if path else []
    match arguments.do:
        case Do.DIFF:
            kept = ("--no-color", "--ignore-submodules=all")
            return [*git.without_filters(project), "diff", *_QUIET, *kept, revision, *behind]
        case Do.LOG:
            form = "--format=%h %ad %an: %s"
            return [
                "log",
                *_QUIET,
                "--no-color",
                "--date=short",
                form,
                f"-n{arguments.most}",
                revision,
                *behind,
            ]
        case Do.SHOW:
            return ["show", *_QUIET, "--no-color", "--stat", "--patch", revision]
        case Do.BLAME if path:
            lines = f"{arguments.first},{arguments.last or ''}"
            return ["blame", "--no-textconv", "--date=short", "-L", lines, revision, *behind]
    raise ToolError(f"{arguments.do} needs a path.")


def _name(project: Path, written: str) -> str:
    """A path as git takes it: relative to the project, inside it. Errors: ToolError."""
    path = Path(os.path.normpath(project / written))
    if not path.is_relative_to(project) or "\0" in written:
        raise ToolError(f"{written} lies outside the project.")
    return path.relative_to(project).as_posix()


def _commit(arguments: GitArguments, context: Context) -> Result:
    names = [_name(context.project, name) for name in arguments.files]
    policy = Policy(
        writable=commit_paths(context.project), read_only=protected_paths(context.project, commit=True)
    )
    options = [word for setting in _OWN for word in ("-c", setting)]
    ran = spawn.run(
        Command(
            ("bash", "-c", _COMMIT, "git", arguments.message, str(len(options)), *options, *names),
            context.project,
            {**context.env, "GIT_TERMINAL_PROMPT": "0"},
        ),
        sandbox=context.sandbox,
        policy=policy,
        limits=Limits(seconds=_SECONDS),
        cancel=context.cancel,
    )
    if ran.end is not End.EXITED or ran.code:
        return Result.of(f"Nothing was committed: {plain(ran.text).strip() or ran.detail}", Outcome.FAILED)
    told = git.run(context.project, "log", "-n1", "--no-color", "--stat", "--format=%h %s")
    return Result.of(told.decode("utf-8", "replace").strip())
