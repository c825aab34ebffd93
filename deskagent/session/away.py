"""Finished segments at an fsspec URL in place of the disk: an object store, a log directory, another machine.

Beside the place of a segment that is away lies `<segment>.away`, which says where it is, its size and checksums. A
local segment is removed only after the remote copy was read back and that note was synced, and is there again, checked,
before its note is removed: so each segment is always in one place at least, and a local one is the one that counts.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zlib
from pathlib import Path
from typing import Any

import msgspec

from deskagent import paths
from deskagent.errors import TransientError, UsageError
from deskagent.session import files, settings, store
from deskagent.session.lock import Lock

SUFFIX = ".away"


class Note(msgspec.Struct, frozen=True):
    """Where a segment is, and what it is known by."""

    url: str
    size: int
    crc: int
    sha256: str


def where() -> str:
    """The URL that finished segments go to, "" for none. Errors: UsageError."""
    try:
        return str(json.loads(_file().read_text("utf-8"))["segments"])
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{_file()} can't be read: {error}.", hint="Mend or remove it.") from error


def choose(url: str) -> None:
    """From now on they go there; "" for nowhere. Errors: UsageError for a URL that can't be, TransientError."""
    if url:
        _open(url)
    settings.save(_file(), json.dumps({"segments": url}) + "\n", "keep the setting")


def notes(folder: Path) -> dict[int, Note]:
    """Segments of the session that aren't on the disk, by number. OSError."""
    here = {path.name for path in store.segments(folder)}
    found: dict[int, Note] = {}
    for path in folder.glob(f"*.jsonl{SUFFIX}"):
        name = path.name.removesuffix(SUFFIX)
        if name not in here and store.SEGMENT.fullmatch(name):
            try:
                found[store.number(path)] = msgspec.json.decode(path.read_bytes(), type=Note)
            except msgspec.DecodeError as error:
                raise OSError(f"{path} is damaged") from error
    return found


def roll(folder: Path, url: str, lock: Lock | None = None) -> int:
    """Sends the finished segments of the session in `folder` to `url`, and gives how many. lock: of its writer, who
    rolls them; else it is taken.

    Errors: TransientError where the place can't be reached or doesn't keep what it gets, or the session is at work:
    what isn't there for certain stays here. UsageError for a URL that can't be.
    """
    held = lock or Lock(folder)
    try:
        with files.storage_errors("send segments away", folder):
            finished = store.segments(folder)[:-1]
        for path in finished:
            _send(path, f"{url.rstrip('/')}/{folder.name}/{path.name}")
        return len(finished)
    finally:
        if lock is None:
            held.release()


def bring_back(folder: Path, first: int = 0) -> int:
    """Brings the session's segments from the number `first` on back to the disk, and gives how many those are. Readers
    may do it too, and several at once.

    Errors: TransientError where they can't be reached or aren't what was sent; what is here stays as it is.
    """
    with files.storage_errors("bring segments back", folder):
        missing = {number: note for number, note in notes(folder).items() if number >= first}
    for number, note in sorted(missing.items()):
        path = folder / f"{number:06}.jsonl"
        data = _get(note.url, f"Segment {number} of session {folder.name}")
        if len(data) != note.size or hashlib.sha256(data).hexdigest() != note.sha256:
            raise TransientError(
                f"{note.url} is not what was sent there: {len(data)} bytes of other contents.",
                hint="Bring back the right one by hand; its SHA-256 is " + note.sha256 + ".",
            )
        with files.storage_errors("bring segments back", path):
            _place(path, data)
            files.remove(path.with_name(path.name + SUFFIX))
    return len(missing)


def _place(path: Path, data: bytes) -> None:
    """Makes the file, whole and durable, also where another process does so too."""
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        files.write(fd, data, 0)
        files.sync(fd)
    finally:
        files.close(fd)
    files.rename(Path(name), path)
    files.sync_dir(path.parent)


def _send(path: Path, url: str) -> None:
    with files.storage_errors("send a segment away", path):
        data = path.read_bytes()
    note = Note(url, len(data), zlib.crc32(data), hashlib.sha256(data).hexdigest())
    what = f"The segment {path.name} can't be kept at {url}"
    system, name = _open(url)
    try:
        system.makedirs(name.rpartition("/")[0], exist_ok=True)
        with system.open(name, "wb") as file:
            file.write(data)
        system.invalidate_cache()
    except Exception as error:  # each kind of store has errors of its own
        raise _unreached(what, error) from error
    if hashlib.sha256(_get(url, what)).hexdigest() != note.sha256:
        raise TransientError(f"{what}: what is read back is not what was sent.", hint="It stays on the disk.")
    with files.storage_errors("send a segment away", path):
        files.replace(path.with_name(path.name + SUFFIX), msgspec.json.encode(note))
        files.remove(path)
        files.sync_dir(path.parent)


def _get(url: str, what: str) -> bytes:
    system, name = _open(url)
    try:
        with system.open(name, "rb") as file:
            return file.read()
    except Exception as error:  # each kind of store has errors of its own
        raise _unreached(f"{what} can't be read at {url}", error) from error


def _unreached(what: str, error: Exception) -> TransientError:
    return TransientError(
        f"{what}: {str(error) or type(error).__name__}.",
        hint="Nothing is lost: try again once it can be reached.",
    )


def _open(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it. Errors: UsageError."""
    try:
        import fsspec
    except ImportError as error:
        raise UsageError("Segments elsewhere need fsspec.", hint="pip install 'deskagent[remote]'") from error
    try:
        return fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{url!r} can't be used: {error}.") from error


def _file() -> Path:
    return paths.config_dir() / "sessions.json"
