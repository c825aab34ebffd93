"""Reads a git repository without running anything that the repository brings along.

A clone can name programs in its config (file system monitors, filters, diff drivers, signature checkers,
remote helpers) and carry hooks; a plain `git status` runs several of them. Here all of them are switched off
for every call, submodules are never entered by git itself (it would start afresh there, with their config),
and `git` is looked up outside the project. Nothing is written, not even a refreshed index, so a stale
index.lock is no matter.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from deskagent.errors import TransientError, UsageError
from deskagent.repo import lightgit
from deskagent.terminal.environment import base_env, outside
from deskagent.terminal.process import Process
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.spawn import start
from deskagent.terminal.types import Command, Limits, Policy

_SECONDS = 120.0
_OUTPUT = 256 << 20  # bytes; a listing of millions of files
_OFF = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.askPass=false",
    "core.editor=false",
    "core.quotePath=false",
    "credential.helper=",
    "diff.autoRefreshIndex=false",  # git diff writes the index whatever GIT_OPTIONAL_LOCKS says
    "diff.external=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
)
_ENV = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}
_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


class GitError(UsageError):
    """Git is absent, refuses the repository, or can't read it."""


@dataclass(frozen=True)
class Head:
    """What is checked out. `commit` is None before the first commit, `branch` where HEAD is detached."""

    commit: str | None
    branch: str | None


@dataclass(frozen=True)
class Change:
    """A path that differs from HEAD, with git's two letters (index, work tree): ` M`, `A `, `??`, …"""

    path: str
    code: str


def is_installed() -> bool:
    """Whether there is a git to run at all."""
    return shutil.which("git", path=base_env()["PATH"]) is not None


def root(start_at: Path) -> Path | None:
    """The folder of the work tree that holds `start_at`, links resolved; None outside of any.

    Found by looking for `.git`, without git: `core.worktree` could claim any folder. UsageError inside a bare
    repository and inside a `.git` folder, which have no files to work on.
    """
    here = start_at.resolve()
    for folder in (here, *here.parents):
        if lightgit.admin_folder(folder / ".git"):
            return folder
        if folder.name == ".git" or _is_bare(folder):
            raise UsageError(
                f"{folder} is a bare repository or git's own folder: it has no work tree.",
                hint="Start in a clone of it: git clone, or git worktree add.",
            )
    return None


def is_repo(start_at: Path) -> bool:
    """Whether `start_at` lies in a git work tree."""
    return root(start_at) is not None


def _is_bare(folder: Path) -> bool:
    return (folder / "config").is_file() and lightgit.admin_folder(folder) is not None


def head(repo: Path) -> Head:
    """What is checked out at the work tree `repo`. GitError."""
    code, out, _ = _try(repo, "rev-parse", "--verify", "--quiet", "HEAD")
    commit = out.decode().strip() if code == 0 else None
    code, out, _ = _try(repo, "symbolic-ref", "--quiet", "--short", "HEAD")
    return Head(commit, os.fsdecode(out).strip() if code == 0 else None)


def ls_files(repo: Path, *, untracked: bool = True) -> tuple[str, ...]:
    """Paths of the tracked files, relative to `repo`; with `untracked` also those that are not ignored.

    Tracked files that are gone from the disk are among them; so are submodules and other repositories inside,
    as the paths of their folders. GitError.
    """
    kinds = ("--cached", "--others", "--exclude-standard") if untracked else ("--cached",)
    return tuple(dict.fromkeys(path.rstrip("/") for path in _paths(run(repo, "ls-files", "-z", *kinds))))


def status(repo: Path, *, untracked: bool = True) -> tuple[Change, ...]:
    """What differs from HEAD. Submodules count as changed where another commit is checked out. GitError."""
    out = run(
        repo,
        *without_filters(repo),
        *("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty"),
        f"--untracked-files={'all' if untracked else 'no'}",
    )
    return tuple(Change(path=entry[3:], code=entry[:2]) for entry in _paths(out))


def diff(repo: Path, paths: Iterable[str] = ()) -> bytes:
    """The unified diff of the work tree against HEAD (against nothing before the first commit). GitError."""
    against = "HEAD" if head(repo).commit else _empty_tree(repo)
    return run(
        repo,
        *without_filters(repo),
        *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"),
        *("--ignore-submodules=dirty", against, "--", *paths),
    )


def show(repo: Path, revision: str, path: str) -> bytes | None:
    """A file's bytes at a revision, exactly as stored; None if there is no such file. GitError."""
    if revision.startswith("-") or ":" in revision:
        raise GitError(f"{revision!r} is not a revision.", hint="Give a commit, a branch or a tag.")
    name = f"{revision}:{path}"
    code, kind, _ = _try(repo, "cat-file", "-t", name)
    return run(repo, "cat-file", "blob", name) if code == 0 and kind.strip() == b"blob" else None


