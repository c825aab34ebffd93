from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repo import git as reads
from deskagent.repo.walk import walk

Git = Callable[..., str]


def _read_everything(repo: Path) -> None:
    reads.root(repo)
    reads.head(repo)
    reads.ls_files(repo)
    reads.status(repo)
    reads.diff(repo)
    reads.diff(repo, ["pkg/core.py"])
    reads.show(repo, "HEAD", "pkg/core.py")
    walk(repo)


def _hostile(repo: Path, git: Git, canary: Path) -> None:
    """Everything that makes git run something, armed."""
    arm = f"echo x >> {shlex.quote(str(canary))}; cat"
    bite = f"sh -c {shlex.quote(arm)}"
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.askPass",
        "core.gitProxy",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.two words.clean",
        "credential.helper",
        "gpg.program",
        "pager.diff",
        "pager.status",
        "alias.status",
        "alias.ls-files",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
        "sequence.editor",
        "interactive.diffFilter",
    ):
        git(repo, "config", key, bite)
    git(repo, "config", "alias.diff", f"!{bite}")
    git(repo, "config", "filter.evil.required", "true")
    git(repo, "config", "log.showSignature", "true")
    git(repo, "config", "core.hooksPath", str(repo / "hooks"))
    git(repo, "config", "status.submoduleSummary", "true")
    for folder in (repo / "hooks", repo / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in (
            "post-index-change",
            "fsmonitor-watchman",
            "pre-commit",
            "post-checkout",
            "reference-transaction",
        ):
            (folder / hook).write_text(f"#!/bin/sh\necho {hook} >> {canary}\n")
            (folder / hook).chmod(0o755)
    (repo / ".gitattributes").write_text('* filter=evil diff=evil merge=evil\n*.txt filter="two words"\n')
    (repo / "pkg" / "core.py").write_bytes(b"changed = 1\n")
    (repo / "notes.txt").write_bytes(b"untracked\n")


def test_nothing_of_a_hostile_repository_runs(repo: Path, git: Git, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    (repo / "notes.txt").write_bytes(b"tracked\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "second")
    _hostile(repo, git, canary)
    canary.unlink(missing_ok=True)
    _read_everything(repo)
    assert not canary.exists()
    assert {change.path for change in reads.status(repo)} >= {"pkg/core.py", "notes.txt", ".gitattributes"}
    assert b"+changed = 1" in reads.diff(repo, ["pkg/core.py"])
    assert not canary.exists()
    git(repo, "status", check=False)
    assert canary.exists(), "the trap must be armed, or this test says nothing"


def test_a_hostile_submodule_doesn_t_run_either(repo: Path, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repo), "other")
    git(repo, "submodule", "--quiet", "add", str(tmp_path / "other"), "sub")
    git(repo, "commit", "-qm", "sub")
    canary = tmp_path / "canary"
    git(repo / "sub", "config", "core.fsmonitor", f"echo x >> {canary}; true")
    (repo / "sub" / "README").write_bytes(b"dirty")
    canary.unlink(missing_ok=True)
    _read_everything(repo)
    assert not canary.exists()
    git(repo, "status", check=False)
    assert canary.exists(), "the trap must be armed"


def test_an_evil_git_on_path_inside_the_project_is_not_run(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repo / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "git").write_text(f"#!/bin/sh\ntouch {tmp_path / 'canary'}\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", folder.as_posix() + os.pathsep + os.environ["PATH"])
    _read_everything(repo)
    assert not (tmp_path / "canary").exists()


def test_reading_changes_nothing(repo: Path, digest: Callable[[Path], str]) -> None:
    (repo / "README").write_bytes(b"no final newline")  # same bytes, other time: git would refresh its index
    (repo / ".git" / "index.lock").touch()
    before = digest(repo)
    _read_everything(repo)
    assert digest(repo) == before


def test_reads_on_a_branch_detached_and_before_the_first_commit(project: Path, git: Git) -> None:
    git(project, "init", "-q")
    assert reads.head(project) == reads.Head(None, "main")
    assert b"+def f():" not in reads.diff(project)  # nothing is tracked
    git(project, "add", "pkg")
    assert b"+def f():" in reads.diff(project)
    assert {change.code for change in reads.status(project)} == {"A ", "??"}
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    commit = git(project, "rev-parse", "HEAD")
    assert reads.head(project) == reads.Head(commit, "main")
    git(project, "checkout", "-q", "--detach")
    assert reads.head(project) == reads.Head(commit, None)


def test_show_gives_bytes_as_stored(repo: Path, git: Git) -> None:
    assert reads.show(repo, "HEAD", "pkg/core.py") == b"def f():\r\n    return 1\r\n"
    assert reads.show(repo, "HEAD", "absent") is None
    assert reads.show(repo, "HEAD", "pkg") is None
    with pytest.raises(UsageError):
        reads.show(repo, "--output=x", "README")


def test_odd_names_survive(repo: Path, git: Git) -> None:
    names = ["new\nline", "tab\t", "ünï", '"quoted"', "-dash", ":(glob)*", "bad\udce9"]
    for name in names:
        (repo / name).write_text("x")
    assert set(names) <= set(reads.ls_files(repo))
    assert set(names) <= {change.path for change in reads.status(repo)}
    assert reads.diff(repo, [":(glob)*"]) == b""


def test_worktree_submodule_and_shallow_clone(repo: Path, git: Git, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "wt"), "-b", "side")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    git(repo, "submodule", "--quiet", "add", f"file://{repo}", "sub")
    for place, branch in ((tmp_path / "wt", "side"), (tmp_path / "shallow", "main"), (repo / "sub", "main")):
        assert reads.root(place / "pkg") == place.resolve()
        assert reads.head(place).branch == branch
        assert "pkg/core.py" in reads.ls_files(place)
        assert reads.status(place) == ()
    assert "sub" in reads.ls_files(repo)
    assert {"sub/pkg/core.py", "pkg/core.py"} <= set(walk(repo).files)


def test_root_is_found_without_believing_core_worktree(repo: Path, git: Git, tmp_path: Path) -> None:
    git(repo, "config", "core.worktree", str(tmp_path))
    assert reads.root(repo / "pkg") == repo
    assert "README" in reads.ls_files(repo)
    assert all(not path.startswith("..") for path in reads.ls_files(repo))
    assert reads.root(tmp_path) is None
    assert not reads.is_repo(tmp_path)


def test_a_bare_repository_is_a_clear_error(repo: Path, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare")
    for place in (tmp_path / "bare", tmp_path / "bare" / "refs", repo / ".git"):
        with pytest.raises(UsageError, match="no work tree"):
            reads.root(place)


def test_without_git_it_says_so_and_the_walk_goes_on(
    repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not reads.is_installed()
    assert reads.root(repo) == repo
    with pytest.raises(UsageError, match="not installed"):
        reads.status(repo)
    assert "pkg/core.py" in walk(repo).files


def test_a_repository_of_somebody_else_is_refused_with_what_to_do(repo: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(repo, 12345, 12345)
    with pytest.raises(UsageError, match="another user") as caught:
        reads.status(repo)
    assert "safe.directory" in caught.value.hint
    assert "pkg/core.py" in walk(repo).files


def test_a_broken_repository_is_an_error_with_git_s_words(repo: Path) -> None:
    shutil.rmtree(repo / ".git" / "objects")
    (repo / ".git" / "objects").mkdir()
    with pytest.raises(UsageError, match="git diff failed"):
        reads.diff(repo)


def test_a_filter_that_can_t_be_blanked_is_refused(repo: Path, tmp_path: Path) -> None:
    with (repo / ".git" / "config").open("a") as file:
        file.write(f'[filter "a=b"]\n\tclean = touch {tmp_path}/canary\n')
    (repo / ".gitattributes").write_text("* filter=a=b\n")
    with pytest.raises(UsageError, match="can't be switched off"):
        reads.status(repo)
    assert not (tmp_path / "canary").exists()
