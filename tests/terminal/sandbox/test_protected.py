"""Files that make other programs run something later stay as they are, also those that aren't there yet."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import SandboxError, commit_paths, git_folders, protected_paths
from deskagent.terminal.sandbox.placeholders import Placeholders, is_placeholder
from deskagent.terminal.types import Policy

GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"]}


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *words], cwd=folder, env=GIT, check=True, capture_output=True)


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


ATTACKS = (
    "mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout",
    "mkdir -p .git; echo evil > .git/config",
    "rm -rf .git; mkdir .git && echo evil > .git/config",
    "mv .git old; mkdir .git && echo evil > .git/config",
    "rmdir .git; echo 'gitdir: evil' > .git",
    "ln -s /tmp .git/x; mkdir .vscode; echo evil > .vscode/tasks.json",
    "echo evil > .vscode/settings.json; mkdir -p .idea/x; rmdir .idea && mkdir .idea",
    "echo evil > .envrc; rm -rf .envrc; echo evil > .envrc; rmdir .envrc; echo evil > .envrc",
    "mv .envrc gone && echo evil > .envrc",
    "mkdir -p .deskagent && echo evil > .deskagent/config.toml",
    "echo evil > x && mv x .envrc; ln -f x .mcp.json; ln -sfn x .mcp.json",
    "chmod 777 .vscode; echo evil > .vscode/a; rm -rf .vscode && mkdir .vscode",
)


@pytest.mark.parametrize("repository", ["none", "empty", "committed"])
def test_absent_and_present_ones(bwrap, repository: str) -> None:
    if repository != "none":
        git(bwrap.work, "init", "-q")
    if repository == "committed":
        (bwrap.work / ".vscode").mkdir()
        (bwrap.work / ".vscode" / "settings.json").write_text("{}")
        (bwrap.work / ".envrc").write_text("export A=1\n")
        git(bwrap.work, "add", "-A")
        git(bwrap.work, "commit", "-qm", "first")
    before = names(bwrap.work)
    text = {path: path.read_bytes() for path in bwrap.work.rglob("*") if path.is_file()}
    policy = bwrap.allowing(read_only=protected_paths(bwrap.work))
    bwrap.shell("\n".join((*ATTACKS, "rm -f x old; echo fine > made")), policy=policy)
    assert names(bwrap.work) == before | {"made"}
    assert {path: path.read_bytes() for path in text} == text


def test_in_a_copy_that_is_mounted_over_the_project(bwrap) -> None:
    """The copy is what is written to; project and copy have no trace of the protection afterwards."""
    project, copy = bwrap.outside / "folder", bwrap.work
    (project / "a").write_text("project")
    (copy / "a").write_text("copy")
    policy = Policy(
        mounts={copy: project}, read_only=protected_paths(project), readable=bwrap.policy.readable
    )
    done = bwrap.shell(
        "pwd; cat a; echo x > a; echo y > b; mkdir .vscode; echo z > .vscode/t", cwd=project, policy=policy
    )
    assert done.stdout.split() == [str(project), "copy"]
    assert names(project) == {"a"} and (project / "a").read_text() == "project"
    assert names(copy) == {"a", "b"} and (copy / "a").read_text() == "x\n"


def test_a_worktree(bwrap, tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-qm", "first", "--allow-empty")
    bwrap.work.rmdir()
    git(main, "worktree", "add", "-q", str(bwrap.work))
    link = (bwrap.work / ".git").read_text()
    policy = bwrap.allowing(read_only=protected_paths(bwrap.work))
    line = f"echo 'gitdir: /evil' > .git; rm .git; mv .git x; touch {main}/.git/hooks/x {main}/.git/worktrees/work/x"
    assert bwrap.shell(line + "; git status --short && echo ok", policy=policy).stdout.strip() == "ok"
    assert (bwrap.work / ".git").read_text() == link
    assert git_folders(bwrap.work) == (main / ".git" / "worktrees" / "work", main / ".git")


def test_a_submodule_s_folders_can_t_be_moved_aside(bwrap, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-qm", "first", "--allow-empty")
    git(bwrap.work, "init", "-q")
    git(bwrap.work, "submodule", "add", "-q", str(library), "parts/lib")
    policy = bwrap.allowing(read_only=protected_paths(bwrap.work))
    assert bwrap.work / "parts/lib/.git" in policy.read_only
    line = "mv parts/lib away; mv parts away2; mkdir -p parts/lib/.git; rm parts/lib/.git; echo x > parts/lib/.git"
    bwrap.shell(line + "; echo fine > parts/lib/made", policy=policy)
    assert (bwrap.work / "parts/lib/.git").read_text().startswith("gitdir: ")
    assert (bwrap.work / "parts/lib/made").exists()


def test_committing_in_the_sandbox(bwrap) -> None:
    """The commit tool's policy: objects and refs are written, what runs code is not."""
    git(bwrap.work, "init", "-q")
    (bwrap.work / "a").write_text("a")
    policy = bwrap.allowing(
        writable=(bwrap.work, *commit_paths(bwrap.work)), read_only=protected_paths(bwrap.work, commit=True)
    )
    config = (bwrap.work / ".git/config").read_bytes()
    line = (
        "git add a && git -c user.name=t -c user.email=t@example.org commit -qm first && git log --oneline | wc -l;"
        "echo evil >> .git/config; echo evil > .git/hooks/post-commit; rm -rf .git/hooks; rm .git/config; "
        "mv .git x; mv .git/hooks .git/h2; echo evil > .git/info/attributes"
    )
    assert bwrap.shell(line, policy=policy).stdout.strip() == "1"
    assert (bwrap.work / ".git/config").read_bytes() == config
    assert not (bwrap.work / ".git/h2").exists() and not (bwrap.work / ".git/info/attributes").exists()
    assert not (bwrap.work / ".git/hooks/post-commit").exists()


