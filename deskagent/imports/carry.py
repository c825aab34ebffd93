"""Brings over what a plan says, one thing after another: each is whole or not there at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deskagent import __version__, paths
from deskagent.agent.converse import standing
from deskagent.agent.hooks import named as hooks
from deskagent.agent.servers import named
from deskagent.errors import DeskagentError, TransientError
from deskagent.imports.found import Session
from deskagent.imports.plan import Plan, instructions_file, skills_folder
from deskagent.imports.scribe import Scribe
from deskagent.messages import Author, Text
from deskagent.session import events, lock, settings, store
from deskagent.session.files import storage_errors
from deskagent.session.journal import Journal
from deskagent.session.redact import redact_text

_SKILL = 20 << 20
"""Bytes of a file of a skill that is copied."""
_TOLD = (
    "This conversation was brought over from {title}. Tools had other names there: use those that you are given now. "
    "Files may have changed since."
)


@dataclass
class Done:
    """sessions: our ids of those brought over. lost: pieces of them that couldn't be read. notes: in words."""

    sessions: list[str] = field(default_factory=list)
    lost: int = 0
    notes: list[str] = field(default_factory=list)


def carry(plan: Plan, title: str, told: Callable[[str], None] = lambda line: None) -> Done:
    """title: of the source. told: gets a line for each session. Errors: TransientError, UsageError; what was brought
    over till then stays."""
    done = Done()
    if plan.instructions:
        _instructions(plan.instructions, title)
    if plan.servers:
        more = {server.name: server.settings for server in plan.servers}
        named.write(named.own_file(), named.entries(named.own_file()) | more)
    if plan.permissions:
        standing.add({k: [p.rule for p in plan.permissions if p.kind == k] for k in standing.KINDS})
    if plan.hooks:
        hooks.add([(hook.on, hook.matcher, hook.command, hook.seconds) for hook in plan.hooks])
    for skill in plan.skills:
        _skill(skill, skills_folder() / skill.name, done)
    for number, session in enumerate(plan.sessions, 1):
        told(f"{number} of {len(plan.sessions)}: {session.cwd}")
        try:
            done.sessions.append(_session(plan.source, title, session, done))
        except (TransientError, OSError):
            raise
        except DeskagentError as error:
            done.notes.append(f"The session {session.key} wasn't brought over: {error.message}")
    return done


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One import at a time, and nothing left of one that was killed. Errors: TransientError."""
    path = paths.data_dir() / "import.lock"
    with storage_errors("begin to bring over", path):
        paths.private_dir(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TransientError("Another import is at work.", hint="Wait for it to end.") from None
        for left in store.sessions_dir().glob(f"*{store.MAKING}"):
            if not lock.is_held(left):
                store.discard(left)
        yield
    finally:
        os.close(handle)


def _session(source: str, title: str, session: Session, done: Done) -> str:
    def fill(journal: Journal) -> None:
        began = session.started
        journal.append(
            events.SessionStarted(version=__version__, cwd=session.cwd, argv=("import", source), time=began)
        )
        journal.append(events.Imported(source=source, key=session.key, time=began))
        journal.append(events.Request(text=session.title[:2000], time=began))
        scribe = Scribe(journal.append, journal.blobs.put)
        lost = session.read(scribe)
        scribe.said((Text(_TOLD.format(title=title)),), Author.DESKAGENT)
        scribe.end()
        if lost or scribe.lost:
            words = f"{lost} pieces couldn't be read, {scribe.lost} results had no call."
            journal.append(events.Notice(level="warning", text=words))
        journal.append(events.SessionEnded(status="imported", exit_code=0))
        done.lost += lost

    return Journal.bring(session.started, fill)


def _instructions(more: dict[str, str], title: str) -> None:
    path = instructions_file()
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise TransientError(f"{path} can't be read: {error}.", hint="Mend or move it.") from error
    for mark, words in more.items():
        text = f"{text.rstrip()}\n\n<!-- from {title}: {mark} -->\n{words}\n".lstrip("\n")
    settings.save(path, text, "keep the instructions")


def _skill(source: Path, target: Path, done: Done) -> None:
    """Copies a skill: plain files alone, none that leads elsewhere, none with a secret in it."""
    made = target.with_name(f".{target.name}{store.MAKING}")
    with storage_errors("copy a skill", target):
        shutil.rmtree(made, ignore_errors=True)
        for path in sorted(source.rglob("*")):
            inside = made / path.relative_to(source)
            if path.is_symlink() or not path.is_file() or {".git", "node_modules"} & set(inside.parts):
                continue
            data = path.read_bytes() if path.stat().st_size <= _SKILL else b""
            text = data.decode("utf-8", "replace")
            if path.name.startswith(".env") or (b"\0" not in data and redact_text(text) != text):
                done.notes.append(f"{source.name}: {path.name} holds secrets and stays there.")
                continue
            paths.private_dir(inside.parent)
            inside.write_bytes(data)
            inside.chmod(0o700 if path.stat().st_mode & 0o100 else 0o600)
        if made.is_dir() and not target.exists():
            made.replace(target)
