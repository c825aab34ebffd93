"""A listing of files for visitors."""

from dataclasses import dataclass
from fnmatch import fnmatch


@dataclass(frozen=True)
class File:
    name: str
    size: int = 0
    folder: bool = False


class Listing:
    def __init__(self, files, hidden=(".*", "*~")):
        self.files = list(files)
        self.hidden = tuple(hidden)

    def is_hidden(self, file):
        return any(fnmatch(file.name, pattern) for pattern in self.hidden)

    def visible(self):
        """What visitors may see: folders first, then by name."""
        shown = [file for file in self.files if self.is_hidden(file)]
        return sorted(shown, key=lambda file: (not file.folder, file.name.lower()))

    def total_size(self):
        return sum(file.size for file in self.files if not file.folder)

    def render(self):
        return [file.name + "/" if file.folder else f"{file.name} {file.size}" for file in self.visible()]