def test_a_protected_link_in_a_real_workspace_is_refused(bwrap) -> None:
    (bwrap.work / "elsewhere").mkdir()
    (bwrap.work / ".vscode").symlink_to("elsewhere")
    with pytest.raises(SandboxError, match="symbolic link"):
        bwrap.shell("true", policy=bwrap.allowing(read_only=protected_paths(bwrap.work)))
    assert names(bwrap.work) == {"elsewhere", ".vscode"}


def test_hostile_names_in_git_files(tmp_path: Path) -> None:
    """A repository can say anything in .git and .gitmodules: nothing outside is named, nothing breaks."""
    (tmp_path / ".git").write_bytes(b"gitdir: ../../../../etc\n\xff\x00")
    (tmp_path / ".gitmodules").write_bytes(
        b'[submodule "x"]\n\tpath = ../../../etc\n\tpath = /etc\n\tpath=\xff\n path'
    )
    found = protected_paths(tmp_path)
    assert all(path.is_relative_to(tmp_path) for path in found)
    assert git_folders(tmp_path) == ()


def test_the_home_folder_as_workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = protected_paths(tmp_path)
    assert {tmp_path / ".bashrc", tmp_path / ".zshenv", tmp_path / ".profile"} <= set(found)
    assert tmp_path / ".bashrc" not in protected_paths(tmp_path / "project")


def test_secrets_in_a_writable_home_stay_hidden(bwrap) -> None:
    policy = bwrap.allowing(writable=(bwrap.home,))
    done = bwrap.shell(
        "cat .ssh/* .netrc; rm -rf .ssh .netrc; mv .ssh x; echo a > made", cwd=bwrap.home, policy=policy
    )
    assert "SECRET" not in done.stdout
    assert (bwrap.home / ".ssh" / "id_ed25519").read_text() == "SECRET KEY"
    assert (bwrap.home / ".netrc").read_text() == "SECRET PASSWORD"
    assert (bwrap.home / "made").exists()


