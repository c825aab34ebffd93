"""Files that are worth learning from: whole, written by hand, of a known language."""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.train.corpus.excluded import copied

LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".ts": "typescript", ".go": "go",
    ".c": "c", ".h": "c", ".cpp": "c", ".sh": "shell", ".toml": "toml", ".md": "markdown", ".rst": "markdown",
}  # fmt: skip
SMALLEST, LARGEST = 200, 150_000
"""Bytes of a file."""
_MEAN_LINE, _LONGEST_LINE = 90, 600
"""Characters: above them it is data or minified."""
_DECLARATIONS = ".d.ts"
"""Ends the names of TypeScript's declarations: made from code, or the compiler's own."""
_GENERATED = re.compile(
    r"do not edit|auto-?generated|generated (by|from|with|automatically)|this file was generated",
    re.IGNORECASE,
)
_NOTICE = 600
"""Characters at a file's start in which it says that it is generated."""
_FEWEST_ASCII = 0.9


@dataclass(frozen=True, slots=True)
class Document:
    """path: POSIX, within the package."""

    package: str
    path: str
    language: str
    text: str


def documents(package: str, root: Path, paths: Iterable[str], most: int) -> list[Document]:
    """Documents of a package, up to `most` bytes in all, in the order of their paths.

    Where there is more, files are taken in an order that is random but the same everywhere.
    """
    taken: list[Document] = []
    room = most
    for path in sorted(paths, key=lambda path: hashlib.sha256(path.encode()).digest()):
        document = read(package, root, path)
        if document is not None and len(document.text) <= room:
            taken.append(document)
            room -= len(document.text)
    return sorted(taken, key=lambda document: document.path)


def read(package: str, root: Path, path: str) -> Document | None:
    """None for what isn't worth it."""
    language = LANGUAGES.get(Path(path).suffix)
    file = root / path
    if language is None or copied(path) or ".." in Path(path).parts or not file.is_file():
        return None
    if path.endswith(_DECLARATIONS):
        return None
    if not SMALLEST <= file.stat().st_size <= LARGEST:
        return None
    try:
        text = file.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    return Document(package, path, language, text) if worth(text, language) else None


def worth(text: str, language: str) -> bool:
    lines = text.splitlines() or [""]
    if len(text) / len(lines) > _MEAN_LINE or max(map(len, lines)) > _LONGEST_LINE or "\0" in text:
        return False
    if len(text.encode("ascii", "ignore")) < _FEWEST_ASCII * len(text) or _GENERATED.search(text[:_NOTICE]):
        return False
    return language != "python" or parses(text)


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def digest(read: Iterable[Document]) -> str:
    """sha256 over paths and contents, in their order."""
    whole = hashlib.sha256()
    for document in read:
        for part in (document.path, document.text):
            raw = part.encode("utf-8")
            whole.update(len(raw).to_bytes(8, "little") + raw)
    return whole.hexdigest()


def below(root: Path) -> Iterator[str]:
    """Paths of all files under a folder, POSIX and relative; links to folders aren't followed."""
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield path.relative_to(root).as_posix()
