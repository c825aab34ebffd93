"""A copy of a `.git` that costs next to nothing and can't touch the original.

It has its own HEAD, index, refs and config, and reads the original's objects as alternates: git below it
works, also commits and branches, and all of that stays in the copy. Hooks and logs are left behind.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from deskagent.repo import beneath
from deskagent.repo.copying import copy_project

_FROM_WORKTREE = ("HEAD", "index", "config.worktree")
_FROM_COMMON = ("packed-refs", "shallow", "config")
_TREES = ("refs", "reftable", "info")
_HEAD = re.compile(rb"ref: refs/|[0-9a-f]{40}")


def admin_folder(dot_git: Path) -> Path | None:
    """The folder that `dot_git` is or, as a file (`gitdir: …`), names; None if that is no git folder.

    A hostile file may name any folder, so it has to look like git's own before anything is read from it.
    """
    folder = dot_git
    if dot_git.is_file() and not dot_git.is_symlink():
        line = _text(dot_git.parent, dot_git.name).strip()
        if not line.startswith("gitdir:"):
            return None
        folder = dot_git.parent / line.removeprefix("gitdir:").strip()
    common = common_folder(folder)
    fit = (common / "objects").is_dir() and ((common / "refs").is_dir() or (common / "reftable").is_dir())
    return folder if fit and _HEAD.match(_bytes(folder, "HEAD")) else None


def common_folder(admin: Path) -> Path:
    """The repository's own folder for that of one of its worktrees; itself for any other."""
    line = _text(admin, "commondir").strip()
    return admin / line if line else admin


def folders(worktree: Path) -> tuple[Path, ...]:
    """The real git folders that the work tree at `worktree` needs: its own and the one shared by worktrees."""
    admin = admin_folder(worktree / ".git")
    return tuple(dict.fromkeys(path.resolve() for path in (admin, common_folder(admin)))) if admin else ()


def light_copy(admin: Path, target: Path, worktree: Path) -> None:
    """Fills the folder `target` (made if absent) as a light copy of `admin`, for the files at `worktree`."""
    common = common_folder(admin)
    target.mkdir(exist_ok=True)
    for source, names in ((admin, _FROM_WORKTREE), (common, _FROM_COMMON)):
        for name in (*names, *(path.name for path in source.glob("sharedindex.*"))):
            data = _bytes(source, name)
            if data:
                (target / name).write_bytes(data)
    for name in _TREES:
        if (common / name).is_dir() and not (common / name).is_symlink():
            (target / name).mkdir(exist_ok=True)
            copy_project(common / name, target / name)
    (target / "refs").mkdir(exist_ok=True)
    (target / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (target / "objects" / "info" / "alternates").write_bytes(_alternate(common / "objects"))
    _override(target, worktree)
    _modules(common / "modules", target / "modules", worktree)


def _override(target: Path, worktree: Path) -> None:
    """The last value wins: whatever the copied config says, this repository is for the files of the copy."""
    config = _text(target, "config")
    lines = ["", "[core]", "\tbare = false", "\tfsmonitor = false"]
    if "worktree" in config.lower():
        lines.append(f"\tworktree = {_quoted(str(worktree))}")
    (target / "config").write_bytes(os.fsencode(config + "\n".join(lines) + "\n"))
    own = _text(target, "config.worktree")
    if own:
        (target / "config.worktree").write_bytes(os.fsencode(own + "\n".join(lines) + "\n"))


def _modules(source: Path, target: Path, worktree: Path) -> None:
    """Submodules' own folders, which the copied `.git` files of the submodules name relatively."""
    if not source.is_dir() or source.is_symlink():
        return
    for folder, below, _files in os.walk(source):
        admin = Path(folder)
        if admin != source and admin_folder(admin):
            below.clear()
            copy = target / admin.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            light_copy(admin, copy, _module_worktree(admin, copy, worktree))


def _module_worktree(admin: Path, copy: Path, worktree: Path) -> Path:
    found = re.search(r"^\s*worktree\s*=\s*(.+?)\s*$", _text(admin, "config"), re.MULTILINE)
    if not found or found[1].startswith("/"):
        return worktree
    return Path(os.path.normpath(copy / found[1]))


def _alternate(objects: Path) -> bytes:
    path = os.fsencode(objects.resolve())
    if path.startswith((b'"', b"#")) or b"\n" in path:
        escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        return b'"' + escaped + b'"\n'
    return path + b"\n"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _bytes(folder: Path, name: str) -> bytes:
    """A file's contents; empty if it is absent or a link (which could lead to a secret)."""
    try:
        with beneath.folder(folder, ()) as at:
            found = beneath.read(at, name)
    except (OSError, beneath.UsageError):
        return b""
    return found[0] if found else b""


def _text(folder: Path, name: str) -> str:
    return os.fsdecode(_bytes(folder, name))
