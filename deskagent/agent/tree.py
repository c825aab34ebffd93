"""The project as a run found it, kept in the session so that it can be compared with and built again."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path

import msgspec

from deskagent.errors import DeskagentError
from deskagent.repo import snapshot
from deskagent.repo.snapshot import Entry
from deskagent.session import events
from deskagent.session.blobs import Blobs
from deskagent.session.record import decode_payload, encode_payload


class Keeper:
    """Reads the project and stores it beside the first test run, on a thread of its own.

    `result` waits for it: the event to write into the journal, or the reason in words why there is none.
    """

    def __init__(self, project: Path, blobs: Blobs) -> None:
        self._project, self._blobs = project, blobs
        self._done: events.TreeRecorded | str = "it was interrupted"
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def result(self) -> events.TreeRecorded | str:
        self._thread.join()
        return self._done

    def _work(self) -> None:
        try:
            self._done = store(snapshot.take(self._project), self._blobs)
        except DeskagentError as error:
            self._done = error.message
        except OSError as error:
            self._done = f"{error.strerror or error} ({error.filename or self._project})"


def store(taken: snapshot.Snapshot, blobs: Blobs) -> events.TreeRecorded:
    """Puts a snapshot into the session and returns the event that names it. TransientError for a full disk."""
    plain = {"entries": [list(astuple(entry)) for entry in taken.entries]}
    return events.TreeRecorded(
        digest=taken.digest,
        manifest=blobs.put(zlib.compress(encode_payload(plain), 1)),
        contents=blobs.put(taken.contents) if taken.contents else "",
        commit=taken.commit,
        files=len(taken.entries),
        missing=sum(not entry.held for entry in taken.entries),
    )


def load(recorded: events.TreeRecorded, blobs: Blobs) -> dict[str, Entry]:
    """Path → entry. DeskagentError where the stored manifest is missing or damaged."""
    data = blobs.get(recorded.manifest)
    try:
        rows = decode_payload(zlib.decompress(data))["entries"]
        return {row[0]: Entry(*row) for row in rows}
    except (zlib.error, msgspec.DecodeError, KeyError, TypeError) as error:
        raise DeskagentError(f"The stored list of files can't be read: {error}.") from error


def changed(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[str]:
    """Paths that differ between two trees: contents, mode or kind, there or not."""
    return sorted(
        path
        for path in old.keys() | new.keys()
        if path not in old or path not in new or old[path].state != new[path].state
    )
