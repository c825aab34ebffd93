"""What stays read-only inside a workspace: files that make other programs run something later."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from deskagent.terminal.sandbox.disk import is_dir, is_file

# At the top of a workspace. Editors, shells and version managers read them without asking, and so do we.
_AT_THE_TOP: tuple[str, ...] = (
    *(
        ".deskagent",
        ".vscode",
        ".idea",
        ".cursor",
        ".claude",
        ".envrc",
        ".nvim.lua",
        ".nvimrc",
        ".exrc",
        ".mcp.json",
    ),
)
# Read by shells when the workspace is somebody's home folder.
_SHELL_START: tuple[str, ...] = (
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"),
    *(
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        ".config",
        ".local",
        ".pam_environment",
        ".ssh",
    ),
    *(
        ".xprofile",
        ".xinitrc",
        ".xsession",
        ".xsessionrc",
        ".tmux.conf",
        ".vimrc",
        ".vim",
        ".emacs",
        ".emacs.d",
    ),
    *(".pythonrc", ".pythonrc.py", ".npmrc", ".cargo", ".gdbinit", ".lldbinit", ".git-template"),
)
# Inside a git folder: what runs code or says where the rest lies. The commit tool writes the others. Git takes
# one of these files for damage where it is no file, so an absent one can't have its place held.
_FOLDERS_IN_GIT: tuple[str, ...] = ("hooks", "info", "modules", "worktrees", "objects/info")
_FILES_IN_GIT: tuple[str, ...] = ("config", "config.worktree", "commondir", "gitdir")
_GIT_WRITABLE: tuple[str, ...] = ("objects", "refs", "logs")


def protected_paths(workspace: Path, *, commit: bool = False) -> tuple[Path, ...]:
    """Paths inside `workspace` for `Policy.read_only`, absent ones too.

    The whole git folder is among them, at the top and of every submodule that is checked out. With `commit`,
    only those parts of it that run code or say where the rest lies, files of these only where they exist: such
    a policy is for deskagent's own git command, never for a command that a model or a repository names. The
    start-up files of shells and editors count where the workspace is the home folder.
    """
    workspace = Path(os.path.realpath(workspace))
    found = [workspace / name for name in _AT_THE_TOP]
    if workspace == Path(os.path.realpath(Path.home())):
        found += [workspace / name for name in _SHELL_START]
    for entry in (workspace / ".git", *_submodules(workspace)):
        if commit and entry == workspace / ".git" and is_dir(entry):
            found += [entry / name for name in _FOLDERS_IN_GIT]
            found += [entry / name for name in _FILES_IN_GIT if os.path.lexists(entry / name)]
        else:
            found.append(entry)
    for folder in git_folders(workspace):
        if folder.is_relative_to(workspace) and not folder.is_relative_to(workspace / ".git"):
            found.append(folder)
    return tuple(dict.fromkeys(found))


def git_folders(workspace: Path) -> tuple[Path, ...]:
    """The real git folders of a workspace: its own (of the worktree) and the one shared by its worktrees.

    A `.git` file is followed. Empty where there is no git folder.
    """
    entry = workspace / ".git"
    folder = _named_in(entry, "gitdir:") if is_file(entry) else entry
    if folder is None or not is_dir(folder):
        return ()
    folder = Path(os.path.realpath(folder))
    common = _named_in(folder / "commondir", "")
    if common is None or not is_dir(common):
        return (folder,)
    return (folder, Path(os.path.realpath(common)))


def commit_paths(workspace: Path) -> tuple[Path, ...]:
    """What the commit tool may write beside the workspace, for `Policy.writable`.

    The git folder of the worktree; objects, refs and logs of the repository that it belongs to.
    """
    folders = git_folders(Path(os.path.realpath(workspace)))
    if not folders:
        return ()
    own, common = folders[0], folders[-1]
    return tuple(dict.fromkeys((own, *(common / name for name in _GIT_WRITABLE if is_dir(common / name)))))


def _named_in(file: Path, label: str) -> Path | None:
    """The path that a file of git's holds after `label`, relative to the file's folder."""
    try:
        text = file.read_bytes()[:8192].decode("utf-8", "surrogateescape").strip()
    except OSError:
        return None
    if not text.startswith(label) or "\0" in text:
        return None
    return file.parent / text[len(label) :].strip()


def _submodules(workspace: Path) -> Iterator[Path]:
    try:
        lines = (
            (workspace / ".gitmodules")
            .read_bytes()[: 1 << 20]
            .decode("utf-8", "surrogateescape")
            .splitlines()
        )
    except OSError:
        return
    for line in lines:
        key, equals, value = line.partition("=")
        value = value.strip().strip('"')
        if key.strip() == "path" and equals and value and "\0" not in value:
            entry = Path(os.path.normpath(workspace / value)) / ".git"
            if entry.is_relative_to(workspace) and entry.parent != workspace and os.path.lexists(entry):
                yield entry
