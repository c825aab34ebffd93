"""A folder that new pictures come into, such as the one where the desktop puts its screenshots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from deskagent.errors import UsageError
from deskagent.tools import picture

_USUAL = ("Pictures/Screenshots", "Pictures", "Desktop", "Downloads")


def choices(project: Path) -> list[Path]:
    """Folders where pictures are likely to land, those that are there; where desktops put screenshots first."""
    return [path for path in (*(Path.home() / name for name in _USUAL), project) if path.is_dir()]


class Watched:
    """found: gets the path of each picture file that is new there, on another thread, from the start of this
    until `close`. Errors: UsageError."""

    def __init__(self, folder: Path, found: Callable[[Path], None]) -> None:
        self.folder = folder
        self._observer = Observer()
        try:
            if not folder.is_dir():
                raise UsageError(f"{folder} is no folder.")
            self._observer.schedule(_New(found), str(folder))
            self._observer.start()
        except OSError as error:
            raise UsageError(f"{folder} can't be watched: {error.strerror}.") from error

    def close(self) -> None:
        self._observer.stop()


class _New(FileSystemEventHandler):
    """Told of a file once it is whole, where the system says so: closed, or moved to its name."""

    def __init__(self, found: Callable[[Path], None]) -> None:
        self._found = found
        self._known: dict[Path, tuple[int, int]] = {}

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.is_directory or event.event_type not in ("created", "modified", "moved", "closed"):
            return
        path = Path(str(event.dest_path if event.event_type == "moved" else event.src_path))
        try:
            status = path.stat()
            mark = status.st_mtime_ns, status.st_size
            if self._known.get(path) == mark or not path.is_file():
                return
            with path.open("rb") as file:
                if not picture.is_picture(file.read(32)):
                    return
        except OSError:
            return  # gone again
        new = path not in self._known
        self._known[path] = mark
        if new:
            self._found(path)
