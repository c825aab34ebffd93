"""Places in code as other languages' runners print them."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from deskagent.repair.types import Frame

# `at fn (file:///a/b.js:3:4)`, `at /a/b.js:3:4`, `fn (/a/b.js:3:4)`, `❯ src/a.ts:3:5`
_SCRIPT = re.compile(
    r"^\s*(?:at |❯ )?(?:async )?(?:(?P<function>[\w$.<>\[\] #]+?) )?\(?(?:file://)?(?P<path>(?:/|\.{0,2}/)?[^\s():]+\.(?:[cm]?[jt]sx?))"
    r":(?P<line>\d+)(?::\d+)?\)?\s*$"
)
_TEXT = re.compile(r"(?P<path>(?:\.{0,2}/)?[\w./@+-]+\.[A-Za-z]\w{0,5}):(?P<line>\d+)(?::\d+)?")


def script_frames(text: str, root: Path) -> tuple[Frame, ...]:
    """Frames of JavaScript's stack traces, outermost first; those of node itself and of dependencies are left out."""
    frames = []
    for line in text.splitlines():
        found = _SCRIPT.match(line)
        if found and "node_modules/" not in found["path"] and not found["path"].startswith("node:"):
            frames.append(
                Frame(
                    relative(found["path"], root),
                    int(found["line"]),
                    (found["function"] or "").rpartition(".")[2],
                )
            )
    return tuple(reversed(frames))


def any_frames(text: str, root: Path) -> tuple[Frame, ...]:
    """Whatever looks like `path:line`, in the order it is printed."""
    found = dict.fromkeys((relative(m["path"], root), int(m["line"])) for m in _TEXT.finditer(text))
    return tuple(Frame(path, line, "") for path, line in found)


def relative(path: str, root: Path) -> str:
    """`path` relative to `root` where it lies below."""
    pure = PurePosixPath(path.removeprefix("./"))
    return str(pure.relative_to(root)) if pure.is_relative_to(root) else str(pure)
