"""The repository is looked into without running anything of it; a commit holds what was named and nothing else."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.tools.base import Effect, ToolError
from deskagent.tools.git import Git, GitArguments


@pytest.fixture
def repo(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs git in the project, which has one commit."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)

    def run(*words: str) -> str:
        command = ["git", "-C", str(project), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    run("init", "-qb", "main")
    run("config", "user.name", "t")
    run("config", "user.email", "t@localhost")
    (project / "a.txt").write_text("one\ntwo\n")
    run("add", "-A")
    run("commit", "-qm", "the first")
    return run


def git(context, do: str, **more):
    return Git().run(GitArguments(do=do, **more), context)


def test_what_is_changed_and_what_was(context, project: Path, repo, text) -> None:
    (project / "a.txt").write_text("one\n2\n")
    (project / "new.txt").write_text("x")
    status = text(git(context, "status"))
    assert "On main" in status and "a.txt" in status and "?? new.txt" in status
    assert "-two\n+2" in text(git(context, "diff"))
    assert "the first" in text(git(context, "log"))
    assert "+two" in text(git(context, "show"))
    assert text(git(context, "show", path="a.txt")) == "one\ntwo"
    assert text(git(context, "blame", path="a.txt", first=2, last=2)).endswith("two")


def test_a_commit_holds_the_named_files_alone_and_runs_no_hook(context, project: Path, repo, text) -> None:
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    hook.chmod(0o755)
    for name in ("b.txt", "c with space.txt", "staged.txt"):
        (project / name).write_text("x")
    repo("add", "staged.txt")
    (project / "a.txt").unlink()
    told = text(
        git(context, "commit", message="add b\n\nand more", files=("b.txt", "c with space.txt", "a.txt"))
    )
    assert "add b" in told and not (project / "ran").exists()
    assert repo("show", "--format=%B", "--name-only").split("\n")[:3] == ["add b", "", "and more"]
    assert repo("diff", "--cached", "--name-only") == "staged.txt\n"
    assert set(repo("ls-tree", "-r", "--name-only", "HEAD").split("\n")) == {"b.txt", "c with space.txt", ""}


def test_looking_runs_nothing_of_the_repository(context, project: Path, repo) -> None:
    repo("config", "core.fsmonitor", "touch ran; false")
    repo("config", "diff.external", "touch ran")
    repo("config", "core.pager", "touch ran")
    repo("config", "diff.x.textconv", "touch ran; cat")
    repo("config", "filter.x.clean", "touch ran; cat")
    repo("config", "filter.x.smudge", "touch ran; cat")
    (project / ".gitattributes").write_text("*.txt diff=x filter=x\n")
    (project / "a.txt").write_text("changed\n")
    for do in ("status", "diff", "log", "show"):
        git(context, do)
    git(context, "blame", path="a.txt")
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"do": "blame"},
        {"do": "log", "revision": "--output=x"},
        {"do": "diff", "revision": "a b"},
        {"do": "show", "path": "../../etc/passwd"},
        {"do": "log", "revision": "nosuch"},
    ],
)
def test_what_can_not_be_is_said(context, repo, wrong: dict[str, str]) -> None:
    with pytest.raises(ToolError):
        Git().run(GitArguments(**wrong), context)


def test_looking_is_free_and_committing_is_a_change_that_is_shown(context, repo) -> None:
    assert Git().wish(GitArguments(do="log"), context).effect is Effect.READ
    wish = Git().wish(GitArguments(do="commit", message="why", files=("a.txt",)), context)
    assert wish.effect is Effect.WRITE and "a.txt" in wish.subject and "why" in wish.subject
    for wrong in ({"message": "x"}, {"files": ("a.txt",)}, {"message": "x", "files": ("../b",)}):
        with pytest.raises(ToolError):
            Git().wish(GitArguments(do="commit", **wrong), context)


def test_without_a_repository_it_says_so(context) -> None:
    with pytest.raises(ToolError, match="no git repository"):
        Git().wish(GitArguments(do="status"), context)
