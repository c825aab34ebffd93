"""Picture files that are dropped on the terminal, or copied in a file manager."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


def picture_file(text: str) -> Path | None:
    """The picture file that a text names, as file managers copy it and terminals write what is dropped on them: a path
    or a file URL, in quotes or with backslashes before blanks. None where it isn't one picture file that is there."""
    line = text.strip()
    if not line or len(line) > 4096 or "\n" in line or "\0" in line:
        return None
    if line.startswith("file://"):
        line = unquote(urlsplit(line).path)
    elif line[0] == line[-1] and line[0] in "'\"" and len(line) > 2:
        line = line[1:-1]
    path = Path(line).expanduser()
    if not path.is_file() and "\\" in line:
        path = Path(line.replace("\\", "")).expanduser()
    if not path.is_absolute():
        return None
    from deskagent.tools import picture  # the app starts without it

    try:
        with path.open("rb") as file:
            return path if path.is_file() and picture.is_picture(file.read(32)) else None
    except OSError:
        return None