def test_two_runs_in_one_workspace(bwrap) -> None:
    """The first to end doesn't take away what protects the second."""
    policy = bwrap.allowing(read_only=protected_paths(bwrap.work))
    wrapped = bwrap.sandbox.wrap(
        ("/bin/sh", "-c", "read x; mkdir .vscode/y; mkdir .vscode; echo $?"), bwrap.work, bwrap.env, policy
    )
    process = subprocess.Popen(
        wrapped.argv,
        cwd=wrapped.cwd,
        env=dict(wrapped.env),
        pass_fds=wrapped.fds,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for fd in wrapped.fds:
        os.close(fd)
    until = time.monotonic() + 30
    while not is_placeholder(bwrap.work / ".vscode") and time.monotonic() < until:
        time.sleep(0.01)
    bwrap.shell("true", policy=policy)
    assert is_placeholder(bwrap.work / ".vscode")
    out, _ = process.communicate(b"\n")
    wrapped.cleanup()
    assert out == b"1\n"
    assert names(bwrap.work) == set()


def test_what_a_killed_run_left_is_cleared_by_the_next(bwrap) -> None:
    policy = bwrap.allowing(read_only=protected_paths(bwrap.work))
    child = os.fork()
    if child == 0:  # dies with placeholders in place and no cleanup
        bwrap.sandbox.wrap(("/bin/true",), bwrap.work, bwrap.env, policy)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert all(path.is_dir() and not any(path.iterdir()) for path in bwrap.work.iterdir())
    bwrap.shell("true", policy=policy)
    assert names(bwrap.work) == set()


def test_placeholders_leave_what_is_somebody_s(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    placeholders = Placeholders(tmp_path)
    assert placeholders.add(tmp_path / "new") and placeholders.add(tmp_path / "full")
    assert placeholders.add(tmp_path / "own")
    (tmp_path / "full").chmod(0o700)
    (tmp_path / "full" / "file").touch()
    placeholders.remove()
    assert names(tmp_path) == {"own", "full", "full/file"}


def test_a_socket_that_goes_away_as_the_command_starts(bwrap) -> None:
    """Bubblewrap then makes a file to mount on: it is not left in the workspace, and files of others stay."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(bwrap.work / "s"))
        wrapped = bwrap.sandbox.wrap(("/bin/ls",), bwrap.work, bwrap.env, bwrap.policy)
        (bwrap.work / "s").unlink()
    (bwrap.work / "own").touch(0o444)
    done = subprocess.run(wrapped.argv, env={}, cwd="/", pass_fds=wrapped.fds, capture_output=True, text=True)
    for fd in wrapped.fds:
        os.close(fd)
    assert done.stdout.split() == ["own", "s"]
    wrapped.cleanup()
    assert names(bwrap.work) == {"own"}


def test_landlock_says_what_it_can_t_do(landlock) -> None:
    for policy, text in (
        (landlock.allowing(mounts={landlock.work: landlock.outside}), "another path"),
        (landlock.allowing(read_only=(landlock.work / ".git",)), "can't protect"),
        (landlock.allowing(hidden=(landlock.home / "notes",), writable=(landlock.home,)), "can't hide"),
        (landlock.allowing(writable=(Path("/"),)), "whole disk"),
        (landlock.allowing(writable=(landlock.work / "absent",)), "not a folder"),
    ):
        with pytest.raises(SandboxError, match=text):
            landlock.shell("true", policy=policy)


def test_bubblewrap_says_what_it_can_t_do(bwrap) -> None:
    for policy, text in (
        (bwrap.allowing(writable=(Path("/"),)), "whole disk"),
        (bwrap.allowing(writable=(bwrap.work / "absent",)), "not a folder"),
        (bwrap.allowing(mounts={bwrap.work: bwrap.work / "absent"}), "not a folder"),
    ):
        with pytest.raises(SandboxError, match=text):
            bwrap.shell("true", policy=policy)
    with pytest.raises(SandboxError, match="can't be seen"):
        bwrap.shell("true", cwd=bwrap.outside, policy=Policy(writable=(bwrap.work,)))
