"""What is read of a wheel: its Python files, out of the archive and never unpacked; and its licence."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PathDistribution
from pathlib import Path, PurePosixPath

from engine.errors import CheckpointError
from engine.train.bugs.parts import TEST
from engine.train.corpus.excluded import copied
from engine.train.corpus.files import LARGEST, SMALLEST, worth
from engine.train.corpus.licence import licence_of

_MOST = 20_000
"""Files of an archive."""
_APART = frozenset(
    {"docs", "doc", "examples", "example", "benchmarks", "benchmark", "setup.py", "conftest.py"}
)
"""Folders and files that no mend is asked of."""


class Wheel:
    """files: path → (size, CRC) of the Python files that may be learnt from, none of which has been read yet.
    Errors: CheckpointError for what is no archive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            raise CheckpointError(f"{path}: no wheel: {error}; fetch it anew") from error
        self.files: Mapping[str, tuple[int, int]] = {
            info.filename: (info.file_size, info.CRC)
            for info in self._archive.infolist()[:_MOST]
            if _source(info.filename) and SMALLEST <= info.file_size <= LARGEST
        }

    def licence(self) -> str | None:
        """As `licence_of`; None also where there are no metadata."""
        root = zipfile.Path(self._archive)
        about = next((each for each in root.iterdir() if each.name.endswith(".dist-info")), None)
        return None if about is None else licence_of(PathDistribution(about))  # type: ignore[arg-type]

    def text(self, path: str) -> str | None:
        """None for what isn't worth it, or can't be read. path: of `files`."""
        size, _ = self.files[path]
        with suppress(zipfile.BadZipFile, UnicodeDecodeError, OSError), self._archive.open(path) as file:
            # no more than the archive says of it, whatever it unpacks to
            text = file.read(size).decode("utf-8").replace("\r\n", "\n")
            return text if "\f" not in text and "\r" not in text and worth(text, "") else None
        return None

    def close(self) -> None:
        self._archive.close()


def _source(path: str) -> bool:
    parts = PurePosixPath(path).parts
    inside = ".." not in parts and not path.startswith("/") and not parts[0].endswith((".data", ".dist-info"))
    return (
        inside
        and path.endswith(".py")
        and not TEST.search(path)
        and not copied(path)
        and not _APART & set(parts)
    )