def tree(repo: Path, commit: str) -> dict[str, str]:
    """Path → object id of every file of a commit, submodules and links included. GitError."""
    found: dict[str, str] = {}
    for entry in run(repo, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        head, tab, name = entry.partition(b"\t")
        if tab:
            found[os.fsdecode(name)] = head.split(b" ")[2].decode()
    return found


def contents(repo: Path, ids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """Each id with its blob's bytes exactly as stored, None where the repository lacks it. GitError."""
    with _git(repo, "cat-file", "--batch") as process:
        for name in ids:
            try:
                process.send(f"{name}\n".encode(), timeout=_SECONDS)
                head = process.stdout.line(timeout=_SECONDS).split()
                size = int(head[2]) if len(head) == 3 else -1  # `<id> missing` has two words
                data = process.stdout.exactly(size + 1, timeout=_SECONDS)
            except (BrokenPipeError, TimeoutError, ValueError):
                head, size, data = [], 0, b""
            if not head or len(data) != size + 1:
                raise GitError(f"git cat-file ended early in {repo}.", hint="git fsck may tell more.")
            yield name, data[:-1] if head[1] == b"blob" else None
        process.end_input()


def _empty_tree(repo: Path) -> str:
    return _EMPTY_TREES[run(repo, "rev-parse", "--show-object-format").decode().strip()]


def without_filters(repo: Path) -> Iterator[str]:
    """Options that blank every filter that any config names; attributes can only use those."""
    names = _paths(run(repo, "config", "--list", "--name-only", "-z"))
    filters = {name.split(".", 1)[1].rpartition(".")[0] for name in names if name.startswith("filter.")}
    for driver in sorted(filter(None, filters)):
        if "=" in driver:
            raise GitError(
                f"The config of {repo} has a filter named {driver!r}, which can't be switched off.",
                hint=f"Rename or remove filter.{driver} in .git/config.",
            )
        for setting in ("clean=", "smudge=", "process=", "required=false"):
            yield from ("-c", f"filter.{driver}.{setting}")


def _paths(out: bytes) -> list[str]:
    return [os.fsdecode(part) for part in out.split(b"\0") if part]


def run(repo: Path, *arguments: str) -> bytes:
    """What a git command that only reads prints on stdout, nothing of the repository's being run. GitError."""
    code, out, errors = _try(repo, *arguments)
    if code:
        raise _error(repo, arguments, errors)
    return out


@contextlib.contextmanager
def _git(repo: Path, *arguments: str) -> Iterator[Process]:
    """A running git command, all that a repository could bring along switched off. GitError without a git."""
    env = base_env(_ENV)
    env["PATH"] = outside(repo, env["PATH"])
    env["GIT_CEILING_DIRECTORIES"] = str(repo.parent)
    program = shutil.which("git", path=env["PATH"])
    if program is None:
        raise GitError("git is not installed.", hint="Install git; without it files are read from disk.")
    switches = (word for setting in _OFF for word in ("-c", setting))
    argv = (program, "--no-pager", "--literal-pathspecs", f"--work-tree={repo}", *switches, *arguments)
    limits = Limits(seconds=_SECONDS, output=1 << 20)
    with start(Command(argv, repo, env), sandbox=Unconfined(), policy=Policy(), limits=limits) as process:
        yield process


def _try(repo: Path, *arguments: str) -> tuple[int, bytes, str]:
    """Exit status, stdout and stderr of a git command. GitError where git can't run at all."""
    with _git(repo, *arguments) as process:
        process.end_input()
        try:
            out = process.stdout.exactly(_OUTPUT + 1, timeout=_SECONDS)
        except TimeoutError:
            raise TransientError(
                f"git took more than {_SECONDS:.0f} s in {repo}.", hint="Is the disk slow, or the tree huge?"
            ) from None
        if len(out) > _OUTPUT:
            raise GitError(f"git printed over {_OUTPUT >> 20} MiB in {repo}.", hint="Name fewer files.")
        result = process.wait(10.0) or process.close()
    return result.code, out, (result.head + result.tail).decode("utf-8", "replace").strip()


def _error(repo: Path, arguments: tuple[str, ...], errors: str) -> GitError:
    last = errors.rsplit("\n", 1)[-1]
    if "dubious ownership" in errors:
        return GitError(
            f"{repo} belongs to another user, so git does not read it.",
            hint=f"If you trust it: git config --global --add safe.directory {repo}",
        )
    name = next((a for a in arguments if not a.startswith("-") and "=" not in a), "")
    return GitError(f"git {name} failed in {repo}: {last}", hint="Try it by hand; git fsck may tell more.")
