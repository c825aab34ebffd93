"""Where sessions live and what they are called."""

from __future__ import annotations

import re
import secrets
import shutil
import time
from pathlib import Path

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.session import files

ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}")
SEGMENT = re.compile(r"\d{6,}\.jsonl")
MAKING = ".new"
"""Ends the name of a folder whose session isn't whole yet: nothing lists it."""


def sessions_dir() -> Path:
    """The folder that holds a folder for each session."""
    return paths.data_dir() / "sessions"


def new_folder(began: float = 0.0, suffix: str = "") -> Path:
    """Makes the folder of a new session and returns it; its name is the session's id, then `suffix`. began: Unix
    seconds, 0 for now."""
    root = sessions_dir()
    with files.storage_errors("make a session", root):
        files.make_dirs(root)
        # Also when they were there: the process that made them may have died, or failed, before it synced.
        for parent in (root.parent.parent, root.parent):
            files.sync_dir(parent)
        while True:
            folder = root / (new_id(began or time.time()) + suffix)
            try:
                files.make_dir(folder)
            except FileExistsError:
                continue  # another session began in the same quarter of a millisecond
            files.sync_dir(root)
            return folder


def discard(folder: Path) -> None:
    """Removes a session that was never acknowledged. What can't be removed holds no event, so is not
    listed."""
    shutil.rmtree(folder, ignore_errors=True)


def finish(folder: Path) -> Path:
    """Gives a folder that is made whole its name for good. OSError if the disk can't."""
    target = folder.with_name(folder.name.removesuffix(MAKING))
    if target.exists():  # a session of the same quarter of a millisecond, with the same random digits
        target = target.with_name(new_id(time.time()))
    files.rename(folder, target)
    files.sync_dir(target.parent)
    return target


def new_id(now: float) -> str:
    """An id that sorts by time: UTC to the second, 1/4096 s in three hex digits, three random ones."""
    fraction = int(now % 1 * 4096)
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)) + f"-{fraction:03x}{secrets.randbelow(4096):03x}"


def folders() -> list[Path]:
    """The folders of all sessions, the newest first. What else lies there is left out."""
    root = sessions_dir()
    with files.storage_errors("list the sessions", root):
        names = (
            sorted((p for p in root.iterdir() if ID.fullmatch(p.name)), reverse=True) if root.is_dir() else []
        )
        return [p for p in names if _is_session(p)]


def _is_session(folder: Path) -> bool:
    try:
        return bool(segments(folder))
    except NotADirectoryError:
        return False
    except OSError:
        return True  # listed, so that the person sees that it can't be read


def segments(folder: Path) -> list[Path]:
    """The segment files in `folder`, in order. OSError if it can't be read."""
    return sorted((p for p in folder.iterdir() if SEGMENT.fullmatch(p.name) and p.is_file()), key=number)


def number(segment: Path) -> int:
    """The number of a segment, from its name."""
    return int(segment.name.partition(".")[0])


def find(name: str | Path) -> Path:
    """The folder of a session: a path, an id, or the beginning of one id only. UsageError if there is
    none."""
    if isinstance(name, Path) or "/" in name:
        folder = Path(name)
        if not folder.is_dir() or not (ID.fullmatch(folder.name) or _is_session(folder)):
            raise UsageError(f"{folder} is not a session's folder.")
        return folder
    matches = [folder for folder in folders() if name and folder.name.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise UsageError(
            f"There is no session {name!r}.", hint="List them with: deskagent sessions list --all"
        )
    some = ", ".join(folder.name for folder in matches[:5])
    raise UsageError(f"{len(matches)} sessions begin with {name!r} ({some}, …).", hint="Give more of the id.")
